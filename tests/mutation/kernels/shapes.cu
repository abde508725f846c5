// Lifts whose indices need facts: clamps, quotients and remainders, halves of arrays, bounds from both sides.
#include <cstdio>
#include <cuda_runtime.h>

#define W 20
#define H 15

__global__ void clamped(const float *a, float *b) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) {
        int left = max(x - 1, 0), right = min(x + 1, W - 1), up = y > 0 ? y - 1 : 0;
        b[y * W + x] = a[y * W + left] - a[y * W + right] * 2 + a[up * W + x];
    }
}

__global__ void quotients(const int *a, int *b, int width, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) {
        int row = i / W, column = i % W;
        b[i] = a[row * W + (W - 1 - column)] + (i << 2) - row * 8 + column % 3;
    }
}

__global__ void distances(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) a[i] = a[i + n / 2] - a[i];
}

__global__ void evens(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[2 * i] = a[2 * i + 1] * 0.5f;
}

__global__ void inner_part(const float *a, float *b, int n, int border, int on) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (on > 2) {
        if (i >= border && i < n - border) {
            b[i] = a[i - border] + a[i + border];
        }
    }
}

__global__ void one_row(float *a, int columns, int row) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i == row && j < columns) a[i * columns + j] *= 2.0f;
}

__global__ void parameter_loops(const int *a, int *b, int rows, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        int sum = 0;
        for (k = 0; k < 6; k++) sum += a[i * 6 + k];
        for (k = 5; 0 <= k; k--) sum = sum * 2 - a[i * 6 + k];
        for (k = 1; 4 >= k; k += 2) sum ^= k;
        b[i] = sum;
    }
}

__global__ void negated(const float *a, const int *c, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!(i >= n)) {
        float v = 4 - a[i] * -2;
        if (!(c[i] > 3 && v > 0.0f) && !(c[i] == 7)) v = v - 16777219;
        b[i] = (float)(3 * 7) * v + -1 + (1 - (-v));
    }
}

__global__ void orders(const float *a, const float *x, float *y, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        float sum = 1.0f, product = 1.0f, both = 0;
        for (int k = 0; k < columns; k++) sum = a[i * columns + k] * x[k] + sum;
        for (int k = 0; k < columns; k++) product = product * (1 + a[i * columns + k] * 0.01f);
        for (int k = 0; k < columns; k++) {
            float left = a[i * columns + k], right = x[k];
            both = both + left + right;
        }
        for (int k = 0; k < columns; k++) sum -= x[k];
        y[i] = sum * product - both;
    }
}

__global__ void serial_product(const float *a, const float *b, float *c, int n) {
    if (threadIdx.x + blockIdx.x * blockDim.x == 0) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) c[i * n + j] = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

__global__ void row_product(const double *a, const double *b, double *c, int m, int n, int p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    for (int k = 0; k < p; k++)
        for (int j = 0; j < n; j++) c[i * n + j] = c[i * n + j] + b[k * n + j] * a[i * p + k];
}

__global__ void pitched(const char *base, float *out, size_t pitch, int width, int height) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x < width && y < height) {
        const float *row = (const float *)(base + y * pitch);
        out[y * width + x] = row[x] + 1;
    }
}

__global__ void constant_blocks(float *a, int n) {
    int i = blockIdx.x * 4 + threadIdx.x;
    if (i < n) a[i] = a[i] * a[i];
}

__global__ void swapped(float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float first = a[i];
        a[i] = b[i] * 2;
        b[i] = first;
    }
}

__global__ void minima(const double *a, const int *v, double *least, unsigned *words, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        double low = 1e9, high = -1e9;
        unsigned ones = 0, all = ~0u;
        bool any = false;
        for (int k = 0; k < W; k++) {
            low = fmin(low, a[i * W + k]);
            high = fmax(high, a[i * W + k]);
            ones |= (unsigned)v[i * W + k];
            all &= (unsigned)v[i * W + k];
            any = any || v[i * W + k] == 9;
        }
        least[2 * i] = low, least[2 * i + 1] = high + any;
        words[2 * i] = ones, words[2 * i + 1] = all;
    }
}

int main() {
    const int n = 700;
    float *x, *y, *z;
    double *d, *e, *f;
    int *a, *b;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&y, n * 4), cudaMallocManaged(&z, n * 4);
    cudaMallocManaged(&d, n * 8), cudaMallocManaged(&e, n * 8), cudaMallocManaged(&f, n * 8);
    cudaMallocManaged(&a, n * 4), cudaMallocManaged(&b, n * 4);
    for (int i = 0; i < n; ++i) {
        x[i] = (i * 17 % 41) * 0.05f - 0.8f, y[i] = (i * 7 % 29) * 0.11f - 1, z[i] = 0.01f * i;
        d[i] = x[i] / 3, e[i] = y[i] / 7, f[i] = i, a[i] = i * 13 % 19 - 4, b[i] = i;
    }
    clamped<<<dim3(3, 4), dim3(8, 4)>>>(x, z);
    quotients<<<10, 32>>>(a, b, W, W * H);
    distances<<<4, 32>>>(y, 201);
    evens<<<4, 32>>>(z, 100);
    inner_part<<<4, 32>>>(x, y, 120, 3, 5);
    inner_part<<<4, 32>>>(x, y, 120, 3, 1);
    one_row<<<dim3(4, 4), dim3(8, 4)>>>(x, 27, 11);
    parameter_loops<<<3, 32>>>(a, b, 75, 0);
    negated<<<4, 32>>>(x, a, y, 101);
    orders<<<2, 16>>>(x, y, z, 23, 17);
    serial_product<<<1, 32>>>(x, y, z, 21);
    row_product<<<2, 16>>>(d, e, f, 22, 19, 13);
    pitched<<<dim3(3, 4), dim3(8, 4)>>>((const char *)x, z, 100, 23, 14);
    constant_blocks<<<28, 4>>>(x, 111);
    swapped<<<4, 32>>>(x, y, 109);
    minima<<<2, 16>>>(d, a, e, (unsigned *)b, 27);
    cudaDeviceSynchronize();
    printf("shapes %g %d\n", z[1], b[0]);
    return 0;
}
