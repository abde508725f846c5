// 16-bit floats: scalars and pairs, operators and functions.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void scalars(const __half *x, __half *y, float *f, int *k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half a = x[i], b = x[n - 1 - i], c = __float2half(0.75f), d = __half(2.0f);
    __half *to = y + 8 * i;
    to[0] = a + b * c - a / d;
    to[1] = __hadd(a, b), to[1] += c, to[1] *= d;
    to[2] = __hfma(a, b, c);
    to[2] -= a, to[2] /= d;
    to[3] = -a, to[4] = __habs(b);
    to[5] = __hmax(a, b);
    to[6] = hsqrt(__habs(a)) + hexp(c) - hfloor(a) + __hneg(hrcp(d));
    to[7] = a < b ? a : __hmin(c, b);
    f[i] = __half2float(a) + (float)b * 0.5f + (a == b) + (a > c) * 2 + (__hle(a, b) ? 4 : 0) + __hisnan(a) * 8;
    k[2 * i] = __half2int_rn(a) * 100 + __half2int_rz(b) + (int)__half_as_ushort(a);
    k[2 * i + 1] = (__hne(a, b) ? 1 : 0) + (a >= b) * 2 + (int)(__half2float(__ushort_as_half(0x3c00)) * 4) + (a != c) * 16;
    to[7] = to[7] + __int2half_rn(i) + __double2half(0.1) + (__half)1;
}

__global__ void pairs(const __half2 *x, __half2 *y, float2 *f, int *k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 a = x[i], b = x[n - 1 - i], c = __float2half2_rn(0.25f), d = __floats2half2_rn(1.5f, -2.0f);
    __half2 *to = y + 6 * i;
    to[0] = __hadd2(a, b) * c;
    to[1] = __hfma2(a, b, d), to[1] += a;
    to[2] = __halves2half2(__high2half(a), __low2half(b));
    to[3] = __hmul2(__low2half2(a), __high2half2(b)) - __hsub2(a, __lowhigh2highlow(b));
    to[4] = __hgt2(a, b) + h2exp(c) / d;
    to[5] = __lows2half2(a, b) + __highs2half2(a, b) + __hneg2(a) + __habs2(b) + __hmin2(a, d) + __half2half2(a.x);
    f[i] = __half22float2(a);
    f[i].x += __low2float(b) - __high2float(a) + (float)a.y;
    k[i] = (__hbgt2(a, b) ? 1 : 0) + (__hbeq2(a, b) ? 2 : 0);
    to[5] = to[5] + __float22half2_rn(make_float2(0.5f, 1.0f * i)) + __half2(c.x, c.y);
}

__global__ void brains(const __nv_bfloat16 *x, __nv_bfloat16 *y, float *f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 a = x[i], b = __float2bfloat16(1.25f);
    y[i] = a * b + __hmul(a, a) - y[i];
    __nv_bfloat162 p = __halves2bfloat162(a, b), q = __float2bfloat162_rn(0.5f);
    p = __hadd2(p, q);
    f[i] = __bfloat162float(a) + (float)__low2bfloat16(p) + (float)__high2bfloat16(p) + (a < b) + (float)__habs(a);
    if (a > b) y[i] += b;
}

int main() {
    const int n = 75, block = 32, grid = 3;
    __half *x, *y;
    __half2 *v, *w;
    __nv_bfloat16 *p, *q;
    float *f;
    float2 *g;
    int *k;
    cudaMallocManaged(&x, n * 2), cudaMallocManaged(&y, 8 * n * 2), cudaMallocManaged(&v, n * 4);
    cudaMallocManaged(&w, 6 * n * 4), cudaMallocManaged(&p, n * 2), cudaMallocManaged(&q, n * 2);
    cudaMallocManaged(&f, n * 4), cudaMallocManaged(&g, n * 8), cudaMallocManaged(&k, 2 * n * 4);
    for (int i = 0; i < n; ++i) {
        float u = (i * 29 % 53 - 25) * 0.17f;
        x[i] = __float2half(u), v[i] = __floats2half2_rn(u, 1 - u * u * 0.1f);
        p[i] = __float2bfloat16(u * 1.7f), q[i] = __float2bfloat16(0.3f * i);
    }
    scalars<<<grid, block>>>(x, y, f, k, n);
    pairs<<<grid, block>>>(v, w, g, k, n);
    brains<<<grid, block>>>(p, q, f, n);
    cudaDeviceSynchronize();
    printf("halves %g %g\n", f[0], g[1].x);
    return 0;
}
