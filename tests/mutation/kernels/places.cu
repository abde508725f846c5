// Pointers, references, rows of arrays, casts of places, and variables of the module.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

__constant__ float coefficients[4];
__constant__ float grid_of[2][3] = {{1, 2, 3}, {4, 5}};
__constant__ int order[3] = {2, 0, 1};
__device__ float memory[2][40];
__device__ int hits = 3;
__device__ float4 corner;
static __device__ unsigned long long big = 1ull << 40;
constexpr int kCount = 3;
constexpr float kScale = 0.5f;
const double kWide = 2.5;
namespace inner { __device__ int depth = 1; constexpr int kStep = 2; }

template <typename T> __device__ void exchange(T &a, T &b) {
    T t = a;
    a = b;
    b = t;
}
__device__ int &pick(int *a, int i) { return a[i]; }
__device__ float row_sum(const float row[3]) { return row[0] + row[1] + row[2]; }
__device__ float *ahead(float *p, unsigned by) { return p + by; }
__device__ int filled(int *a, int n, int with) {
    for (int i = 0; i < n; ++i) a[i] = with + i;
    return n;
}

__global__ void pointers(float *f, int *ints, float **rows, const float *__restrict__ end, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float *p = f + 8 * i;
    int *to = ints + 8 * i;
    *p++ = 1;
    *--p = 2;
    p += 2;
    p[-1] = 0.5f;
    p -= 1u;
    to[0] = (int)(end - p) + (int)(&f[3] - f);
    if (p && p + 300 < end) to[1] = *(int *)p;
    float x = p[4];
    to[2] = (int &)x;
    unsigned long long address = (unsigned long long)p;
    to[3] = (int)(address & 3) + (reinterpret_cast<uintptr_t>(f) == 0);
    float *none = nullptr, *last = i & 1 ? p : 0;
    to[4] = none == last ? 6 : 7;
    bool some = p;
    if (!last && some && p != nullptr) to[5] = 2[order] % 2 + 1[order];
    char *bytes = (char *)(to + 6);
    bytes[1] = 5, bytes[2] = (char)-3;
    reinterpret_cast<short *>(to + 7)[1] = 77;
    rows[i % 5][i / 5] += 1.5f;
    *(rows[i % 5] + i / 5) *= 2;
    *ahead(p, 4u) += 3;
    const float *q = i & 1 ? p : f;
    p[3] += q == p;
    float4 wide = *reinterpret_cast<float4 *>(f + 8 * i + 4);
    wide.x += wide.w;
    *(float4 *)(f + 8 * i + 4) = wide;
    long long back = n - i - 1;
    p[2] += end[-1 - back] + *(end - (i + 1));
    int *cursor = to;
    while (cursor < to + 3) *cursor++ += 1;
    p[2] += *(p + 0) + (&p[1])[0];
}

__global__ void references(int *a, float *f, double *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = i, y = 2, held[4] = {1, 2}, line[3];
    exchange(a[2 * i], a[2 * i + 1]);
    exchange(x, y);
    pick(a, 2 * i) += x;
    pick(held, i & 3)++;
    int &alias = x;
    alias = y + 4;
    int &cell = held[x & 3], &first = held[0];
    x = 9;
    cell = y, first += 1;
    const int &value = i * 3;
    y = filled(line, 3, y) + line[2] + value;
    a[2 * i] += held[0] * 1000 + held[3] * 100 + x + y;
    float zero[2][3] = {}, rows[2][3] = {{1, 2, 3}, {i * 1.0f}};
    zero[i & 1][2] = 4;
    float *row = rows[i & 1];
    row[1] += grid_of[i & 1][i % 3];
    rows[1][2] = row[2] + zero[1][2];
    f[i] = row_sum(rows[1]) + row_sum(grid_of[0]) + coefficients[i & 3];
    double *into = &d[i];
    *into = kScale * kWide + kCount;
    char text[6] = "ab\xe9", cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    a[2 * i + 1] += text[i & 1] + text[2] + text[4] + cube[i & 1][i >> 1 & 1][1] + inner::kStep + sizeof(rows);
}

__global__ void variables(float *f, unsigned long long *u, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    memory[i & 1][i >> 1] += f[i];
    memory[1 - (i & 1)][i >> 1] -= 1;
    atomicAdd(&hits, i);
    if (i == 5) corner.z = f[5], inner::depth += inner::kStep, big += 7;
    u[i] = (u[i] << 3) + sizeof(memory);
}

int main() {
    const int n = 75, block = 32, grid = 3;
    float *f, **rows, c[4] = {1, 0.5f, 0.25f, 3};
    int *a;
    double *d;
    unsigned long long *u;
    cudaMallocManaged(&f, 9 * n * 4), cudaMallocManaged(&a, 8 * n * 4), cudaMallocManaged(&d, n * 8);
    cudaMallocManaged(&rows, 5 * sizeof(float *)), cudaMallocManaged(&u, n * 8);
    for (int r = 0; r < 5; ++r) cudaMallocManaged(&rows[r], n / 5 * 4);
    for (int i = 0; i < 9 * n; ++i) f[i] = (i * 13 % 29 - 9) * 0.7f, a[i * 8 / 9] = i * 5 % 17;
    for (int i = 0; i < n; ++i) rows[i % 5][i / 5] = i, u[i] = i * 1000003ull << 20;
    cudaMemcpyToSymbol(coefficients, c, sizeof c);
    pointers<<<grid, block>>>(f, a, rows, f + 9 * n, n);
    references<<<grid, block>>>(a, f, d, n);
    variables<<<grid, block>>>(f, u, n);
    cudaDeviceSynchronize();
    printf("places %g %d\n", f[0], a[1]);
    return 0;
}
