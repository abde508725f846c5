/* CUDA runtime: what nvcc includes before the first line of a program. */
#ifndef TMIGRATE_CUDA_RUNTIME_H
#define TMIGRATE_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__
#if defined(__TMIGRATE_ORACLE__) || defined(__TMIGRATE_RUN__)
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#else
#include "tmigrate/host_device_headers.h"
#endif
#include <new>
#include <utility>
#include <limits.h>

#include "tmigrate/qualifiers.h"
#include "vector_types.h"
#include "vector_functions.h"
#include "driver_types.h"
#include "cuda_runtime_api.h"
#include "device_launch_parameters.h"
#include "tmigrate/device_functions.h"
#include "tmigrate/math_functions.h"
#include "tmigrate/memory_functions.h"
#include "tmigrate/thread_functions.h"
#include "tmigrate/api_templates.h"
#ifdef TMIGRATE_EMULATED
#include "tmigrate/oracle.h"
#else
/* What clang's launch syntax needs. */
extern "C" cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" cudaError_t __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
#endif
#endif
