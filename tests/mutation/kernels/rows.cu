// Pointers and references to arrays: parameters, helpers' parameters, arithmetic in rows.
#include <cstdio>
#include <cuda_runtime.h>

__device__ float dot(const float (&row)[3], float x, float y) { return row[0] * x + row[1] * y + row[2]; }
__device__ void fill(float (*rows)[3], int i) { for (int j = 0; j < 3; ++j) rows[i][j] = i + 0.5f * j; }
__device__ void scale(float (&row)[3], float by) { for (int j = 0; j < 3; ++j) row[j] *= by; }
__device__ void turn(float (&m)[2][2]) { float t = m[0][1]; m[0][1] = m[1][0], m[1][0] = t; }
__device__ float last(float (*rows)[3]) { float (*p)[3] = rows + 2; return (*p)[2] + (float)(p - rows); }

__global__ void twice(const float (*a)[12], float (*b)[12], int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < 12) b[i][j] = 2.0f * a[i][j];
}

__global__ void planes(const float (*a)[3][4], float (*b)[4][3], int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float (*plane)[4] = a[i];
    for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 4; ++k) b[i][k][j] = plane[j][k] + 1;
}

__global__ void moved(const float (*a)[12], float (*b)[12], int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    const float (*from)[12] = a;
    if (i >= n || j >= 12) return;
    from += i;
    b[i][j] = from[0][j] + (float)(from - a);
}

__global__ void references(const float (*a)[12], float (*b)[12], int n) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    float m[3][3], q[2][2] = {{1, 2}, {3, 4}};
    if (i >= n || j >= 12) return;
    for (int r = 0; r < 3; ++r) fill(m, r);
    scale(m[1], a[i][j]);
    q[0][1] = a[i][j];
    turn(q);
    b[i][j] = dot(m[0], a[i][j], 2) + dot(m[1], 1, a[i][j]) + q[1][0] + last(m);
}

int main() {
    const int n = 21;
    float (*a)[12], (*b)[12];
    cudaMallocManaged(&a, n * 48), cudaMallocManaged(&b, n * 48);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < 12; ++j) a[i][j] = i * 0.5f + j;
    const dim3 grid(2, 3), block(8, 8);
    twice<<<grid, block>>>(a, b, n);
    planes<<<3, 8>>>((const float (*)[3][4])a, (float (*)[4][3])b, n);
    moved<<<grid, block>>>(a, b, n);
    references<<<grid, block>>>(a, b, n);
    cudaDeviceSynchronize();
    printf("rows %g\n", b[3][4]);
    return 0;
}
