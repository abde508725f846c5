// Kernels that become loops: grids of one to three dimensions, guards, strides, reductions, unequal extents.
#include <cstdio>
#include <cuda_runtime.h>

#define NI 21
#define NJ 27

__global__ void axpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void strided(const int *x, int *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] * x[i] - 3;
}

__global__ void product(const float *a, const float *b, float *c, int rows, int columns, int inner) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < columns) {
        float sum = 0;
        for (int k = 0; k < inner; ++k) sum += a[i * inner + k] * b[k * columns + j];
        c[i * columns + j] = sum;
    }
}

__global__ void stencil(const float *a, float *b) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= 1 && i < NI - 1 && j >= 1 && j < NJ - 1)
        b[i * NJ + j] = 0.2f * (a[i * NJ + j] + a[i * NJ + j - 1] + a[(i + 1) * NJ + j] + a[(i - 1) * NJ + (1 + j)]);
}

__global__ void transpose(const double *a, double *b, int rows, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) return;
    b[j * rows + i] = a[i * columns + j] * 2.0;
}

__global__ void volume(const float *a, float *b, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) {
        int at = (z * ny + y) * nx + x;
        float below = z > 0 ? a[at - nx * ny] : 0.0f;
        b[at] = a[at] + below;
    }
}

__global__ void row_means(const float *a, float *mean, float *largest, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        float sum = 0.0f, most = a[i * columns];
        for (int k = 0; k < columns; k++) {
            sum += a[i * columns + k];
            if (a[i * columns + k] > most) most = a[i * columns + k];
        }
        mean[i] = sum / columns;
        largest[i] = most;
    }
}

__global__ void gather(const int *index, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]] + (index[i] % 2 == 0 ? 1.0f : -1.0f);
}

int main() {
    const int n = 600;
    float *x, *y, *z;
    int *a, *b;
    double *d, *e;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&y, n * 4), cudaMallocManaged(&z, n * 4);
    cudaMallocManaged(&a, n * 4), cudaMallocManaged(&b, n * 4), cudaMallocManaged(&d, n * 8), cudaMallocManaged(&e, n * 8);
    unsigned seed = 5;
    for (int i = 0; i < n; ++i) {
        seed = seed * 1664525u + 1013904223u;
        a[i] = (seed >> 16) % n, b[i] = i;
        x[i] = ((int)(seed >> 9) % 2000 - 900) * 0.003f, y[i] = 1.0f - 0.01f * i, z[i] = 0;
        d[i] = x[i] / 3.0, e[i] = 0;
    }
    axpy<<<4, 32>>>(101, 1.7f, x, y);
    strided<<<2, 32>>>(a, b, 201);
    product<<<dim3(3, 2), dim3(8, 8)>>>(x, y, z, 13, 19, 11);
    stencil<<<dim3(4, 6), dim3(8, 4)>>>(x, y);
    transpose<<<dim3(4, 6), dim3(8, 4)>>>(d, e, 21, 27);
    volume<<<dim3(2, 3, 3), dim3(4, 2, 2)>>>(x, z, 7, 5, 6);
    row_means<<<2, 16>>>(x, y, z, 23, 17);
    gather<<<4, 32>>>(a, x, z, 103);
    cudaDeviceSynchronize();
    printf("grids %g\n", z[5]);
    return 0;
}
