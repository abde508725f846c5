// histogram: counting bytes with global atomics, and with one shared histogram a block.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define BINS 256

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

// One thread a byte, every increment goes to global memory.
__global__ void histogram_global(const unsigned char *data, unsigned int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[data[i]], 1u);
    }
}

// A block counts its share in shared memory, then adds its counts to the result once.
__global__ void histogram_shared(const unsigned char *data, unsigned int *bins, int n) {
    __shared__ unsigned int local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        local[b] = 0;
    }
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[data[i]], 1u);
    }
    __syncthreads();

    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        if (local[b] != 0) {
            atomicAdd(bins + b, local[b]);
        }
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 30011;
    if (n < 1) {
        fprintf(stderr, "usage: %s [byte count, at least 1]\n", argv[0]);
        return 1;
    }

    // The product of two digits of a pseudo-random number: a lopsided distribution.
    std::vector<unsigned char> data(n);
    unsigned int want[BINS], got[BINS];
    memset(want, 0, sizeof(want));
    unsigned int state = 2463534242u;
    for (int i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        data[i] = (unsigned char)((state & 15u) * ((state >> 8) & 15u));
        want[data[i]]++;
    }

    unsigned char *d_data;
    unsigned int *d_bins;
    CUDA_CHECK(cudaMalloc(&d_data, n));
    CUDA_CHECK(cudaMalloc(&d_bins, sizeof(want)));
    CUDA_CHECK(cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice));

    CUDA_CHECK(cudaMemset(d_bins, 0, sizeof(want)));
    histogram_global<<<(n + 127) / 128, 128>>>(d_data, d_bins, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_bins, sizeof(got), cudaMemcpyDeviceToHost));
    bool global_right = memcmp(got, want, sizeof(want)) == 0;

    CUDA_CHECK(cudaMemset(d_bins, 0, sizeof(want)));
    histogram_shared<<<9, 96>>>(d_data, d_bins, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_bins, sizeof(got), cudaMemcpyDeviceToHost));
    bool shared_right = memcmp(got, want, sizeof(want)) == 0;

    CUDA_CHECK(cudaFree(d_data));
    CUDA_CHECK(cudaFree(d_bins));

    int fullest = 0, used = 0;
    for (int b = 0; b < BINS; b++) {
        if (want[b] > want[fullest]) fullest = b;
        if (want[b] > 0) used++;
    }
    printf("histogram: %d bytes, %d bins used, value %d most often; global %s, shared %s\n", n,
           used, fullest, global_right ? "right" : "wrong", shared_right ? "right" : "wrong");
    bool pass = global_right && shared_right;
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
