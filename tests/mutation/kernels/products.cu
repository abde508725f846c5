// Products of matrices in the forms in which kernels write them, and nests whose loops may change places.
#include <cstdio>
#include <cuda_runtime.h>

#define S 24

__global__ void plain(const float *a, const float *b, float *c, int m, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
    c[i * n + j] = sum;
}

__global__ void transposed(const float *a, const float *b, float *c, int m, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p) sum += a[p * m + i] * b[j * k + p];
        c[i * n + j] = sum;
    }
}

__global__ void scaled(const float *a, const float *b, float *c, float alpha, float beta) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < S && j < S) {
        c[i * S + j] *= beta;
        for (int p = 0; p < S; ++p) c[i * S + j] += alpha * a[i * S + p] * b[p * S + j];
    }
}

__global__ void added(const float *a, const float *b, float *c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < S && j < S)
        for (int p = 0; p < S; ++p) c[i * S + j] += a[i * S + p] * b[p * S + j];
}

__global__ void wide(const double *a, const double *b, double *c, int m, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) {
        c[i * n + j] = 0;
        for (int p = 0; p < k; ++p) c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}

__global__ void symmetric(const float *a, float *c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < S && j < S) {
        float sum = 0.0f;
        for (int p = 0; p < S; ++p) sum += a[i * S + p] * a[j * S + p];
        c[i * S + j] = sum;
    }
}

__global__ void vector(const float *a, const float *x, float *y) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < S) {
        y[j] = 0;
        for (int i = 0; i < S; i++) y[j] += a[i * S + j] * x[i];
    }
}

__global__ void row_vector(const float *a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S) {
        for (int j = 0; j < S; j++) y[i] += a[i * S + j] * x[j];
    }
}

__global__ void columns(const float *a, const float *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S)
        for (int j = 0; j < S; j++) c[j * S + i] = a[j * S + i] + b[i * S + j];
}

__global__ void nest(const float *a, const float *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S) {
        for (int j = 0; j < S; j++) {
            float sum = 0.0f;
            for (int p = 0; p < S; p++) sum += a[i * S + p] * b[p * S + j];
            c[i * S + j] = sum;
        }
    }
}

__global__ void triangle(const int *a, int *most, int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S) {
        int sum = 0, high = -1000;
        for (int j = 0; j < i; j++) sum += a[i * S + j];
        for (int j = 0; j < S; j++) high = a[j * S + i] > high ? a[j * S + i] : high;
        sums[i] = sum, most[i] = high;
    }
}

int main() {
    const int n = 900;
    float *x, *y, *z;
    double *d, *e, *f;
    int *a, *b;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&y, n * 4), cudaMallocManaged(&z, n * 4);
    cudaMallocManaged(&d, n * 8), cudaMallocManaged(&e, n * 8), cudaMallocManaged(&f, n * 8);
    cudaMallocManaged(&a, n * 4), cudaMallocManaged(&b, n * 4);
    for (int i = 0; i < n; ++i) {
        x[i] = (i * 17 % 41) * 0.05f - 0.8f, y[i] = (i * 7 % 29) * 0.11f - 1, z[i] = 0.01f * i;
        d[i] = x[i] / 3, e[i] = y[i] / 7, f[i] = i, a[i] = i * 13 % 59 - 20;
    }
    dim3 block(8, 4), grid(4, 7);
    plain<<<grid, block>>>(x, y, z, 21, 27, 13);
    transposed<<<grid, block>>>(x, y, z, 22, 25, 11);
    scaled<<<grid, block>>>(x, y, z, 1.5f, 0.75f);
    added<<<grid, block>>>(x, y, z);
    wide<<<grid, block>>>(d, e, f, 26, 19, 14);
    symmetric<<<grid, block>>>(x, z);
    vector<<<2, 16>>>(x, y, z);
    row_vector<<<2, 16>>>(x, y, z);
    columns<<<2, 16>>>(x, y, z);
    nest<<<2, 16>>>(x, y, z);
    triangle<<<2, 16>>>(a, b, b + S);
    cudaDeviceSynchronize();
    printf("products %g %d\n", z[1], b[0]);
    return 0;
}
