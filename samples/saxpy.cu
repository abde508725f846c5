// saxpy: y = a * x + y, once with a guard and once with a grid-stride loop.
#include <cmath>
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

// One thread an element; the last block is ragged, so every thread checks its index.
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

// A fixed number of threads walks over any number of elements.
__global__ void saxpy_grid_stride(int n, float a, const float *__restrict__ x,
                                  float *__restrict__ y) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = a * x[i] + y[i];
    }
}

static int count_wrong(const std::vector<float> &got, const std::vector<float> &want) {
    int wrong = 0;
    for (size_t i = 0; i < want.size(); i++) {
        if (!(fabsf(got[i] - want[i]) <= 1e-5f * (1.0f + fabsf(want[i])))) wrong++;
    }
    return wrong;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10007;
    if (n < 1) {
        fprintf(stderr, "usage: %s [element count, at least 1]\n", argv[0]);
        return 1;
    }
    const float a = 2.5f;
    const size_t bytes = n * sizeof(float);

    std::vector<float> x(n), y(n), want(n), got(n);
    for (int i = 0; i < n; i++) {
        x[i] = 0.25f * (float)(i % 113) - 7.0f;
        y[i] = 1.0f / (float)(1 + i % 29);
        want[i] = a * x[i] + y[i];
    }

    float *d_x, *d_y;
    CUDA_CHECK(cudaMalloc(&d_x, bytes));
    CUDA_CHECK(cudaMalloc(&d_y, bytes));
    CUDA_CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));

    const int block = 256;
    const int grid = (n + block - 1) / block;
    CUDA_CHECK(cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice));
    saxpy<<<grid, block>>>(n, a, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got.data(), d_y, bytes, cudaMemcpyDeviceToHost));
    int wrong = count_wrong(got, want);

    CUDA_CHECK(cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice));
    saxpy_grid_stride<<<7, 96>>>(n, a, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got.data(), d_y, bytes, cudaMemcpyDeviceToHost));
    int wrong_stride = count_wrong(got, want);

    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));

    bool pass = wrong == 0 && wrong_stride == 0;
    printf("saxpy: %d elements, %d wrong with a guard, %d wrong with a grid-stride loop\n", n,
           wrong, wrong_stride);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
