// Barriers in loops whose bounds only the program knows to be uniform, returns ahead of barriers, helpers with both.
#include <cstdio>
#include <cuda_runtime.h>

struct Slot { int key; float at[2]; };

__device__ int first_above(const int *cells, int limit) {
    for (int k = 0; k < 8; ++k) {
        if (cells[k] > limit) return k;
        for (int q = 0; q < 2; ++q)
            if (cells[k] == -q) return 20 + q;
    }
    return -1;
}
__device__ int waits(int *cells, int t, int v, int key) {
    if (key > 17) return 1;
    cells[t] = v;
    __syncthreads();
    for (int s = 1; s < 4; ++s) {
        int other = cells[t ^ s];
        if (__any_sync(0xffffffff, other > 45)) return other;
        v += other;
    }
    return v;
}
__device__ float scratch_sum(float v) {
    __shared__ float scratch[64];
    scratch[threadIdx.x] = v;
    __syncthreads();
    float sum = scratch[threadIdx.x ^ 1] + scratch[63 - threadIdx.x];
    __syncthreads();
    return sum;
}

__global__ void rounds(const int *a, int *out, int n) {
    __shared__ int cells[64];
    __shared__ int bound[2];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, sum = 0;
    if (t < 2) bound[t] = a[blockIdx.x * 2] & 7;
    __syncthreads();
    int until = bound[t > 40 ? 1 : 0], by = bound[t & 1 ? 0 : 1];
    for (int k = 0; k < until; ++k) {
        cells[t] = a[i] + k;
        __syncthreads();
        sum += cells[63 - t];
        __syncthreads();
    }
    for (int k = until; k > 1; k -= 2) {
        cells[t] = sum;
        __syncthreads();
        if (k == 3) break;
        sum ^= cells[t ^ 3];
        __syncthreads();
    }
    int turns = 0;
    while (by > 0) {
        cells[t] = sum + by;
        __syncthreads();
        sum += cells[(t + 5) & 63];
        __syncthreads();
        if (++turns == 4) break;
        if (by & 1) {
            --by;
            continue;
        }
        by -= 2;
    }
    do {
        __syncthreads();
        cells[t] = turns + sum;
        __syncthreads();
        turns -= 2;
        sum -= cells[t & 60];
    } while (turns > 0);
    while (true) {
        __syncthreads();
        if (until-- <= 0) break;
        cells[t] -= sum;
        __syncthreads();
        sum += cells[t ^ 7] & 15;
    }
    if (i < n) out[i] = sum;
}

__global__ void returning(const int *a, int *out, float *f, int n) {
    __shared__ int cells[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    Slot slot = {t, {1.0f}};
    float more[3] = {2, 3};
    cells[t] = a[i];
    __syncthreads();
    int key = cells[t > 40 ? 2 : 2];
    if (key > 25) {
        out[i] = 3;
        return;
    }
    for (int k = 0; k < 3; ++k) {
        __syncthreads();
        cells[t] += k;
        __syncthreads();
        if (key < -20 && k == 1) {
            out[i] = cells[t ^ 1];
            return;
        }
    }
    const int *mine = cells + t;
    __syncthreads();
    Slot both[2] = {slot, {5, {2.0f, 3.0f}}};
    int found = waits(cells, t, a[i], key), k = first_above(cells, 39);
    __syncthreads();
    slot = both[k & 1];
    more[2] = scratch_sum(slot.at[0] + t) * more[1];
    f[i] = more[2] + slot.at[1] + scratch_sum(more[0]);
    out[i] = found + k + *mine + slot.key;
}

int main() {
    const int block = 64, grid = 6, n = block * grid;
    int *a, *out;
    float *f;
    cudaMallocManaged(&a, n * 4), cudaMallocManaged(&out, n * 4), cudaMallocManaged(&f, n * 4);
    for (int i = 0; i < n; ++i) a[i] = i * 37 % 67 - 20, f[i] = 0;
    a[block + 2] = 40, a[2 * block + 2] = -25, a[3 * block + 2] = 20, a[3 * block + 4] = -4;
    a[4 * block + 5] = 50;
    rounds<<<grid, block>>>(a, out, n - 9);
    returning<<<grid, block>>>(a, out, f, n);
    cudaDeviceSynchronize();
    printf("waves %d %g\n", out[0], f[1]);
    return 0;
}
