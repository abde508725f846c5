// bit_tricks: integer intrinsics, shifts, rotations and a switch, checked bit by bit.
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

enum Trick {
    POPULATION, LEADING, LOWEST, REVERSE, HIGH_PRODUCT, BYTES, ROTATE, GRAY, SIGNED_SHIFT, TRICKS
};

__device__ unsigned int rotate_left(unsigned int x, unsigned int by) {
    by &= 31u;
    return by == 0 ? x : (x << by) | (x >> (32 - by));
}

__device__ unsigned int apply(int trick, unsigned int x, unsigned int y) {
    unsigned int result;
    switch (trick) {
        case POPULATION:
            result = __popc(x) + __popcll(((unsigned long long)x << 32) | y);
            break;
        case LEADING:
            result = __clz((int)x) * 100 + __clzll((long long)x);
            break;
        case LOWEST:
            result = (unsigned int)__ffs((int)x);
            break;
        case REVERSE:
            result = __brev(x);
            break;
        case HIGH_PRODUCT:
            result = __umulhi(x, y) ^ (unsigned int)__mulhi((int)x, (int)y);
            break;
        case BYTES:
            result = __byte_perm(x, y, 0x5041);
            break;
        case ROTATE:
            result = rotate_left(x, y) ^ __funnelshift_l(x, y, 7);
            break;
        case GRAY:
            x ^= x >> 1;
            // falls through: the Gray code is shifted too
        default:
            result = (unsigned int)((int)x >> (int)(y % 31u));
    }
    return result;
}

// y counts the tricks, x the words: out[trick * n + i].
__global__ void tricks(const unsigned int *a, const unsigned int *b, unsigned int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int trick = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && trick < TRICKS) {
        out[trick * n + i] = apply(trick, a[i], b[i]);
    }
}

// Bit number k of x.
static unsigned int bit(unsigned long long x, int k) { return (unsigned int)(x >> k) & 1u; }

static unsigned int apply_host(int trick, unsigned int x, unsigned int y) {
    unsigned int r = 0;
    int by = (int)(y % 32u);
    int leading = 0;
    switch (trick) {
        case POPULATION:
            for (int k = 0; k < 32; k++) r += 2 * bit(x, k) + bit(y, k);
            return r;
        case LEADING:
            while (leading < 32 && bit(x, 31 - leading) == 0) leading++;
            return leading * 100 + leading + 32;
        case LOWEST:
            for (int k = 31; k >= 0; k--) r = bit(x, k) ? k + 1 : r;
            return r;
        case REVERSE:
            for (int k = 0; k < 32; k++) r |= bit(x, k) << (31 - k);
            return r;
        case HIGH_PRODUCT: {
            unsigned int plain = (unsigned int)(((unsigned long long)x * y) >> 32);
            return plain ^ (unsigned int)(((long long)(int)x * (int)y) >> 32);
        }
        case BYTES:  // from the lowest: byte 1 of x, byte 0 of y, byte 0 of x, byte 1 of y
            return ((x >> 8) & 255u) | (y & 255u) << 8 | (x & 255u) << 16 | ((y >> 8) & 255u) << 24;
        case ROTATE:
            for (int k = 0; k < 32; k++) r |= bit(x, k) << ((k + by) % 32);
            return r ^ (y << 7 | x >> 25);
        case GRAY:
            return apply_host(SIGNED_SHIFT, x ^ (x / 2u), y);
        default:
            for (int k = 0; k < 32; k++) {
                int from = k + (int)(y % 31u);
                r |= bit(x, from > 31 ? 31 : from) << k;
            }
            return r;
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 501;
    if (n < 1) {
        fprintf(stderr, "usage: %s [word count, at least 1]\n", argv[0]);
        return 1;
    }

    std::vector<unsigned int> a(n), b(n), out(TRICKS * n);
    unsigned int state = 7u;
    for (int i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        a[i] = i % 5 == 0 ? 0x80000000u >> (i % 33) % 32 : state >> (i % 32);
        b[i] = state * 2654435761u;
    }
    a[0] = 0u;

    const size_t bytes = n * sizeof(unsigned int);
    unsigned int *d_a, *d_b, *d_out;
    CUDA_CHECK(cudaMalloc(&d_a, bytes));
    CUDA_CHECK(cudaMalloc(&d_b, bytes));
    CUDA_CHECK(cudaMalloc(&d_out, TRICKS * bytes));
    CUDA_CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
    dim3 block(32, 4);
    dim3 grid((n + 31) / 32, (TRICKS + 3) / 4);
    tricks<<<grid, block>>>(d_a, d_b, d_out, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, TRICKS * bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_b));
    CUDA_CHECK(cudaFree(d_out));

    int wrong = 0;
    unsigned int checksum = 0;
    for (int trick = 0; trick < TRICKS; trick++) {
        for (int i = 0; i < n; i++) {
            unsigned int got = out[trick * n + i];
            if (got != apply_host(trick, a[i], b[i])) wrong++;
            checksum = checksum * 31u + got;
        }
    }
    printf("bit_tricks: %d tricks on %d words, checksum %08x, %d wrong\n", (int)TRICKS, n, checksum,
           wrong);
    printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? 0 : 1;
}
