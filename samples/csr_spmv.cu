// csr_spmv: a sparse matrix with ragged rows times a vector, by a thread a row and a block a row.
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

// The matrix in compressed sparse rows: row r owns the entries row_start[r] to row_start[r + 1].
struct CsrMatrix {
    int rows;
    const int *row_start;
    const int *columns;
    const double *values;
};

__global__ void spmv_thread_per_row(CsrMatrix A, const double *x, double *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= A.rows) return;
    double sum = 0.0;
    for (int k = A.row_start[row]; k < A.row_start[row + 1]; k++) {
        sum += A.values[k] * x[A.columns[k]];
    }
    y[row] = sum;
}

// The threads of a block share one row at a time and add up in shared memory.
__global__ void spmv_block_per_row(CsrMatrix A, const double *x, double *y) {
    extern __shared__ double partial[];
    for (int row = blockIdx.x; row < A.rows; row += gridDim.x) {
        int end = A.row_start[row + 1];
        double sum = 0.0;
        for (int k = A.row_start[row] + threadIdx.x; k < end; k += blockDim.x) {
            sum += A.values[k] * x[A.columns[k]];
        }
        partial[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned int half = blockDim.x >> 1; half > 0; half >>= 1) {
            if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) y[row] = partial[0];
        __syncthreads();
    }
}

static int count_wrong(const std::vector<double> &got, const std::vector<double> &want) {
    int wrong = 0;
    for (size_t i = 0; i < want.size(); i++) {
        if (!(fabs(got[i] - want[i]) <= 1e-12 * (1.0 + fabs(want[i])))) wrong++;
    }
    return wrong;
}

template <typename T>
static T *to_device(const std::vector<T> &host) {
    T *device;
    CUDA_CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main(int argc, char **argv) {
    int rows = argc > 1 ? atoi(argv[1]) : 517;
    if (rows < 1) {
        fprintf(stderr, "usage: %s [rows, at least 1]\n", argv[0]);
        return 1;
    }
    const int cols = rows + rows / 2;

    // Rows of 0 to 12 entries, and now and then a long one.
    std::vector<int> row_start(1, 0), columns;
    std::vector<double> values, x(cols), want(rows), y(rows);
    unsigned int state = 2024u;
    for (int col = 0; col < cols; col++) x[col] = 1.0 / (1.0 + col % 41);
    for (int row = 0; row < rows; row++) {
        state = state * 1664525u + 1013904223u;
        int length = row % 50 == 7 ? 90 : (int)((state >> 20) % 13u);
        want[row] = 0.0;
        for (int k = 0; k < length; k++) {
            int col = (int)((state >> 8) + 131u * k) % cols;
            double value = 0.5 * (k % 9) - 1.75;
            columns.push_back(col);
            values.push_back(value);
            want[row] += value * x[col];
        }
        row_start.push_back((int)columns.size());
    }
    columns.push_back(0);  // never used; keeps the arrays from being empty
    values.push_back(0.0);

    int *d_row_start = to_device(row_start), *d_columns = to_device(columns);
    double *d_values = to_device(values), *d_x = to_device(x), *d_y = to_device(y);
    CsrMatrix A = {rows, d_row_start, d_columns, d_values};

    CUDA_CHECK(cudaMemset(d_y, 0xff, rows * sizeof(double)));
    spmv_thread_per_row<<<(rows + 63) / 64, 64>>>(A, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(y.data(), d_y, rows * sizeof(double), cudaMemcpyDeviceToHost));
    int wrong_thread = count_wrong(y, want);

    CUDA_CHECK(cudaMemset(d_y, 0xff, rows * sizeof(double)));
    int blocks = rows < 100 ? rows : 100;
    spmv_block_per_row<<<blocks, 32, 32 * sizeof(double)>>>(A, d_x, d_y);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(y.data(), d_y, rows * sizeof(double), cudaMemcpyDeviceToHost));
    int wrong_block = count_wrong(y, want);

    CUDA_CHECK(cudaFree(d_row_start));
    CUDA_CHECK(cudaFree(d_columns));
    CUDA_CHECK(cudaFree(d_values));
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));

    bool pass = wrong_thread == 0 && wrong_block == 0;
    printf("csr_spmv: %d rows, %d entries, %d wrong by thread, %d wrong by block\n", rows,
           row_start[rows], wrong_thread, wrong_block);
    printf("%s\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
