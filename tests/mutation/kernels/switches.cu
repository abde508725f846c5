// Switches: breaks, falling through, jumps inside, in loops and in one another.
#include <cstdio>
#include <cuda_runtime.h>

enum Colour { RED, GREEN = 5, BLUE };

__global__ void chains(int *a, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    switch (x[i] % 4) {
    case 0: a[i] = 1; break;
    case 1:
    case 2: {
        a[i] = 2;
        break;
    }
    default: a[i] = 3;
    }
    switch (Colour(x[i] & 7)) {
    case RED: a[i] += 10; break;
    case GREEN: a[i] += 20; break;
    case BLUE: break;
    default: a[i] += 40; break;
    }
    switch (x[i]) {
    }
    switch (x[i] & 3) {
    case 3: a[i] *= 2;
    }
    switch (x[i] & 1) {
    default: a[i] += 100;
    }
}

__global__ void jumps(int *a, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = x[i] >> 3;
    for (int k = 0; k < 9; k++) {
        switch ((x[i] + k) & 7) {
        case 1:
            if (k > 3) break;
            sum += 1;
            break;
        case 2: continue;
        case 3:
            sum += 2;
            switch (k) {
            case 4: sum += 30;
            case 5: sum += 7; break;
            default:
                if (sum & 1) break;
                sum -= 1;
            }
        case 4: sum *= 3; break;
        case 6:
            for (int q = 0; q < 4; q++) {
                if (q == k) break;
                sum += q;
            }
            sum ^= 1;
        default:
            if (k == 7) {
                a[i] = -sum;
                return;
            }
        }
        sum++;
    }
    switch (sum % 5) {
    case 0: a[i] = sum; return;
    case 1: sum = 50;
    case 2: a[i] = sum + 1; break;
    default: a[i] = 9;
    }
}

__device__ float kind_of(unsigned char c) {
    switch (c) {
    case 'a': case 'e': return 1.5f;
    case 'z': return -1;
    }
    return 0;
}

__global__ void letters(float *y, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = kind_of((unsigned char)('a' + (x[i] & 31)));
}

int main() {
    const int n = 203, block = 64, grid = 4;
    int *x, *a;
    float *y;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&a, n * 4), cudaMallocManaged(&y, n * 4);
    unsigned seed = 21;
    for (int i = 0; i < n; ++i) seed = seed * 1664525u + 1013904223u, x[i] = (int)(seed >> 16) % 97 - 10, a[i] = i;
    chains<<<grid, block>>>(a, x, n);
    jumps<<<grid, block>>>(a, x, n);
    letters<<<grid, block>>>(y, x, n);
    cudaDeviceSynchronize();
    printf("switches %d %g\n", a[0], y[1]);
    return 0;
}
