// Expressions that nest deeper than Python's parser goes, names that clash, and constants at the edges.
#include <cfloat>
#include <climits>
#include <cstdio>
#include <cuda_runtime.h>

#define STEP(x) ((x) * 3 + 1)
#define FIVE(x) STEP(STEP(STEP(STEP(STEP(x)))))
#define LONG(x) FIVE(FIVE(FIVE(FIVE(FIVE(FIVE(FIVE(FIVE(x))))))))
#define MANY(x) LONG(x)
#define BOTH(x, y) ((x) > 3 && ((y) < 100 || (x) == 4))
#define HALVE(x) (((x) & 1) ? (x) / 2 : ((x) + 5))

__device__ int chained(int x) { return HALVE(x); }

__global__ void nested(int *a, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a[4 * i] = MANY(x[i]) + chained(x[i]);
    a[4 * i + 1] = i > 0 ? MANY(x[i - 1]) : MANY(x[i]) ^ 5;
    a[4 * i + 2] = BOTH(x[i], MANY(i)) + (i < n - 1 && MANY(x[i + 1]) > 0) + (i < 2 || MANY(x[i - 2]) % 7 > 3);
    while ((MANY(a[4 * i + 3]) & 15) > 3) a[4 * i + 3] += 1;
}

__global__ void range(int *lambda, float *def, double *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int in = lambda[i], f32 = 3;
        {
            int in = 2;
            lambda[i] += in;
        }
        for (int in = 0; in < 2; in++) def[i] += in * f32;
        def[i] += FLT_MAX * 1e-38f + FLT_MIN + 1e-45f;
        lambda[i] += in == 7 ? INT_MAX : in - 2147483647;
        from[i] = DBL_EPSILON + 1e300 * in + LLONG_MIN + 0x1.8p-1070;
    }
}

int main() {
    const int n = 75, block = 32, grid = 3;
    int *a, *x;
    float *f;
    double *d;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&a, 4 * n * 4), cudaMallocManaged(&f, n * 4), cudaMallocManaged(&d, n * 8);
    for (int i = 0; i < n; ++i) x[i] = i * 11 % 61 - 12, f[i] = i * 0.5f, d[i] = i;
    for (int i = 0; i < 4 * n; ++i) a[i] = i * 5 % 23;
    nested<<<grid, block>>>(a, x, n);
    range<<<grid, block>>>(x, f, d, n);
    cudaDeviceSynchronize();
    printf("deep %d %g\n", a[0], f[1]);
    return 0;
}
