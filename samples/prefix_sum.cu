// prefix_sum: an exclusive scan of any length; blocks scan in shared memory, the totals of the
// blocks are scanned the same way and added back.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define BLOCK 128

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

// Scans BLOCK elements. Each round reads one half of the buffer and writes the other, so one
// barrier a round is enough. totals may be null when there is a single block.
__global__ void scan_blocks(const int *in, int *out, int *totals, int n) {
    __shared__ int buffer[2][BLOCK];
    int t = threadIdx.x;
    int i = blockIdx.x * BLOCK + t;
    int own = i < n ? in[i] : 0;

    int current = 0;
    buffer[current][t] = own;
    __syncthreads();
    for (int offset = 1; offset < BLOCK; offset *= 2) {
        int next = 1 - current;
        int value = buffer[current][t];
        if (t >= offset) value += buffer[current][t - offset];
        buffer[next][t] = value;
        current = next;
        __syncthreads();
    }

    if (i < n) out[i] = buffer[current][t] - own;
    if (t == BLOCK - 1 && totals != nullptr) totals[blockIdx.x] = buffer[current][t];
}

__global__ void add_offsets(int *out, const int *offsets, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += offsets[blockIdx.x];
}

// out[i] = in[0] + ... + in[i - 1]. Returns the number of launches.
static int exclusive_scan(const int *d_in, int *d_out, int n) {
    int blocks = (n + BLOCK - 1) / BLOCK;
    if (blocks == 1) {
        scan_blocks<<<1, BLOCK>>>(d_in, d_out, nullptr, n);
        CUDA_CHECK(cudaGetLastError());
        return 1;
    }

    int *d_totals, *d_offsets;
    CUDA_CHECK(cudaMalloc(&d_totals, blocks * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_offsets, blocks * sizeof(int)));
    scan_blocks<<<blocks, BLOCK>>>(d_in, d_out, d_totals, n);
    CUDA_CHECK(cudaGetLastError());
    int launches = 2 + exclusive_scan(d_totals, d_offsets, blocks);
    add_offsets<<<blocks, BLOCK>>>(d_out, d_offsets, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaFree(d_totals));
    CUDA_CHECK(cudaFree(d_offsets));
    return launches;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 17003;
    if (n < 1 || n > 50000000) {
        fprintf(stderr, "usage: %s [element count between 1 and 50000000]\n", argv[0]);
        return 1;
    }

    std::vector<int> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = (i * 37 % 23) - 8;

    int *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    int launches = exclusive_scan(d_in, d_out, n);
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));

    int wrong = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        if (out[i] != sum) wrong++;
        sum += in[i];
    }
    printf("prefix_sum: %d elements, total %d, %d launches, %d wrong\n", n, sum, launches, wrong);
    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? 0 : 1;
}
