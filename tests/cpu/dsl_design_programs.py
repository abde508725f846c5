"""The three programs of the design page, verbatim after a header of imports and dimension names."""

from tmigrate.tilelang import FP32, Tensor, allocate, dims, parallel, tile_kernel, tile_optimize

M, N, K = dims("M N K")


# fmt: off
@tile_kernel
def matmul(A: Tensor[M,K], B: Tensor[K,N]) -> Tensor[M,N]:
    C = allocate(M,N)
    for i in range(M):
        for j in range(N):
            acc = 0
            for k in range(K):
                acc += A[i,k] * B[k,j]
            C[i,j] = acc
    return C

@tile_kernel
def matrix_mul_tile(A: Tensor[FP32], B: Tensor[FP32], C: Tensor[FP32]):
    for i in parallel(range(A.shape[0])):
        for j in parallel(range(B.shape[1])):
            acc = 0.0
            for k in range(A.shape[1]):
                acc += A[i,k] * B[k,j]
            C[i,j] = acc

@tile_optimize(target_arch='domestic_chip')
def conv2d(input, kernel):
    tiled_input = input.tile(shape=(64,64))
    return kernel.matmul(tiled_input)
# fmt: on
