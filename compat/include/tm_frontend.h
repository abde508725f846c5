/* What libclang needs besides the public headers; included first by `tmigrate.converters.cuda`.
 *
 * libclang reads a CUDA file without its own CUDA wrapper headers.  Here stand the parts of the language
 * that nvcc and clang predefine: the built-in variables, the launch hook, and device versions of the C
 * library's functions (the pragma makes each declaration callable from both sides).
 */
#ifndef TM_FRONTEND_H
#define TM_FRONTEND_H
#define __TMIGRATE_FRONTEND__ 1
#define __CUDACC__ 1
#define __NVCC__ 1

/* libstdc++'s <cmath> includes parts of <algorithm>, which must keep their own (host) side. */
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#endif
#include <limits>
#include <type_traits>

#pragma clang force_cuda_host_device begin
#include <math.h>
#include <stdlib.h>
#include <cmath>
#include <cstdlib>
#include <stdio.h>
#include <string.h>
#include <assert.h>
#include <limits.h>
#include <float.h>
#include <stdint.h>
#pragma clang force_cuda_host_device end

#include "vector_types.h"

extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;

/* clang resolves `kernel<<<grid, block, shared, stream>>>` through this declaration. */
typedef struct CUstream_st *cudaStream_t;
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);

#include "tm_frontend_device.h"
#endif
