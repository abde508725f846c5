// Shared memory, barriers, atomics, shuffles, vectors, structs, pointers, module variables, printf.
#include <cassert>
#include <cstdio>
#include <cuda_runtime.h>

__constant__ float weights[4];
__constant__ int bias = 3;
__device__ int counter;
__device__ float table[8] = {1, 2, 4, 8};
__managed__ int managed_total;

struct Pair {
    int key;
    float value;
    __device__ void add(const Pair &other) { key += other.key, value += other.value; }
};
struct Grid {
    float4 corner;
    int size[3];
    Pair inner;
};

__global__ void shared_memory(const int *a, int *out, int n) {
    __shared__ int tile[4][33];
    __shared__ int total;
    extern __shared__ int dynamic[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) total = 0;
    tile[t / 32][t % 32] = i < n ? a[i] : 0;
    dynamic[t] = i < n ? a[i] * 2 : -1;
    __syncthreads();
    atomicAdd(&total, tile[t / 32][t % 32]);
    int other = tile[(t + 32) / 32 % 4][31 - t % 32];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) dynamic[t] += dynamic[t + s];
        __syncthreads();
    }
    if (i < n) out[i] = other + total * 3 + dynamic[0];
}

__global__ void atomics(const int *a, int *cells, unsigned *words, float *floats, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i];
    atomicAdd(&cells[0], x), atomicSub(cells + 1, x);
    atomicMax(&cells[2], x), atomicMin(&cells[3], x);
    atomicAnd(&words[0], ~(1u << (x & 31))), atomicOr(&words[1], 1u << (x & 31)), atomicXor(&words[2], x * 77u);
    atomicAdd(&floats[x & 3], 0.5f);
    atomicInc(&words[3], 10);
    atomicExch(&cells[8 + i], x + 1);
    atomicCAS(&cells[8 + i], x + 1, 2 * x);
    atomicAdd(&counter, 1);
    if (x > 10) atomicAdd(&managed_total, x);
}

__global__ void lanes(const int *a, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int x = i < n ? a[i] : 0, sum = x;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    int scan = x;
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(0xffffffff, scan, d);
        if (lane >= d) scan += y;
    }
    int all = __shfl_sync(0xffffffff, sum, 0), swapped = __shfl_xor_sync(0xffffffff, x, 5);
    int part = __shfl_sync(0xffffffff, x, 3, 8);
    if (i < n) out[i] = all * 7 + scan + swapped * 3 + part;
}

__global__ void structs(const float4 *v, const Pair *p, Pair *q, float *out, Grid g, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 a = v[i];
        float3 b = make_float3(a.x, a.w, 2.0f);
        int2 c = make_int2(i, n - i);
        Pair local = p[i];
        local.add(p[n - 1 - i]);
        q[i] = local;
        q[i].key += c.x * c.y + g.size[1];
        out[i] = a.x * b.x - a.y * b.y + a.z * b.z + g.corner.z + g.inner.value * local.value + (float)g.size[i % 3];
    }
}

__global__ void pointers(const float *__restrict__ x, float *y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float *row = x + r * columns, *end = row + columns;
    float sum = 0, history[4] = {0, 0, 1};
    for (const float *p = row; p != end; ++p) {
        sum += *p * weights[(p - row) & 3];
        history[(p - row) % 4] = *p;
    }
    float *to = &y[r * 3];
    *to++ = sum + bias;
    *to = history[0] - history[3] + table[r & 7];
    to[1] = row[columns / 2] + *(end - 1);
    if (to - y > 20 && row[0] > 1.0f) to[0] = -sum;
}

__global__ void prints(const int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(n > 0);
    if (i < n && a[i] > 30) printf("%d: %d of %d, %.2f\n", i, a[i], n, a[i] * 0.5);
}

int main() {
    const int n = 200, block = 128, grid = 2;
    int *a, *out, *cells;
    unsigned *words;
    float *x, *y, *floats;
    float4 *v;
    Pair *p, *q;
    cudaMallocManaged(&a, n * 4), cudaMallocManaged(&out, n * 4), cudaMallocManaged(&cells, (n + 8) * 4);
    cudaMallocManaged(&words, 16), cudaMallocManaged(&floats, 16);
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&y, n * 12), cudaMallocManaged(&v, n * 16);
    cudaMallocManaged(&p, n * sizeof(Pair)), cudaMallocManaged(&q, n * sizeof(Pair));
    unsigned seed = 3;
    for (int i = 0; i < n; ++i) {
        seed = seed * 1664525u + 1013904223u;
        a[i] = (int)(seed >> 16) % 70 - 30;
        x[i] = ((int)(seed >> 10) % 1000 - 400) * 0.01f;
        v[i] = make_float4(x[i], 0.3f * i, x[i] * 0.7f, 1.0f - i);
        p[i] = Pair{a[i] * 3, x[i] - 0.125f};
    }
    for (int i = 0; i < n + 8; ++i) cells[i] = i;
    for (int i = 0; i < 4; ++i) words[i] = i == 0 ? ~0u : 0, floats[i] = i;
    float w[4] = {0.5f, -1.0f, 0.25f, 3.0f};
    cudaMemcpyToSymbol(weights, w, sizeof w);
    shared_memory<<<grid, block, block * 4>>>(a, out, n);
    atomics<<<grid, block>>>(a, cells, words, floats, n);
    lanes<<<grid, block>>>(a, out, n);
    Grid g = {make_float4(1, 2, 3, 4), {5, 6, 7}, {8, 0.75f}};
    structs<<<grid, block>>>(v, p, q, y, g, n);
    pointers<<<1, 32>>>(x, y, 19, 10);
    prints<<<grid, block>>>(a, n);
    cudaDeviceSynchronize();
    printf("memory %d\n", out[0]);
    return 0;
}
