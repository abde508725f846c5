// hello: the smallest kernels. Every thread leaves its own number, one thread speaks.
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

// One thread, no argument: the classic first program.
__global__ void hello() {
    printf("Hello, world! This is block %d of %d, thread %d of %d.\n", (int)blockIdx.x,
           (int)gridDim.x, (int)threadIdx.x, (int)blockDim.x);
}

// Many threads: each writes the square of its index. Output of several threads comes in no
// fixed order, so only the one that holds the last index prints.
__global__ void roll_call(int *squares, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    squares[i] = i * i;
    if (i == n - 1) {
        printf("The last of %d is thread %u of block %u; %.1f %% of the grid had work.\n", n,
               threadIdx.x, blockIdx.x, 100.0 * n / (gridDim.x * blockDim.x));
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 77;
    if (n < 1 || n > 40000) {
        fprintf(stderr, "usage: %s [count between 1 and 40000]\n", argv[0]);
        return 1;
    }

    hello<<<1, 1>>>();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    int *d_squares;
    CUDA_CHECK(cudaMalloc(&d_squares, n * sizeof(int)));
    const int block = 32;
    roll_call<<<(n + block - 1) / block, block>>>(d_squares, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    std::vector<int> squares(n);
    CUDA_CHECK(cudaMemcpy(squares.data(), d_squares, n * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_squares));

    int wrong = 0;
    for (int i = 0; i < n; i++) {
        if (squares[i] != i * i) wrong++;
    }
    printf("hello: %d threads answered, %d wrong\n", n, wrong);
    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? 0 : 1;
}
