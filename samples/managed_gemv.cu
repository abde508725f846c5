// managed_gemv: y = alpha * A * x + beta * y in managed memory, which host and device share.
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

// A is rows x cols, row-major. A pointer walks along the row.
__global__ void gemv(const double *A, const double *x, double *y, int rows, int cols,
                     double alpha, double beta) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const double *element = A + (size_t)row * cols;
    const double *end = element + cols;
    double sum = 0.0;
    while (element != end) {
        sum += *element++ * *x++;
    }
    y[row] = alpha * sum + beta * y[row];
}

// y = alpha * transpose(A) * x + beta * y: one thread a column.
__global__ void gemv_transposed(const double *A, const double *x, double *y, int rows, int cols,
                                double alpha, double beta) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    double sum = 0.0;
    for (int row = 0; row < rows; ++row) sum += A[(size_t)row * cols + col] * x[row];
    y[col] = alpha * sum + beta * y[col];
}

int main(int argc, char **argv) {
    int rows = argc > 1 ? atoi(argv[1]) : 203;
    if (rows < 1 || rows > 5000) {
        fprintf(stderr, "usage: %s [rows between 1 and 5000]\n", argv[0]);
        return 1;
    }
    const int cols = rows - rows / 4, block = 64, rounds = 3;
    const double alpha = 1.5, beta = -0.25;

    double *A, *x, *y;
    CUDA_CHECK(cudaMallocManaged(&A, (size_t)rows * cols * sizeof(double)));
    CUDA_CHECK(cudaMallocManaged(&x, cols * sizeof(double)));
    CUDA_CHECK(cudaMallocManaged(&y, rows * sizeof(double)));
    for (int i = 0; i < rows * cols; i++) A[i] = (double)(i % 37) / 37.0 - 0.5;
    for (int col = 0; col < cols; col++) x[col] = 1.0 / (1.0 + col);
    for (int row = 0; row < rows; row++) y[row] = 0.5 * row;

    std::vector<double> want_x(x, x + cols), want_y(y, y + rows);
    for (int round = 0; round < rounds; round++) {
        gemv<<<(rows + block - 1) / block, block>>>(A, x, y, rows, cols, alpha, beta);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
        for (int row = 0; row < rows; row++) y[row] /= 1.0 + row;  // on the host, between launches
        gemv_transposed<<<(cols + block - 1) / block, block>>>(A, y, x, rows, cols, alpha, beta);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    for (int round = 0; round < rounds; round++) {
        for (int row = 0; row < rows; row++) {
            double sum = 0.0;
            for (int col = 0; col < cols; col++) sum += A[row * cols + col] * want_x[col];
            want_y[row] = (alpha * sum + beta * want_y[row]) / (1.0 + row);
        }
        for (int col = 0; col < cols; col++) {
            double sum = 0.0;
            for (int row = 0; row < rows; row++) sum += A[row * cols + col] * want_y[row];
            want_x[col] = alpha * sum + beta * want_x[col];
        }
    }

    int wrong = 0;
    for (int row = 0; row < rows; row++) {
        if (!(fabs(y[row] - want_y[row]) <= 1e-9 * (1.0 + fabs(want_y[row])))) wrong++;
    }
    for (int col = 0; col < cols; col++) {
        if (!(fabs(x[col] - want_x[col]) <= 1e-9 * (1.0 + fabs(want_x[col])))) wrong++;
    }
    CUDA_CHECK(cudaFree(A));
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));

    printf("managed_gemv: %d x %d, %d rounds, %d wrong\n", rows, cols, rounds, wrong);
    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? 0 : 1;
}
