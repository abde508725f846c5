// Loops of every form, switches, early returns, device functions, templates, functors and lambdas.
#include <cstdio>
#include <cuda_runtime.h>

#define STEPS 5

__device__ int collatz(int x) {
    int steps = 0;
    while (x > 1) {
        if (x % 2 == 0) x /= 2;
        else x = 3 * x + 1;
        if (++steps > 40) break;
    }
    return steps;
}

__device__ int choose(int kind, int x) {
    switch (kind) {
    case 0: return x;
    case 1: x += 10; // falls through
    case 2: x *= 3; break;
    default: x -= 7;
    case 7: x ^= 5; break;
    case 4:
    case 5: {
        int y = x + 1;
        x = y * y;
    }
    }
    return x;
}

__device__ void divide(int a, int b, int *quotient, int &rest) {
    *quotient = a / b;
    rest = a % b;
}

__global__ void loops(const int *a, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *to = out + 12 * i, x = a[i], sum = 0;
    for (int k = 0; k < STEPS; ++k) sum += k * x;
    to[0] = sum;
    for (int k = STEPS; k > 0; k -= 2) sum -= k;
    to[1] = sum;
    for (int k = 1; k <= 100; k *= 3) sum += k;
    to[2] = sum;
    int k = 0;
    do {
        sum += k;
        if (k == x) continue;
        sum ^= 3;
    } while (++k < 6);
    to[3] = sum;
    for (int r = 0; r < 4; r++) {
        for (int c = r; c < 4; c++) {
            if (c == 2) continue;
            if (r + c > 5) break;
            sum += r * 10 + c;
        }
        if (sum > 90) break;
    }
    to[4] = sum;
    while (true) {
        if (sum < 50) break;
        sum -= 37;
    }
    to[5] = sum;
    for (int p = 0, q = 10; p < q; ++p, --q) sum += p * q;
    to[6] = sum;
    for (unsigned s = 16; s != 0; s >>= 1) sum = sum * 2 + (x & s ? 1 : 0);
    to[7] = sum;
    to[8] = collatz(x < 0 ? -x : x);
    to[9] = choose(x & 7, x);
    int quotient, rest;
    divide(x, 7, &quotient, rest);
    to[10] = quotient * 100 + rest;
    int found = -1;
    for (int j = 0; j < n && found < 0; ++j)
        if (a[j] == x) found = j;
    to[11] = found;
}

__global__ void guards(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        if (v < -1.0f) {
            y[i] = -1.0f;
            return;
        }
        if (v > 1.0f) y[i] = 1.0f;
        else if (v > 0.0f) y[i] = v * v;
        else {
            y[i] = v * 0.5f;
            if (i % 3 == 0 || v == 0.0f) y[i] += 10.0f;
        }
    }
}

struct Affine {
    float a, b;
    __device__ float operator()(float x) const { return a * x + b; }
};
template <class T> struct Clamp {
    T low, high;
    __device__ T operator()(T x) const { return x < low ? low : x > high ? high : x; }
};
template <class F, class G> struct Chain {
    F f;
    G g;
    __device__ float operator()(float x) const { return g(f(x)); }
};

template <int N, class T, class F> __global__ void apply(const T *x, T *y, int n, F f) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * N;
    #pragma unroll
    for (int k = 0; k < N; ++k)
        if (i + k < n) y[i + k] = f(x[i + k]);
}

int main(int argc, char **) {
    const int n = 75, block = 32, grid = 3;
    int *a, *out;
    float *x, *y;
    cudaMallocManaged(&a, n * 4), cudaMallocManaged(&out, 12 * n * 4);
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&y, n * 4);
    unsigned seed = 7;
    for (int i = 0; i < n; ++i) {
        seed = seed * 1664525u + 1013904223u;
        a[i] = (int)(seed >> 20) % 60 - 20;
        x[i] = ((int)(seed >> 12) % 1000 - 500) * 0.004f;
    }
    x[3] = 0.0f;
    loops<<<grid, block>>>(a, out, n);
    guards<<<grid, block>>>(x, y, n);
    apply<1><<<grid, block>>>(x, y, n, Affine{2.0f, -1.0f});
    apply<2><<<2, block>>>(x, y, n, Chain<Affine, Clamp<float>>{{3.0f, 0.5f}, {-1.0f, 2.0f}});
    apply<1><<<grid, block>>>(a, out, n, Clamp<int>{-5, 20});
    float shift = 0.25f * argc;
    apply<1><<<grid, block>>>(x, y, n, [=] __device__(float v) { return v * shift - 1.0f; });
    cudaDeviceSynchronize();
    printf("control %d\n", out[0]);
    return 0;
}
