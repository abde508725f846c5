/* threadIdx, blockIdx, blockDim, gridDim and warpSize. */
#ifndef TMIGRATE_DEVICE_LAUNCH_PARAMETERS_H
#define TMIGRATE_DEVICE_LAUNCH_PARAMETERS_H
#include "vector_types.h"
#ifdef TMIGRATE_EMULATED
/* Real variables, so that a host local of the same name just hides them; the emulator sets them
 * at each switch of threads. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
#else
extern __device__ const uint3 threadIdx;
extern __device__ const uint3 blockIdx;
extern __device__ const dim3 blockDim;
extern __device__ const dim3 gridDim;
#endif
static const int warpSize = 32;
#endif
