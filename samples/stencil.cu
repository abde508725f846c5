// stencil: a 2-D five-point stencil, plain and with a halo tile in shared memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#define BX 16
#define BY 8

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

// Interior points take a weighted mean of their neighbours; the border stays.
__global__ void stencil_plain(const float *in, float *out, int width, int height, float rate) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    int at = y * width + x;
    if (x == 0 || x == width - 1 || y == 0 || y == height - 1) {
        out[at] = in[at];
        return;
    }
    out[at] = in[at] +
              rate * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width] - 4.0f * in[at]);
}

// Every block loads its tile and one line of halo on each side, then computes from there.
// Beyond the grid the halo repeats the border, whose neighbours are never used.
__global__ void stencil_tiled(const float *__restrict__ in, float *__restrict__ out, int width,
                              int height, float rate) {
    __shared__ float tile[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x;
    int y = blockIdx.y * BY + threadIdx.y;
    int tx = threadIdx.x + 1;
    int ty = threadIdx.y + 1;
    bool inside = x < width && y < height;

    if (inside) {
        tile[ty][tx] = in[y * width + x];
        if (threadIdx.x == 0) tile[ty][0] = in[y * width + max(x - 1, 0)];
        if (threadIdx.x == BX - 1) tile[ty][BX + 1] = in[y * width + min(x + 1, width - 1)];
        if (threadIdx.y == 0) tile[0][tx] = in[max(y - 1, 0) * width + x];
        if (threadIdx.y == BY - 1) tile[BY + 1][tx] = in[min(y + 1, height - 1) * width + x];
    }
    __syncthreads();

    if (!inside) return;
    float centre = tile[ty][tx];
    bool border = x == 0 || x == width - 1 || y == 0 || y == height - 1;
    if (!border) {
        centre += rate * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] +
                          tile[ty + 1][tx] - 4.0f * centre);
    }
    out[y * width + x] = centre;
}

static void stencil_host(const std::vector<float> &in, std::vector<float> &out, int width,
                         int height, float rate) {
    out = in;
    for (int y = 1; y < height - 1; y++) {
        for (int x = 1; x < width - 1; x++) {
            int at = y * width + x;
            float around = in[at - 1] + in[at + 1] + in[at - width] + in[at + width];
            out[at] = in[at] + rate * (around - 4.0f * in[at]);
        }
    }
}

int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 75;
    if (width < 3 || width > 5000) {
        fprintf(stderr, "usage: %s [width between 3 and 5000]\n", argv[0]);
        return 1;
    }
    const int height = width * 2 / 3 + 3, steps = 5;
    const float rate = 0.2f;
    const size_t bytes = (size_t)width * height * sizeof(float);

    std::vector<float> start(width * height), want, next, got(width * height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            start[y * width + x] = (float)((x * 7 + y * 13) % 17) - (x == y ? 40.0f : 0.0f);
        }
    }
    want = start;
    for (int step = 0; step < steps; step++) {
        stencil_host(want, next, width, height, rate);
        std::swap(want, next);
    }

    float *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, bytes));
    CUDA_CHECK(cudaMalloc(&d_out, bytes));
    dim3 block(BX, BY);
    dim3 grid((width + BX - 1) / BX, (height + BY - 1) / BY);
    bool pass = true;
    for (int version = 0; version < 2; version++) {
        CUDA_CHECK(cudaMemcpy(d_in, start.data(), bytes, cudaMemcpyHostToDevice));
        for (int step = 0; step < steps; step++) {
            if (version == 0) {
                stencil_plain<<<grid, block>>>(d_in, d_out, width, height, rate);
            } else {
                stencil_tiled<<<grid, block>>>(d_in, d_out, width, height, rate);
            }
            CUDA_CHECK(cudaGetLastError());
            std::swap(d_in, d_out);
        }
        CUDA_CHECK(cudaMemcpy(got.data(), d_in, bytes, cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int i = 0; i < width * height; i++) {
            if (!(fabsf(got[i] - want[i]) <= 1e-3f)) wrong++;
        }
        printf("stencil: %d x %d, %d steps, %s: %d wrong\n", width, height, steps,
               version == 0 ? "plain" : "tiled", wrong);
        pass = pass && wrong == 0;
    }

    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
