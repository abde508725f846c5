// What looks uniform or constant and is not, and the other way round: variables that change through their addresses
// only, lane operations on one value for all, indices whose constants add up.
#include <cstdio>
#include <cuda_runtime.h>

__device__ void put(int *k, int v) { *k = v; }
__device__ void lower(int &k, int v) { k -= v; }

__global__ void branches(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0, v = 7 * i;
    put(&k, threadIdx.x / 32 + blockIdx.x);
    if (k & 1) v = __shfl_sync(~0u, v, 5) + 100 * __popc(__ballot_sync(~0u, (i < n ? x[i] : 0) > 50));
    if (i < n) out[i] = v;
}

__global__ void bounds(const int *x, int *out, int n) {
    __shared__ int seen[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, most = blockDim.x;
    seen[t] = i < n ? x[i] : 0;
    __syncthreads();
    lower(most, seen[0] & 31);
    if (t < most && i < n) out[i] = seen[most - 1 - t];
    __syncthreads();
    lower(most, t & 3);
    if (t < most && i < n) out[i] += most;
}

__global__ void shared_places(const int *x, int *out, int n) {
    __shared__ int one[2], rest[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, *to = t & 1 ? one : rest;
    rest[t] = i < n ? x[i] : 0;
    if (t < 2) one[t] = 5;
    __syncthreads();
    if (t == 1) put(to, 3), put(to + 1, one[0] + rest[2]);
    __syncthreads();
    if (i < n) out[i] = rest[t] + one[0] * 10 + one[1] * 1000;
}

__global__ void one_value(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = __shfl_sync(~0u, n, 3) + __shfl_sync(~0u, (int)blockIdx.x, threadIdx.x & 7);
    sum += __any_sync(~0u, n > 5) * 2 + __all_sync(~0u, n < 5) * 4 + __popc(__ballot_sync(~0u, blockIdx.x == 1)) * 8;
    sum += __syncthreads_count(n > 3) + __syncthreads_or((int)blockIdx.x) * 3;
    if (i < n) out[i] = sum + x[i];
}

__global__ void sums(const int *x, int *out, int n) {
    __shared__ int tile[80];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[(t + 3) + 4] = i < n ? x[i] : 0;
    if (t < 7) tile[t] = 2;
    __syncthreads();
    if ((t + 2) + 3 < 60 && i < n) out[i] += tile[(t - 2) + 5] + tile[7 - (2 - t)] * 10;
    __syncthreads();
    if ((i + 1) + 2 < n) out[(i + 5) - 2] += tile[t + 7];
}

int main() {
    const int n = 150;
    int *x, *out;
    cudaMallocManaged(&x, n * 4), cudaMallocManaged(&out, n * 4);
    for (int i = 0; i < n; ++i) x[i] = (i * 37 + 11) % 101, out[i] = -1;
    branches<<<3, 64>>>(x, out, n);
    cudaDeviceSynchronize();
    printf("addresses %d ", out[70]);
    bounds<<<3, 64>>>(x, out, n);
    cudaDeviceSynchronize();
    printf("%d ", out[70]);
    shared_places<<<3, 64>>>(x, out, n);
    cudaDeviceSynchronize();
    one_value<<<3, 64>>>(x, out, n);
    cudaDeviceSynchronize();
    printf("%d ", out[70]);
    sums<<<3, 64>>>(x, out, n);
    cudaDeviceSynchronize();
    printf("%d\n", out[70]);
    return 0;
}
