// Mathematical functions and intrinsics, and the conversions that they and C's rules make.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void mathematics(const float *x, const double *y, float *f, double *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], p = fabsf(a) + 0.25f, *to = f + 24 * i, s, c;
    double b = y[i], *td = d + 10 * i, whole;
    int e;
    to[0] = expf(a) + exp(a) + std::exp(a) + exp2f(a);
    to[1] = logf(p) + log2f(p) + log10f(p) + log1pf(p);
    to[2] = sinf(a) + cosf(a) * tanf(a) + tanhf(a);
    to[3] = asinf(a * 0.1f) + acosf(a * 0.1f) + atanf(a) + atan2f(a, p);
    to[4] = sinhf(a) + coshf(a) + erff(a) + cbrtf(a);
    to[5] = fmodf(a, 0.7f) + remainderf(a, 0.7f) + hypotf(a, p) + fdimf(a, 0.5f);
    to[6] = roundf(a * 3) + nearbyintf(a * 3) + rsqrtf(p) + expm1f(a);
    sincosf(a, &s, &c);
    to[7] = s * 2 + c;
    to[8] = frexpf(a, &e) + e;
    float part = modff(a * 3, &to[9]);
    to[10] = part + ldexpf(a, 3) + scalbnf(p, -2);
    to[11] = std::max(a, p) - std::min(a, 0.3f) + std::abs(a);
    to[12] = fmaxf(a, 0) + fminf(p, 1.0f) + max(a, 0.1f) + min(a, 0.2f);
    to[13] = __frsqrt_rn(p) + __fsqrt_rn(p) + __frcp_rn(p);
    to[14] = __fadd_rn(a, p) * __fmul_rn(a, p) - __fsub_rn(a, p) + __fdiv_rn(a, p) + __fmaf_rn(a, p, a);
    to[15] = __saturatef(a) + signbit(a) + isfinite(a) + isinf(a) + ilogbf(p);
    to[16] = powf(p, 3.0f) + pow(p, 2) + powf(p, a);
    to[17] = __ldg(x + n - 1 - i) + __int2float_rn(i) + __uint2float_rn(7u) + (float)__double2float_rn(b);
    __stcs(to + 18, a);
    to[19] = a > 0 ? 1.0f / 0.0f : -INFINITY;
    to[20] = a > 0 ? NAN : 1e-42f;
    to[21] = copysignf(p, a) * -0.0f;
    to[22] = erfcf(a) + normcdff(a) + 1.0e30f;
    to[23] = fma(a, p, 2.0f) + (a != a) + !(a > 0.5f);
    td[0] = exp(b) + log(fabs(b) + 1) + pow(b * b + 1, 1.5) + sqrt(b * b);
    td[1] = sin(b) * cos(b) + tanh(b) + erf(b) + floor(b) - ceil(b) + trunc(b) + rint(b);
    td[2] = fmax(b, 0.25) + fmin(b, a) + fmod(b, 0.3) + cbrt(b);
    td[3] = modf(b, &whole) + whole * 2;
    td[4] = frexp(b, &e) + ldexp(b, e);
    td[5] = __hiloint2double(__double2hiint(b), __double2loint(b) ^ 1);
    td[6] = __longlong_as_double(__double_as_longlong(b) + 1) + __dadd_rn(b, 1.0) * rsqrt(b * b + 1);
    td[7] = (double)a + 0.1f + 0.1 + (b > a);
    td[8] = std::max(b, 0.5) + abs(b) + fabs(a);
    td[9] = (float)b * (i & 1 ? 2 : 0.5f);
}

