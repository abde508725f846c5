// convolution_constant: a 2-D filter in constant memory, clamped borders, and a device variable
// that counts the pixels which saturated.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define RADIUS 2
#define SIDE (2 * RADIUS + 1)

#define CUDA_CHECK(call)                                                                     \
    do {                                                                                     \
        cudaError_t status_ = (call);                                                        \
        if (status_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

__constant__ float filter[SIDE * SIDE];
__constant__ int bias;
__device__ unsigned int saturated;

__device__ __forceinline__ int clamp_index(int i, int n) { return min(max(i, 0), n - 1); }

__global__ void convolve(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    float sum = (float)bias;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int pixel = in[clamp_index(y + dy, height) * width + clamp_index(x + dx, width)];
            sum += filter[(dy + RADIUS) * SIDE + dx + RADIUS] * (float)pixel;
        }
    }

    if (sum < 0.0f || sum > 255.0f) {
        atomicAdd(&saturated, 1u);
        sum = sum < 0.0f ? 0.0f : 255.0f;
    }
    out[y * width + x] = (unsigned char)(sum + 0.5f);
}

static int clamp_host(int i, int n) { return i < 0 ? 0 : (i >= n ? n - 1 : i); }

int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 83;
    if (width < 1 || width > 10000) {
        fprintf(stderr, "usage: %s [width between 1 and 10000]\n", argv[0]);
        return 1;
    }
    const int height = width - width / 4, pixels = width * height;

    // A chequered picture. Weights are multiples of 1/32, so that all sums are exact.
    float weights[SIDE * SIDE];
    for (int k = 0; k < SIDE * SIDE; k++) weights[k] = (float)(k * 5 % 7 - 2) / 32.0f;
    std::vector<unsigned char> in(pixels), out(pixels);
    for (int i = 0; i < pixels; i++) {
        bool bright = (i % width / 9 + i / width / 7) % 2 == 0;
        in[i] = (unsigned char)(bright ? 200 + i * 7 % 56 : i * 3 % 50);
    }

    unsigned char *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, pixels));
    CUDA_CHECK(cudaMalloc(&d_out, pixels));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), pixels, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpyToSymbol(filter, weights, sizeof(weights)));

    dim3 block(16, 16);
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    bool pass = true;
    const int biases[] = {-30, 150};
    for (int offset : biases) {
        unsigned int count = 0;
        CUDA_CHECK(cudaMemcpyToSymbol(bias, &offset, sizeof(offset)));
        CUDA_CHECK(cudaMemcpyToSymbol(saturated, &count, sizeof(count)));
        convolve<<<grid, block>>>(d_in, d_out, width, height);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpyFromSymbol(&count, saturated, sizeof(count)));
        CUDA_CHECK(cudaMemcpy(out.data(), d_out, pixels, cudaMemcpyDeviceToHost));

        int wrong = 0;
        unsigned int want_count = 0;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                double sum = offset;
                for (int k = 0; k < SIDE * SIDE; k++) {
                    int row = clamp_host(y + k / SIDE - RADIUS, height);
                    int col = clamp_host(x + k % SIDE - RADIUS, width);
                    sum += (double)weights[k] * in[row * width + col];
                }
                if (sum < 0.0 || sum > 255.0) want_count++;
                sum = fmin(fmax(sum, 0.0), 255.0);
                if (out[y * width + x] != (unsigned char)(sum + 0.5)) wrong++;
            }
        }
        printf("convolution_constant: %d x %d, bias %d, %u saturated (expected %u), %d wrong\n",
               width, height, offset, count, want_count, wrong);
        pass = pass && wrong == 0 && count == want_count;
    }

    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
