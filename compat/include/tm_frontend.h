/* What libclang needs besides the public headers; included first by `tmigrate.converters.cuda`.
 *
 * nvcc includes cuda_runtime.h before the first line of a program, and its headers make the C library's
 * functions callable from device code; here a pragma of clang's does (for each declaration inside it).
 */
#ifndef TM_FRONTEND_H
#define TM_FRONTEND_H
#pragma clang system_header
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
#include <float.h>
#include <stdint.h>
#pragma clang force_cuda_host_device end

#include <cuda_runtime.h>
#endif
