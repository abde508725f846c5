// template_transform: kernels over element type and function object, instantiated several times.
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

// Function objects: stateless, with state, and made of two others.
template <typename T>
struct Square {
    __host__ __device__ T operator()(T x) const { return x * x; }
};

template <typename T>
struct Affine {
    T scale, offset;
    __host__ __device__ T operator()(T x) const { return scale * x + offset; }
};

template <typename T>
struct Clamp {
    T low, high;
    __host__ __device__ T operator()(T x) const {
        if (x < low) return low;
        if (x > high) return high;
        return x;
    }
};

template <typename F, typename G>
struct Compose {
    F outer;
    G inner;
    template <typename T>
    __host__ __device__ T operator()(T x) const {
        return outer(inner(x));
    }
};

template <typename T>
struct Blend {
    T weight;
    __host__ __device__ T operator()(T x, T y) const { return weight * x + (T(1) - weight) * y; }
};

template <typename T, typename F>
__global__ void transform(const T *in, T *out, int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f(in[i]);
}

// Each thread handles PER_THREAD neighbouring elements.
template <int PER_THREAD, typename T, typename F>
__global__ void zip(const T *a, const T *b, T *out, int n, F f) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        if (first + k < n) out[first + k] = f(a[first + k], b[first + k]);
    }
}

template <typename T>
static bool near(T got, T want) {
    double difference = fabs((double)got - (double)want);
    return difference <= 1e-5 * (1.0 + fabs((double)want));
}

// Runs one transform and one zip for an element type; returns the number of wrong elements.
template <typename T, typename F, typename G>
static int check(const char *name, int n, F f, G g) {
    std::vector<T> in(n), out(n), zipped(n);
    for (int i = 0; i < n; i++) in[i] = (T)(i % 201 - 100) / (T)4;

    T *d_in, *d_out, *d_zipped;
    CUDA_CHECK(cudaMalloc(&d_in, n * sizeof(T)));
    CUDA_CHECK(cudaMalloc(&d_out, n * sizeof(T)));
    CUDA_CHECK(cudaMalloc(&d_zipped, n * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    transform<<<(n + 127) / 128, 128>>>(d_in, d_out, n, f);
    CUDA_CHECK(cudaGetLastError());
    zip<3><<<(n + 3 * 64 - 1) / (3 * 64), 64>>>(d_in, d_out, d_zipped, n, g);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(zipped.data(), d_zipped, n * sizeof(T), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_zipped));

    int wrong = 0;
    for (int i = 0; i < n; i++) {
        T want = f(in[i]);
        if (!near(out[i], want) || !near(zipped[i], g(in[i], want))) wrong++;
    }
    printf("template_transform: %s, %d elements, %d wrong\n", name, n, wrong);
    return wrong;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 3001;
    if (n < 1) {
        fprintf(stderr, "usage: %s [element count, at least 1]\n", argv[0]);
        return 1;
    }

    int wrong = 0;
    wrong += check<float>("square of float", n, Square<float>(), Blend<float>{0.25f});
    wrong += check<int>("affine of int", n, Affine<int>{3, -7}, Blend<int>{2});
    wrong += check<double>("clamp of double", n, Clamp<double>{-5.5, 8.25}, Blend<double>{0.75});
    Compose<Clamp<float>, Affine<float>> clamp_affine = {{-10.0f, 10.0f}, {1.5f, 0.5f}};
    wrong += check<float>("clamp after affine of float", n, clamp_affine, Blend<float>{0.5f});

    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? 0 : 1;
}
