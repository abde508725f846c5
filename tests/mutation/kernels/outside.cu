// Reads outside of rows, arrays and allocations, whose values count for nothing: verification has to report them.
#include <cstdio>
#include <cuda_runtime.h>

__constant__ int table[5] = {1, 2, 3, 4, 5};
__device__ int rows[2][3];

__global__ void kept_across(const int *a, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, kept[3];
    for (int k = 0; k < 3; ++k) kept[k] = a[i] + k;
    __syncthreads();
    out[i] = kept[1] + (kept[a[i] & 3] & 0);
}

__global__ void plain_local(const int *a, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, pair[2][2] = {{1, 2}, {3, 4}};
    out[i] = pair[1][a[i] & 1] + (pair[0][a[i] & 3] & 0);
}

__global__ void shared_row(const int *a, int *out) {
    __shared__ int tile[4][8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t / 8][t % 8] = a[i];
    __syncthreads();
    out[i] = tile[3 - t / 8][t % 8] + (tile[t / 16][t % 8 + (a[i] & 1)] & 0);
}

__global__ void of_module(const int *a, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[a[i] & 3] + (table[4 + (a[i] & 1)] & 0);
}

__global__ void of_module_rows(const int *a, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = rows[a[i] & 1][1] + (rows[0][a[i] & 3] & 0);
}

__global__ void beyond(const int *a, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + (a[i + 1] & 0);
}

int main() {
    const int n = 96;
    int *a, *out;
    cudaMallocManaged(&a, n * 4), cudaMallocManaged(&out, n * 4);
    for (int i = 0; i < n; ++i) a[i] = i * 7 % 50;
    kept_across<<<3, 32>>>(a, out);
    plain_local<<<3, 32>>>(a, out);
    shared_row<<<3, 32>>>(a, out);
    of_module<<<3, 32>>>(a, out);
    of_module_rows<<<3, 32>>>(a, out);
    beyond<<<3, 32>>>(a, out, n);
    cudaDeviceSynchronize();
    printf("outside %d\n", out[0]);
    return 0;
}
