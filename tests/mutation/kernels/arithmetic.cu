// C's arithmetic: promotions, signs, widths, compound assignments, side effects inside expressions.
#include <cstdio>
#include <cuda_runtime.h>

#define SCALE 3
#define SQUARE(x) ((x) * (x))
enum Mode { FIRST = 2, SECOND = 5 };
constexpr int kShift = 4;

__global__ void integers(const int *a, const int *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i];
    int *to = out + i * 24;
    to[0] = x + y * SCALE - 7;
    to[1] = y != 0 ? x / y : -1;
    to[2] = y != 0 ? x % y : x;
    to[3] = (x << 3) ^ (y >> 2);
    to[4] = ~x & y | x & ~y;
    to[5] = x < y, to[6] = x <= y && y != 0 || x == 5;
    to[7] = !x + !!y;
    to[8] = -x;
    to[9] = SQUARE(x - 1) - FIRST * SECOND + kShift;
    int k = 0;
    to[10] = k++ + ++k * 10;
    to[11] = k-- - --k;
    x += y, x -= 3, x *= 5;
    to[12] = x;
    x |= 12, x ^= y, x &= 0xffff;
    to[13] = x;
    x <<= 2, x >>= 1;
    to[14] = x;
    x /= 7;
    x %= 100;
    to[15] = x;
    to[16] = (a[i] > 0) ? (b[i] > 0 ? 1 : 2) : 3;
    to[17] = max(a[i], b[i]) - min(a[i], 4) + abs(b[i]);
    to[18] = a[i] == b[i] ? 1 : a[i] != 3;
    int first, second;
    first = second = a[i] * 2;
    to[19] = first + second;
    to[20] = (a[i] >= 0 && b[i] / (a[i] + 1) > 2);
    bool flag = a[i] & 1;
    flag |= b[i] > 20;
    to[21] = flag ? true + true : false;
    to[22] = (first -= 1, first * second);
    to[23] = sizeof(int) * i + sizeof(double);
}

__global__ void widths(const int *a, const unsigned *b, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long *to = out + i * 20;
    signed char c = (signed char)a[i];
    unsigned char uc = (unsigned char)a[i];
    short s = (short)(a[i] * 1000);
    unsigned short us = (unsigned short)(a[i] * 1000);
    unsigned u = b[i];
    long long l = (long long)a[i] * 3000000000LL;
    unsigned long long ul = (unsigned long long)a[i] + u;
    to[0] = c, to[1] = uc, to[2] = s, to[3] = us;
    to[4] = u + a[i];
    to[5] = u > a[i];
    to[6] = u / 3u - u % 7u;
    to[7] = l / 7 + l % 1000;
    to[8] = (long long)(ul >> 3);
    to[9] = c * uc + s * us;
    to[10] = (unsigned char)(uc + 200);
    to[11] = (short)(s + 30000);
    to[12] = u >> (a[i] & 31), to[13] = (int)u >> 5;
    c += 100, uc -= 9, us <<= 3, s /= 3;
    to[14] = c + uc * 256LL, to[15] = us - s;
    to[16] = (a[i] < 0) == (u > 2147483648u);
    to[17] = -u;
    to[18] = (int)(a[i] * 0x9e3779b9u);
    to[19] = (long long)1 << (i & 63);
}

__global__ void floats(const float *x, const double *y, float *f, double *d, int *n, int count) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < count) {
        float a = x[i];
        double b = y[i];
        float *to = f + i * 16;
        to[0] = a * 2.5f + 1.0f / 3.0f;
        to[1] = a / (1.0f + a * a);
        to[2] = (float)(a * b);
        to[3] = a + 0.1;
        to[4] = -a - (a - 1.0f);
        to[5] = sqrtf(fabsf(a)) + expf(-a) * sinf(a);
        to[6] = fmaf(a, a, 0.7f), to[7] = a * a + 0.7f;
        to[8] = fmaxf(a, 0.0f) - fminf(a, 1.0f);
        to[9] = floorf(a * 3) + ceilf(a) + truncf(a) + rintf(a * 5);
        to[10] = powf(fabsf(a) + 0.5f, 1.5f);
        to[11] = i;
        to[12] = i / 2 + i / 2.0f;
        to[13] = copysignf(2.0f, a) + (a < 0.5f ? 1 : a);
        a *= 3, a -= 0.25f, a /= 7.0f;
        to[14] = a;
        to[15] = ((a + 1e8f) - 1e8f) + (a > b);
        d[i] = b * b - a / b + sqrt(fabs(b)) + exp2(b) + log(1.0 + b * b) + fma(b, b, -1.0);
        n[i * 4] = (int)(a * 100), n[i * 4 + 1] = (int)b * 10;
        n[i * 4 + 2] = (a > 0) + (b != 0) * 2 + (a == x[i]) * 4;
        n[i * 4 + 3] = __float2int_rn(x[i] * 10) + isnan(a) + __float_as_int(x[i]) % 1000;
    }
}

__global__ void bits(const unsigned *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = a[n - 1 - i], *to = out + 10 * i;
    to[0] = __popc(x) + 100 * __clz(x) + 10000 * __ffs(y);
    to[1] = __brev(x);
    to[2] = __umulhi(x, y), to[3] = __byte_perm(x, y, 0x5140);
    to[4] = __funnelshift_l(x, y, 7);
    to[5] = __mulhi((int)x, (int)y);
    to[6] = (x >> 16 & 0xff) << 8 | x >> 24;
    to[7] = __float_as_uint(__uint_as_float(x & 0x3fffffff) + 1.0f);
    to[8] = (unsigned)(__umul24(x, y) + __usad(x, y, 5));
    to[9] = x / (y | 1) + x % (y | 1);
}

template <class T> T *fresh(int n, unsigned seed, double scale) {
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    for (int i = 0; i < n; ++i) seed = seed * 1664525u + 1013904223u, p[i] = (T)((int)(seed >> 8) % 2001 * scale - 1000 * scale);
    return p;
}

int main() {
    const int n = 75, block = 32, grid = 3;
    int *a = fresh<int>(n, 1, 0.05), *b = fresh<int>(n, 2, 0.03), *out = fresh<int>(24 * n, 3, 1), *m = fresh<int>(4 * n, 4, 1);
    unsigned *u = (unsigned *)fresh<int>(n, 5, 2000000), *v = (unsigned *)fresh<int>(10 * n, 6, 1);
    long long *l = fresh<long long>(20 * n, 7, 1);
    float *x = fresh<float>(n, 8, 0.003), *f = fresh<float>(16 * n, 9, 1);
    double *y = fresh<double>(n, 10, 0.002), *d = fresh<double>(n, 11, 1);
    integers<<<grid, block>>>(a, b, out, n);
    widths<<<grid, block>>>(a, u, l, n);
    floats<<<grid, block>>>(x, y, f, d, m, n);
    bits<<<grid, block>>>(u, v, n);
    cudaDeviceSynchronize();
    printf("arithmetic %d\n", out[0]);
    return 0;
}
