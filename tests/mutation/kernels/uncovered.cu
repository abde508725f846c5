// Outcomes that no launch reaches: verification has to name each of their lines.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void branches(const unsigned char *a, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = a[i];
    if (v > 400)
        out[i] = 1;
    if (v * v < 400000)
        out[i] = 2;
    else
        out[i] = 3;
    if (v > -5 && v * 2 < 2000) out[i] += 4;
    if (v * 3 > 3000 || v * 5 > 3000) out[i] += 5;
    out[i] += v * 7 > 7000 ? 6
              : 7;
}

__global__ void loops(const unsigned char *a, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = a[i], sum = 0;
    for (int k = 300; k < v; ++k)
        sum += k;
    for (int k = 0; k < 5; ++k)
        if (k * 200 > v) break;
    while (v * 2 > 600)
        v -= 1;
    while (true) {
        if (v * 9 > 9000)
            break;
        if (++sum > 10) break;
    }
    do {
        sum += 3;
    } while (v * 13 > 13000);
    switch (v * 17) {
    case 90000: sum = 4;
    case 80000: sum += 5; break;
    default: sum += 6;
    }
    out[i] = sum;
}

__global__ void waits(const unsigned char *a, int *out, int n) {
    __shared__ int cells[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    cells[t] = i < n ? a[i] : 0;
    __syncthreads();
    int first = cells[t & 0];
    if (first * 19 > 19000) {
        cells[t] = 4;
        __syncthreads();
    }
    for (int k = 280; k < first; ++k) {
        cells[t] += k;
        __syncthreads();
    }
    if (i < n) out[i] = cells[31 - t];
}

int main() {
    const int n = 75, block = 32, grid = 3;
    unsigned char *a;
    int *out;
    cudaMallocManaged(&a, n), cudaMallocManaged(&out, n * 4);
    for (int i = 0; i < n; ++i) a[i] = i * 7 % 50, out[i] = 0;
    branches<<<grid, block>>>(a, out, n);
    loops<<<grid, block>>>(a, out, n);
    waits<<<grid, block>>>(a, out, n);
    cudaDeviceSynchronize();
    printf("uncovered %d\n", out[0]);
    return 0;
}
