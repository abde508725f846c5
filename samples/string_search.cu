// string_search: every occurrence of a short pattern in a text, letter case ignored.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define MAX_PATTERN 32

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

__constant__ char d_pattern[MAX_PATTERN];

struct SearchResult {
    unsigned int count;
    int first;
    int last;
};

__host__ __device__ inline char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// One thread a starting position; the comparison stops at the first letter that differs.
__global__ void search(const char *text, int text_length, int pattern_length, char *marks,
                       SearchResult *result) {
    int start = blockIdx.x * blockDim.x + threadIdx.x;
    if (start >= text_length) return;

    bool found = false;
    if (start + pattern_length <= text_length) {
        int k = 0;
        while (k < pattern_length && lower(text[start + k]) == d_pattern[k]) {
            k++;
        }
        found = k == pattern_length;
    }

    marks[start] = found ? '^' : '.';
    if (found) {
        atomicAdd(&result->count, 1u);
        atomicMin(&result->first, start);
        atomicMax(&result->last, start);
    }
}

int main(int argc, char **argv) {
    int length = argc > 1 ? atoi(argv[1]) : 9001;
    if (length < 1) {
        fprintf(stderr, "usage: %s [text length, at least 1]\n", argv[0]);
        return 1;
    }
    const char *pattern = "abracadabra";
    const int pattern_length = (int)strlen(pattern);

    // Letters of a small alphabet; the pattern is planted here and there, twice overlapping.
    std::vector<char> text(length), marks(length);
    unsigned int state = 99u;
    for (int i = 0; i < length; i++) {
        state = state * 1103515245u + 12345u;
        text[i] = "abcdr AB"[(state >> 16) & 7u];
    }
    for (int at = 50; at + pattern_length <= length; at += 617) {
        memcpy(&text[at], pattern, pattern_length);
        if (at % 2 == 1) text[at] = 'A';
        if (at % 3 == 0 && at + 7 + pattern_length <= length) {
            memcpy(&text[at + 7], pattern, pattern_length);
        }
    }

    char *d_text, *d_marks;
    SearchResult *d_result;
    SearchResult result = {0u, length, -1};
    CUDA_CHECK(cudaMalloc(&d_text, length));
    CUDA_CHECK(cudaMalloc(&d_marks, length));
    CUDA_CHECK(cudaMalloc(&d_result, sizeof(SearchResult)));
    CUDA_CHECK(cudaMemcpy(d_text, text.data(), length, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_result, &result, sizeof(result), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpyToSymbol(d_pattern, pattern, pattern_length));

    const int block = 96;
    const int grid = (length + block - 1) / block;
    search<<<grid, block>>>(d_text, length, pattern_length, d_marks, d_result);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(marks.data(), d_marks, length, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&result, d_result, sizeof(result), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_text));
    CUDA_CHECK(cudaFree(d_marks));
    CUDA_CHECK(cudaFree(d_result));

    SearchResult want = {0u, length, -1};
    int wrong = 0;
    for (int i = 0; i < length; i++) {
        bool found = i + pattern_length <= length;
        for (int k = 0; found && k < pattern_length; k++) {
            found = lower(text[i + k]) == pattern[k];
        }
        if (found) {
            if (want.count == 0) want.first = i;
            want.count++;
            want.last = i;
        }
        if (marks[i] != (found ? '^' : '.')) wrong++;
    }

    bool pass = wrong == 0 && result.count == want.count && result.first == want.first &&
                result.last == want.last;
    printf("string_search: %d letters, %u matches (expected %u), first %d, last %d, %d wrong\n",
           length, result.count, want.count, result.first, result.last, wrong);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
