// reduction_tree: sum and maximum of an array by trees in dynamic shared memory, level by level.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

// Each block adds up to 2 * blockDim.x elements. blockDim.x is a power of two.
__global__ void reduce_sum(const float *in, float *out, int n) {
    extern __shared__ float partial[];
    unsigned int t = threadIdx.x;
    int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;

    float sum = 0.0f;
    if (i < n) sum = in[i];
    if (i + (int)blockDim.x < n) sum += in[i + blockDim.x];
    partial[t] = sum;
    __syncthreads();

    for (unsigned int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half) {
            partial[t] += partial[t + half];
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

// The same tree with a comparison; missing elements take the first one's value.
__global__ void reduce_max(const float *in, float *out, int n) {
    extern __shared__ float partial[];
    int t = threadIdx.x;
    int i = blockIdx.x * (blockDim.x * 2) + t;

    float best = i < n ? in[i] : in[0];
    if (i + (int)blockDim.x < n) {
        float other = in[i + blockDim.x];
        best = other > best ? other : best;
    }
    partial[t] = best;
    __syncthreads();

    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            partial[t] = fmaxf(partial[t], partial[t + half]);
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

// Launches a kernel until one value is left. The two scratch arrays take turns.
static float reduce(bool want_max, const float *d_data, float *d_scratch[2], int n) {
    const int block = 128;
    const size_t shared = block * sizeof(float);
    const float *in = d_data;
    int turn = 0;
    do {
        int grid = (n + 2 * block - 1) / (2 * block);
        float *out = d_scratch[turn];
        if (want_max) {
            reduce_max<<<grid, block, shared>>>(in, out, n);
        } else {
            reduce_sum<<<grid, block, shared>>>(in, out, n);
        }
        CUDA_CHECK(cudaGetLastError());
        in = out;
        turn = 1 - turn;
        n = grid;
    } while (n > 1);

    float result;
    CUDA_CHECK(cudaMemcpy(&result, in, sizeof(float), cudaMemcpyDeviceToHost));
    return result;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 70001;
    if (n < 1 || n > 300000) {
        fprintf(stderr, "usage: %s [element count between 1 and 300000]\n", argv[0]);
        return 1;
    }

    // Small whole numbers: their sum is exact in any order.
    std::vector<float> data(n);
    float want_sum = 0.0f, want_max = -1000.0f;
    unsigned int state = 12345u;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(int)((state >> 16) % 101u) - 60.0f;
        want_sum += data[i];
        if (data[i] > want_max) want_max = data[i];
    }

    float *d_data, *d_scratch[2];
    CUDA_CHECK(cudaMalloc(&d_data, n * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_scratch[0], (n / 256 + 1) * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_scratch[1], (n / 256 + 1) * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_data, data.data(), n * sizeof(float), cudaMemcpyHostToDevice));

    float sum = reduce(false, d_data, d_scratch, n);
    float max = reduce(true, d_data, d_scratch, n);

    CUDA_CHECK(cudaFree(d_data));
    CUDA_CHECK(cudaFree(d_scratch[0]));
    CUDA_CHECK(cudaFree(d_scratch[1]));

    bool pass = sum == want_sum && max == want_max;
    printf("reduction_tree: %d elements, sum %.1f (expected %.1f), maximum %.1f (expected %.1f)\n",
           n, sum, want_sum, max, want_max);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
