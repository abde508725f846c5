// jacobi: the Laplace equation on a grid, iterated by the host until nothing moves any more.
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

// One sweep over the interior. The largest change of the sweep is kept as the bits of a
// non-negative float, which compare as integers do.
__global__ void jacobi_sweep(const float *old_grid, float *new_grid, int rows, int cols,
                             int *largest_change) {
    int col = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int row = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (row >= rows - 1 || col >= cols - 1) return;

    int at = row * cols + col;
    float mean = 0.25f * (old_grid[at - cols] + old_grid[at + cols] + old_grid[at - 1] +
                          old_grid[at + 1]);
    float change = fabsf(mean - old_grid[at]);
    new_grid[at] = mean;
    atomicMax(largest_change, __float_as_int(change));
}

// The left side is held at 1, the lower side rises from 0 to 2, everything else starts at 0.
static std::vector<float> starting_grid(int rows, int cols) {
    std::vector<float> grid(rows * cols, 0.0f);
    for (int row = 0; row < rows; row++) grid[row * cols] = 1.0f;
    for (int col = 0; col < cols; col++) {
        grid[(rows - 1) * cols + col] = 2.0f * (float)col / (float)(cols - 1);
    }
    return grid;
}

// Returns the number of sweeps; the result is left in grid.
static int solve_host(std::vector<float> &grid, int rows, int cols, float tolerance, int limit) {
    std::vector<float> next = grid;
    for (int sweep = 1; sweep <= limit; sweep++) {
        float largest = 0.0f;
        for (int row = 1; row < rows - 1; row++) {
            for (int col = 1; col < cols - 1; col++) {
                int at = row * cols + col;
                next[at] = 0.25f * (grid[at - cols] + grid[at + cols] + grid[at - 1] +
                                    grid[at + 1]);
                largest = fmaxf(largest, fabsf(next[at] - grid[at]));
            }
        }
        grid.swap(next);
        if (largest < tolerance) return sweep;
    }
    return limit;
}

int main(int argc, char **argv) {
    int cols = argc > 1 ? atoi(argv[1]) : 27;
    if (cols < 3 || cols > 2000) {
        fprintf(stderr, "usage: %s [columns between 3 and 2000]\n", argv[0]);
        return 1;
    }
    const int rows = cols * 3 / 4 + 2, limit = 500;
    const float tolerance = 1e-3f;
    const size_t bytes = (size_t)rows * cols * sizeof(float);

    std::vector<float> want = starting_grid(rows, cols), got(rows * cols);
    float *d_old, *d_new;
    int *d_change;
    CUDA_CHECK(cudaMalloc(&d_old, bytes));
    CUDA_CHECK(cudaMalloc(&d_new, bytes));
    CUDA_CHECK(cudaMalloc(&d_change, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_old, want.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_new, d_old, bytes, cudaMemcpyDeviceToDevice));

    dim3 block(8, 8);
    dim3 grid((cols - 2 + block.x - 1) / block.x, (rows - 2 + block.y - 1) / block.y);
    float change = tolerance;
    int sweeps = 0;
    while (change >= tolerance && sweeps < limit) {
        CUDA_CHECK(cudaMemset(d_change, 0, sizeof(int)));
        jacobi_sweep<<<grid, block>>>(d_old, d_new, rows, cols, d_change);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&change, d_change, sizeof(float), cudaMemcpyDeviceToHost));
        float *swap = d_old;
        d_old = d_new;
        d_new = swap;
        sweeps++;
    }
    CUDA_CHECK(cudaMemcpy(got.data(), d_old, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_old));
    CUDA_CHECK(cudaFree(d_new));
    CUDA_CHECK(cudaFree(d_change));

    int want_sweeps = solve_host(want, rows, cols, tolerance, limit);
    int wrong = 0;
    for (int i = 0; i < rows * cols; i++) {
        if (!(fabsf(got[i] - want[i]) <= 1e-5f)) wrong++;
    }
    bool pass = wrong == 0 && sweeps == want_sweeps;
    printf("jacobi: %d x %d, %d sweeps (expected %d), %d wrong\n", rows, cols, sweeps, want_sweeps,
           wrong);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
