// What lifting has to see through: counted loops, helpers, strides, bases, guards of other forms, folds.
#include <cstdio>
#include <cuda_runtime.h>

#define M 19
#define N 23
#define TILE 8

__device__ float weight(float x, int k) {
    if (k > 2) return x * k;
    return x - k;
}
__device__ void both(float x, float *sum, float *product) {
    *sum += x;
    *product *= x;
}
__device__ int clamp_to(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

__global__ void counted(const float *a, float *b, int rows, int columns) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    int k;
    if (i < rows) {
        float sum = 0, product = 1;
        for (k = 0; k < columns; k++) sum += a[i * columns + k];
        for (k = columns - 1; k >= 0; k--) both(a[i * columns + k] * 0.125f, &sum, &product);
        k = 1;
        while (k <= 3) {
            sum += weight(a[i * columns + k], k);
            k += 1;
        }
        b[i] = sum + product;
    }
}

__global__ void folds(const int *a, int *least, int *most, double *product, int rows) {
    int i = blockIdx.x * TILE + threadIdx.x;
    if (rows <= i) return;
    int low = a[i * N], high = a[i * N], all = 1;
    double p = 1.0;
    for (int k = 0; k < N; k++) {
        low = min(low, a[i * N + k]);
        high = max(high, a[i * N + k]);
        p *= 1.0 + a[i * N + k] * 0.001;
        if (!(a[i * N + k] > -15)) all = 0;
    }
    least[i] = low + all, most[i] = high, product[i] = p;
}

__global__ void windows(const float *a, float *b) {
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if ((i < M - 1) && (j < N - 1)) {
        float sum = 0.0f;
        for (int di = -1; di <= 1; di++)
            for (int dj = -1; dj <= 1; dj++) sum += a[(i + di) * N + (j + dj)] * (1 + di * dj);
        b[i * N + j] = sum / 9;
    }
}

__global__ void columns_of(const float *a, float *mean) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N) {
        mean[j] = 0.0f;
        for (int i = 0; i < M; i++) mean[j] += a[i * N + j];
        mean[j] /= M;
        if (mean[j] <= 0.1f) mean[j] = 1.0f;
    }
}

__global__ void strides(const int *a, int *b, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += step) {
        int v = a[n - 1 - i];
        v = clamp_to(v, -3, 12);
        b[i] = v % 2 == 0 ? v : -v;
        if (i > 2) b[i] += a[i - 2];
    }
}

__global__ void two_strides(float *a, int rows, int columns) {
    for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < rows; i += blockDim.y * gridDim.y)
        for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < columns; j += gridDim.x * blockDim.x)
            a[i * columns + j] = a[i * columns + j] * 2 + (i == j ? 1 : 0);
}

__global__ void by_block(const float *a, float *b, int n) {
    const float *row = a + blockIdx.x * n;
    for (int k = threadIdx.x; k < n; k += blockDim.x) b[blockIdx.x * n + k] = row[k] - row[0];
}

__global__ void edges(int *a, int n, int first, int last) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < first || i > last) return;
    if (i == 0 || i == n - 1) {
        a[i] = -1;
        return;
    }
    a[i] = i * i;
}

__global__ void csr(const int *start, const int *column, const double *v, const double *x, double *y, int rows) {
    unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        double sum = 0;
        for (int j = start[r]; j < start[r + 1]; ++j) sum += v[j] * x[column[j]];
        y[r] = sum;
    }
}

__global__ void channels(const float *a, float *b, int batch, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
    if (x < width && y < height && c < batch) {
        size_t at = ((size_t)c * height + y) * width + x;
        float v = a[at];
        for (int k = 0; k < 3; k++) v = v > 1.0f ? v * 0.5f : v + 0.25f * k;
        b[at] = v;
        if (y == 0) b[at] += a[c * height * width + x];
    }
}

__global__ void alone(float *a, int n) {
    if (blockIdx.x * blockDim.x + threadIdx.x == 0)
        for (int i = 1; i < n; ++i) a[i] += a[i - 1];
}

int main() {
    const int n = 600;
    float *x, *y;
    int *a, *b, *c;
    double *d, *e;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&y, n * 4), cudaMallocManaged(&a, n * 4);
    cudaMallocManaged(&b, n * 4), cudaMallocManaged(&c, n * 4), cudaMallocManaged(&d, n * 8), cudaMallocManaged(&e, n * 8);
    for (int i = 0; i < n; ++i) {
        a[i] = i * 31 % 37 - 16, b[i] = i, c[i] = i * 5 % 40, d[i] = 0.3 * (i % 13) - 1;
        x[i] = (i * 17 % 41) * 0.05f - 0.8f, y[i] = 0;
    }
    counted<<<3, 16>>>(x, y, 33, 9);
    folds<<<3, TILE>>>(a, b, b + 30, e, 21);
    windows<<<dim3(3, 4), dim3(8, 5)>>>(x, y);
    columns_of<<<2, 16>>>(x, y + 500);
    strides<<<2, 32>>>(a, b, 150);
    two_strides<<<dim3(2, 2), dim3(8, 4)>>>(x, 19, 29);
    by_block<<<11, 16>>>(x, y, 37);
    edges<<<3, 32>>>(b, 80, 0, 79);
    edges<<<3, 32>>>(b, 80, 3, 70);
    for (int i = 0; i < 41; ++i) b[i] = i * 3 + (i & 1);
    csr<<<3, 16>>>(b, c, d, d, e, 40);
    channels<<<dim3(2, 3, 4), dim3(4, 2)>>>(x, y, 4, 5, 7);
    alone<<<2, 32>>>(x, 50);
    cudaDeviceSynchronize();
    printf("ladder %g %d\n", y[1], b[0]);
    return 0;
}
