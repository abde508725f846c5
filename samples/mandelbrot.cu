// mandelbrot: escape times of the Mandelbrot set, an endless loop left by breaks.
#include <cmath>
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

struct View {
    float left, top, step;
    int width, height, limit;
};

// Counts the steps until the point leaves the circle of radius 2. All products stand inside
// fmaf, so that host and device round in the same places.
__global__ void mandelbrot(View view, unsigned short *steps) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= view.width || py >= view.height) return;

    float cx = fmaf((float)px, view.step, view.left);
    float cy = fmaf((float)py, -view.step, view.top);
    float x = 0.0f, y = 0.0f;
    int count = 0;
    while (true) {
        if (fmaf(x, x, y * y) > 4.0f) break;
        if (++count >= view.limit) break;
        float next = fmaf(x, x, fmaf(-y, y, cx));
        y = fmaf(2.0f * x, y, cy);
        x = next;
    }
    steps[py * view.width + px] = (unsigned short)count;
}

static int escape_host(float cx, float cy, int limit) {
    float x = 0.0f, y = 0.0f;
    for (int count = 0; count < limit; count++) {
        if (fmaf(x, x, y * y) > 4.0f) return count;
        float next = fmaf(x, x, fmaf(-y, y, cx));
        y = fmaf(x + x, y, cy);
        x = next;
    }
    return limit;
}

int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 101;
    if (width < 2 || width > 10000) {
        fprintf(stderr, "usage: %s [width between 2 and 10000]\n", argv[0]);
        return 1;
    }
    View view;
    view.width = width;
    view.height = width * 2 / 3;
    view.left = -2.1f;
    view.step = 3.0f / (float)width;
    view.top = 1.0f;
    view.limit = 100;
    const int pixels = view.width * view.height;

    unsigned short *d_steps;
    CUDA_CHECK(cudaMalloc(&d_steps, pixels * sizeof(unsigned short)));
    dim3 block(16, 8);
    dim3 grid((view.width + block.x - 1) / block.x, (view.height + block.y - 1) / block.y);
    mandelbrot<<<grid, block>>>(view, d_steps);
    CUDA_CHECK(cudaGetLastError());
    std::vector<unsigned short> steps(pixels);
    CUDA_CHECK(cudaMemcpy(steps.data(), d_steps, pixels * sizeof(unsigned short),
                          cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_steps));

    int wrong = 0, inside = 0;
    long long total = 0;
    for (int py = 0; py < view.height; py++) {
        for (int px = 0; px < view.width; px++) {
            float cx = fmaf((float)px, view.step, view.left);
            float cy = fmaf((float)py, -view.step, view.top);
            int want = escape_host(cx, cy, view.limit);
            int got = steps[py * view.width + px];
            if (got != want) wrong++;
            if (got == view.limit) inside++;
            total += got;
        }
    }
    printf("mandelbrot: %d x %d, %d points inside, %lld steps, %d wrong\n", view.width, view.height,
           inside, total, wrong);
    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? 0 : 1;
}
