/* What libclang reads ahead of a CUDA file, as nvcc reads cuda_runtime.h: see `tmigrate.converters.cuda`. */
#ifndef TM_FRONTEND_H
#define TM_FRONTEND_H
#pragma clang system_header
#define __TMIGRATE_FRONTEND__ 1
#define __CUDACC__ 1
#define __NVCC__ 1
#if !__has_include(<bits/c++config.h>)
/* libc++'s <math.h> includes these; they must keep their own (host) side. */
#include <limits>
#include <type_traits>
#endif
#include <cuda_runtime.h>
#endif
