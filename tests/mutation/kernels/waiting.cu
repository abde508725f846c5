// Threads that wait for later ones: where threads run in order, that must be reported and not go on for ever.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void for_later(int *flag, int *out) {
    int t = threadIdx.x;
    if (t < 31) while (atomicAdd(flag + t + 1, 0) == 0) ;
    atomicExch(flag + t, 1);
    out[t] = t;
}

int main() {
    int *flag, *out;
    cudaMallocManaged(&flag, 32 * 4), cudaMallocManaged(&out, 32 * 4);
    for (int i = 0; i < 32; ++i) flag[i] = 0;
    for_later<<<1, 32>>>(flag, out);
    cudaDeviceSynchronize();
    printf("waiting %d\n", out[31]);
    return 0;
}
