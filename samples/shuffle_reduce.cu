// shuffle_reduce: warp reductions with full-mask shuffles: down, butterfly and broadcast.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define FULL_MASK 0xffffffffu
#define BLOCK 128

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

__inline__ __device__ int warp_sum(int value) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(FULL_MASK, value, offset);
    }
    return value;
}

// After the butterfly every lane holds the maximum.
__inline__ __device__ int warp_max(int value) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        value = max(value, __shfl_xor_sync(FULL_MASK, value, offset));
    }
    return value;
}

// The sum of a block: warps first, then the first warp over the warps' sums.
// Only thread 0 holds the result.
__inline__ __device__ int block_sum(int value) {
    __shared__ int sums[32];
    int lane = threadIdx.x % warpSize;
    int warp = threadIdx.x / warpSize;

    value = warp_sum(value);
    if (lane == 0) sums[warp] = value;
    __syncthreads();

    value = threadIdx.x < blockDim.x / warpSize ? sums[lane] : 0;
    if (warp == 0) value = warp_sum(value);
    return value;
}

__global__ void sum_all(const int *in, int *total, int n) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        sum += in[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(total, sum);
}

// Each group of 32 elements is written as its distance from the group's maximum, and
// first_of_group gets the value of the group's first element. All lanes take part in the
// shuffles; those past the end bring the smallest int.
__global__ void below_group_max(const int *in, int *out, int *first_of_group, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? in[i] : INT_MIN;
    int largest = warp_max(value);
    int first = __shfl_sync(FULL_MASK, value, 0);
    if (i < n) {
        out[i] = largest - value;
        if (i % 32 == 31 || i == n - 1) first_of_group[i / 32] = first;
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 9973;
    if (n < 1) {
        fprintf(stderr, "usage: %s [element count, at least 1]\n", argv[0]);
        return 1;
    }
    const int groups = (n + 31) / 32;

    std::vector<int> in(n), out(n), first(groups);
    int want_total = 0;
    for (int i = 0; i < n; i++) {
        in[i] = (int)(((unsigned int)i * 2654435761u) >> 20) % 2001 - 1000;
        want_total += in[i];
    }

    int *d_in, *d_out, *d_first, *d_total, total;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_first, groups * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_total, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_total, 0, sizeof(int)));

    sum_all<<<11, BLOCK>>>(d_in, d_total, n);
    CUDA_CHECK(cudaGetLastError());
    below_group_max<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_out, d_first, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(first.data(), d_first, groups * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_first));
    CUDA_CHECK(cudaFree(d_total));

    int wrong = 0;
    for (int group = 0; group < groups; group++) {
        int begin = group * 32, end = begin + 32 < n ? begin + 32 : n;
        int largest = in[begin];
        for (int i = begin; i < end; i++) largest = in[i] > largest ? in[i] : largest;
        for (int i = begin; i < end; i++) wrong += out[i] != largest - in[i];
        wrong += first[group] != in[begin];
    }
    bool pass = wrong == 0 && total == want_total;
    printf("shuffle_reduce: %d elements, sum %d (expected %d), %d groups, %d wrong\n", n, total,
           want_total, groups, wrong);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
