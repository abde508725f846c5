// matmul_shared: C = A * B for row-major matrices, plain and with tiles staged in shared memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define TILE 16

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

// A is M x K, B is K x N, C is M x N. One thread computes one element of C.
__global__ void matmul_plain(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}

// The block walks along K in steps of TILE. Outside the matrices the tiles hold zeros, so that
// all threads of a ragged block reach every barrier.
__global__ void matmul_shared(const float *__restrict__ A, const float *__restrict__ B,
                              float *__restrict__ C, int M, int N, int K) {
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;

    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        tile_a[ty][tx] = (row < M && start + tx < K) ? A[row * K + start + tx] : 0.0f;
        tile_b[ty][tx] = (start + ty < K && col < N) ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();
    }

    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}

static int count_wrong(const std::vector<float> &got, const std::vector<float> &want) {
    int wrong = 0;
    for (size_t i = 0; i < want.size(); i++) {
        if (!(fabsf(got[i] - want[i]) <= 1e-4f * (1.0f + fabsf(want[i])))) wrong++;
    }
    return wrong;
}

int main(int argc, char **argv) {
    int size = argc > 1 ? atoi(argv[1]) : 45;
    if (size < 1 || size > 4096) {
        fprintf(stderr, "usage: %s [rows between 1 and 4096]\n", argv[0]);
        return 1;
    }
    const int M = size, N = size + 26, K = size + 8;

    std::vector<float> A(M * K), B(K * N), want(M * N), got(M * N);
    for (int i = 0; i < M * K; i++) A[i] = 0.125f * (float)(i % 23) - 1.0f;
    for (int i = 0; i < K * N; i++) B[i] = 0.0625f * (float)(i % 31) - 0.5f;
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < K; k++) sum += (double)A[i * K + k] * B[k * N + j];
            want[i * N + j] = (float)sum;
        }
    }

    float *d_A, *d_B, *d_C;
    CUDA_CHECK(cudaMalloc(&d_A, A.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_B, B.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_C, want.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_A, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_B, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    int wrong[2];
    for (int version = 0; version < 2; version++) {
        CUDA_CHECK(cudaMemset(d_C, 0, want.size() * sizeof(float)));
        if (version == 0) {
            matmul_plain<<<grid, block>>>(d_A, d_B, d_C, M, N, K);
        } else {
            matmul_shared<<<grid, block>>>(d_A, d_B, d_C, M, N, K);
        }
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(got.data(), d_C, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
        wrong[version] = count_wrong(got, want);
    }

    CUDA_CHECK(cudaFree(d_A));
    CUDA_CHECK(cudaFree(d_B));
    CUDA_CHECK(cudaFree(d_C));

    bool pass = wrong[0] == 0 && wrong[1] == 0;
    printf("matmul_shared: %d x %d x %d, %d wrong plain, %d wrong tiled\n", M, N, K, wrong[0],
           wrong[1]);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