// Apart, since a launch with infinities, which lines above ask for, would not count here: they fit no integer.
__global__ void conversions(const float *x, const double *y, double *d, int *k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], p = fabsf(a) + 0.25f;
    double b = y[i];
    d[10 * i] = a + (long long)b;
    k[8 * i] = __float2int_rn(a * 10) + __float2int_rd(a) * 10 + __float2int_ru(a) * 100 + __float2int_rz(a) * 1000;
    k[8 * i + 1] = lrintf(a * 5) + lroundf(a * 5) * 100 + (int)llrint(b) + __double2int_rn(b * 3);
    k[8 * i + 2] = (int)(unsigned char)(p * 20) + (short)(a * 90) + (signed char)i;
    k[8 * i + 3] = (int)(__float2uint_rn(p * 8) + __float2ll_rn(a * 7) + (unsigned)(p * 3));
    k[8 * i + 4] = __float_as_int(a) ^ (int)__float_as_uint(p);
    k[8 * i + 5] = (bool)a + (bool)(i & 2) * 2 + (a ? 4 : 8) + (i % 5 && b) * 16;
}

__global__ void integers(const int *x, int *a, long long *l, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i] * 40503, w = x[n - 1 - i], *to = a + 12 * i;
    unsigned u = (unsigned)v * 2654435761u;
    long long z = (long long)v * w * 100003;
    unsigned long long uz = (unsigned long long)z * 0x9e3779b97f4a7c15ull;
    to[0] = __popcll(uz) + __clzll(z) * 100 + __ffsll(uz) * 10000;
    to[1] = (int)__brevll(uz) + __clz(0) + __ffs(0);
    to[2] = __mul24(v, w) + __sad(v, w, 3u) + __hadd(v, w) * 3 + __rhadd(v, w);
    to[3] = __funnelshift_l(u, v, w) ^ __funnelshift_r(u, v, w) ^ __funnelshift_lc(u, v, 40) ^ __funnelshift_rc(v, u, 3);
    to[4] = __dp4a(v, w, 5) + (int)__byte_perm(u, v, 0x7531 + (w & 7));
    to[5] = min(v, w) + max(v, 3) + abs(v) + (int)min(u, 77u) + (int)umax(u, 5u);
    to[6] = std::min(v, w) * 3 - std::max(w, -2);
    to[7] = v / 7 + v % 7 + (v >> 3) + (v << 2) + (int)(u >> 5) + (int)(u / 9) + (int)(u % 9);
    to[8] = (v ^ w) | (~v & 0xff00ff) | (v && w) | (v || w);
    to[9] = (short)v * (unsigned short)w + (signed char)v - (unsigned char)w;
    to[10] = v == w || v < (int)u, to[10] += (u < 5u) + (z > uz) + (v > 2u);
    to[11] = -v + +w + ~u + !u;
    l[4 * i] = __mul64hi(z, (long long)uz) + llabs(z) + min(z, 5ll) + max(uz, 9ull);
    l[4 * i + 1] = z / 1000 + z % 1000 + (z >> 7) + (long long)(uz >> 9) + (z << (w & 31));
    l[4 * i + 2] = (long long)(uz / 11 + uz % 13) + u + v;
    l[4 * i + 3] = i * 4294967296ll - (w > 40 ? (-9223372036854775807ll - 1) : 5) + 0x80000000 + 2147483648u;
}

template <class T> T *fresh(int n, unsigned seed, double scale) {
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    for (int i = 0; i < n; ++i) seed = seed * 1664525u + 1013904223u, p[i] = (T)((int)(seed >> 8) % 2001 * scale - 1000 * scale);
    return p;
}

int main() {
    const int n = 75, block = 32, grid = 3;
    float *x = fresh<float>(n, 1, 0.003), *f = fresh<float>(24 * n, 2, 1);
    double *y = fresh<double>(n, 3, 0.002), *d = fresh<double>(10 * n, 4, 1);
    int *k = fresh<int>(12 * n, 5, 1), *v = fresh<int>(n, 6, 1);
    long long *l = fresh<long long>(4 * n, 7, 1);
    mathematics<<<grid, block>>>(x, y, f, d, n);
    conversions<<<grid, block>>>(x, y, d, k, n);
    integers<<<grid, block>>>(v, k, l, n);
    cudaDeviceSynchronize();
    printf("functions %g %d\n", f[0], k[0]);
    return 0;
}
