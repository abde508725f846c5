// Buffers that overlap, and module variables that parameters point into: what may be assumed apart must be tested.
#include <cstdio>
#include <cuda_runtime.h>

__device__ float kept[256];

__global__ void rows(const float *x, float *y, int count, int length) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < count)
        for (int k = 0; k < length; k++) y[r * length + k] = x[r * length + k] * 0.5f + 1.0f;
}

__global__ void three(const int *a, const int *b, int *c, int n, int length) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n)
        for (int k = 0; k < length; k++) c[r * length + k] = a[r * length + k] + 3 * b[r * length + k];
}

// The outputs may lie in the inputs' last row: each thread reads back what it alone has written.
__global__ void column_sums(const float *a, float *y, int rows, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < columns) {
        y[j] = 1.0f;
        for (int i = 0; i < rows; i++) y[j] += a[i * columns + j];
    }
}

__global__ void two_sums(const int *a, const int *b, int *c, int rows, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < columns) {
        c[j] = 3;
        for (int i = 0; i < rows; i++) c[j] += a[i * columns + j] * 2;
        for (int i = 0; i < rows; i++) c[j] += b[i * columns + j];
    }
}

__global__ void from_module(const float *x, int count, int length) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < count)
        for (int k = 0; k < length; k++) kept[r * length + k] = x[r * length + k] * 2.0f - 1.0f;
}

int main() {
    const int n = 400;
    float *x, *inside;
    int *a;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&a, n * 4);
    for (int i = 0; i < n; ++i) x[i] = i * 0.25f, a[i] = i * 7 % 23;
    rows<<<1, 1>>>(x, x + 1, 1, 50);
    rows<<<2, 4>>>(x, x + 200, 5, 20);
    three<<<1, 1>>>(a, a + 200, a + 1, 1, 40);
    three<<<1, 1>>>(a + 200, a, a + 2, 1, 40);
    three<<<2, 4>>>(a, a + 100, a + 200, 5, 19);
    column_sums<<<2, 16>>>(x, x + 200, 7, 21);
    column_sums<<<2, 16>>>(x, x + 6 * 21, 7, 21);
    two_sums<<<2, 16>>>(a, a + 150, a + 300, 6, 20);
    two_sums<<<2, 16>>>(a, a + 150, a + 5 * 20, 6, 20);
    two_sums<<<2, 16>>>(a, a + 150, a + 150 + 5 * 20, 6, 20);
    cudaGetSymbolAddress((void **)&inside, kept);
    from_module<<<2, 4>>>(x, 5, 20);
    from_module<<<1, 1>>>(inside + 1, 1, 40);
    from_module<<<1, 1>>>(inside - 0, 1, 40);
    cudaDeviceSynchronize();
    printf("overlaps %g %d\n", x[1], a[1]);
    return 0;
}
