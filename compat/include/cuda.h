/* The driver API's basic types; its functions are not offered. */
#ifndef TMIGRATE_CUDA_H
#define TMIGRATE_CUDA_H
#define __cuda_cuda_h__
#include "cuda_runtime_api.h"
#define CUDA_VERSION 12040
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef unsigned long long CUdeviceptr;
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_UNKNOWN = 999 } CUresult;
#endif
