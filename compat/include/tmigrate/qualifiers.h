/* CUDA's qualifiers in the three readings of these headers.
 *
 *   front end  (libclang, -x cuda)       they are attributes;
 *   oracle     (__TMIGRATE_ORACLE__)     they are markers that the launch rewriter finds after -E;
 *   run        (__TMIGRATE_RUN__)        as for the oracle; kernel bodies are dropped by the rewriter.
 */
#ifndef TMIGRATE_QUALIFIERS_H
#define TMIGRATE_QUALIFIERS_H

#if defined(__TMIGRATE_ORACLE__) || defined(__TMIGRATE_RUN__)
#define TMIGRATE_EMULATED 1
#define __global__ __tm_global__
#define __device__ __tm_device__
#define __constant__ __tm_constant__
#define __shared__ __tm_shared__
#define __managed__ __tm_managed__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __NVCC__
#define __NVCC__ 1
#endif
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
/* clang knows `managed` for HIP only; libclang shows annotations. */
#define __managed__ __attribute__((device)) __attribute__((annotate("managed")))
#define __host__ __attribute__((host))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif

#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION 12040
#endif
#define CUDARTAPI
#define CUDART_CB
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__

/* A function that device code may call.  TM_DEVICE(signature, body): the front end sees the
 * declaration only and knows the name; the emulator compiles the body. */
#ifdef TMIGRATE_EMULATED
#define TM_BOTH
#define TM_DEVICE(signature, ...) inline signature { __VA_ARGS__ }
#else
#define TM_BOTH __host__ __device__
#define TM_DEVICE(signature, ...) __host__ __device__ signature;
#endif

#endif
