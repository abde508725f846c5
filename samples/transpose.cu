// transpose: a matrix transposed element by element, and through padded tiles in shared memory.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

constexpr int TILE = 32;
constexpr int ROWS_PER_PASS = 8;

// in is height x width, out is width x height.
__global__ void transpose_plain(const int *in, int *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        out[x * height + y] = in[y * width + x];
    }
}

// A block of 32 x 8 threads moves a tile of 32 x 32 elements. The extra column keeps the
// column-wise reads of the tile free of bank conflicts.
__global__ void transpose_tiled(const int *__restrict__ in, int *__restrict__ out, int width,
                                int height) {
    __shared__ int tile[TILE][TILE + 1];

    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS_PER_PASS) {
        if (x < width && y + row < height) {
            tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
        }
    }
    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS_PER_PASS) {
        if (x < height && y + row < width) {
            out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
        }
    }
}

static int count_wrong(const std::vector<int> &in, const std::vector<int> &out, int width,
                       int height) {
    int wrong = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (out[x * height + y] != in[y * width + x]) wrong++;
        }
    }
    return wrong;
}

int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 101;
    if (width < 1 || width > 8000) {
        fprintf(stderr, "usage: %s [width between 1 and 8000]\n", argv[0]);
        return 1;
    }
    const int height = width - width / 3;
    const size_t bytes = (size_t)width * height * sizeof(int);

    std::vector<int> in(width * height), out(width * height);
    for (int i = 0; i < width * height; i++) in[i] = i * 3 + 1;

    int *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, bytes));
    CUDA_CHECK(cudaMalloc(&d_out, bytes));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));

    CUDA_CHECK(cudaMemset(d_out, 0, bytes));
    dim3 plain_block(16, 16);
    dim3 plain_grid((width + 15) / 16, (height + 15) / 16);
    transpose_plain<<<plain_grid, plain_block>>>(d_in, d_out, width, height);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    int wrong_plain = count_wrong(in, out, width, height);

    CUDA_CHECK(cudaMemset(d_out, 0, bytes));
    dim3 tiled_block(TILE, ROWS_PER_PASS);
    dim3 tiled_grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    transpose_tiled<<<tiled_grid, tiled_block>>>(d_in, d_out, width, height);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    int wrong_tiled = count_wrong(in, out, width, height);

    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));

    bool pass = wrong_plain == 0 && wrong_tiled == 0;
    printf("transpose: %d x %d, %d wrong plain, %d wrong tiled\n", height, width, wrong_plain,
           wrong_tiled);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
