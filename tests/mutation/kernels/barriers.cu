// Barriers and warps where control is not uniform, and what threads keep across them.
#include <cstdio>
#include <cuda_runtime.h>

struct Kept { int a; float b[3]; };

__device__ int shared_total(int value, int *cells) {
    int t = threadIdx.x;
    cells[t] = value;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) cells[t] += cells[t + s];
        __syncthreads();
    }
    int found = cells[0];
    __syncthreads();
    return found;
}

__device__ float lane_sum(float v) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

__global__ void masked(const int *a, int *out, int n, int rounds) {
    __shared__ int cells[64];
    __shared__ float tile[8][9];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, kept[3] = {t, 2}, grown = 0;
    float near[2][2] = {};
    Kept both = {t, {1, 2}};
    const int *row = a + i;
    for (int r = 0; r < rounds; ++r) {
        cells[t] = i < n ? row[0] + r : 0;
        __syncthreads();
        if (t % 3 == 0) {
            kept[r % 3] += cells[(t + r + 1) % 64];
        } else if (t & 4) {
            grown -= r;
        }
        int stop = cells[5], some = cells[t & 32 ? 7 : 7];
        grown += cells[63 - t];
        __syncthreads();
        if (some > -10) {
            cells[63 - t] = grown;
            __syncthreads();
            kept[1] ^= cells[t];
            if (t > 40) grown ^= 9;
            __syncthreads();
            if (some > 25) continue;
        } else {
            kept[2] = r;
        }
        __syncthreads();
        if (stop > 22) break;
        grown += 1;
    }
    __syncthreads();
    int all = shared_total(grown, cells);
    tile[t / 8][t % 8] = near[0][1] + both.b[1] + t;
    near[1][t & 1] = 3;
    both.a += all;
    __syncthreads();
    near[0][0] += tile[t % 8][t / 8];
    both.b[2] = near[1][1] + near[0][0];
    if (i < n) out[i] = kept[0] + kept[1] * 3 + grown + both.a + (int)both.b[2];
}

__global__ void votes(const int *a, unsigned *out, int n) {
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int x = i < n ? a[i] : 0, lane = t & 31;
    unsigned odd = __ballot_sync(0xffffffff, x & 1), rank = __popc(odd & ((1u << lane) - 1));
    int many = __syncthreads_count(x > 3), any = __syncthreads_or(x == 7), every = __syncthreads_and(x > -90);
    bool some = __any_sync(0xffffffff, x > 8), whole = __all_sync(0xffffffff, x > -20);
    float sum = lane_sum(x * 0.5f);
    double wide = __shfl_sync(0xffffffff, (double)x, 3);
    long long down = __shfl_down_sync(0xffffffff, (long long)x << 33, 1);
    int up = __shfl_up_sync(0xffffffff, x, 2, 16), cross = __shfl_xor_sync(0xffffffff, x, 7, 8);
    __syncwarp();
    for (int k = 0; k < 3 && x > -5; ++k) x = max(x, x * 2 - 7);
    unsigned mine = 0;
    if (t < 32) mine = __ballot_sync(0xffffffff, x > lane);
    if (i < n) {
        unsigned *to = out + 8 * i;
        to[0] = odd + rank, to[1] = many * 100 + any * 10 + every + some * 2 + whole * 4;
        to[2] = (unsigned)(int)sum, to[3] = (unsigned)(int)(wide * 2), to[4] = (unsigned)(down >> 31);
        to[5] = up * 1000 + cross, to[6] = mine, to[7] = x;
    }
}

__global__ void tiled(const float *a, float *out, int width, int steps) {
    extern __shared__ float cells[];
    int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    float sum = 0.0f;
    const float *from = a + first;
    int s = 0;
    while (s < steps) {
        cells[t] = from[t] + s;
        __syncthreads();
        for (int k = 0; k < 8; ++k) sum += cells[(t + k) % blockDim.x] * (k + 1);
        __syncthreads();
        if (steps > 2 && s == 1) {
            cells[blockDim.x - 1 - t] *= 2;
            __syncthreads();
            sum -= cells[t];
            __syncthreads();
        }
        ++s;
    }
    do {
        cells[t] = sum;
        __syncthreads();
        sum += cells[t ^ 1];
        __syncthreads();
    } while (--s > 1);
    if (first + t >= width) return;
    out[first + t] = sum;
}

__device__ int lock;

__global__ void locked(int *total, const int *a) {
    int i = blockIdx.x;
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        *total = *total + a[i] * 3;
        __threadfence();
        atomicExch(&lock, 0);
    }
}

int main() {
    const int n = 120, block = 64, grid = 2;
    int *a, *out;
    unsigned *u;
    float *x, *y;
    cudaMallocManaged(&a, 2 * block * 4), cudaMallocManaged(&out, n * 4), cudaMallocManaged(&u, 8 * n * 4);
    cudaMallocManaged(&x, 2 * block * 4), cudaMallocManaged(&y, n * 4);
    for (int i = 0; i < 2 * block; ++i) a[i] = i * 37 % 67 - 20, x[i] = (i * 13 % 31) * 0.25f - 3;
    masked<<<grid, block>>>(a, out, n, 4);
    a[7] = -30, a[block + 5] = 90;
    masked<<<grid, block>>>(a, out, n, 3);
    a[block + 7] = 40, a[5] = -3;
    masked<<<grid, block>>>(a, out, n, 5);
    votes<<<grid, block>>>(a, u, n);
    tiled<<<grid, block, block * 4>>>(x, y, n, 4);
    tiled<<<grid, block, block * 4>>>(x, y, n, 2);
    locked<<<3, 32>>>(out, a);
    cudaDeviceSynchronize();
    printf("barriers %d %u\n", out[0], u[1]);
    return 0;
}
