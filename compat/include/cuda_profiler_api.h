/* cudaProfilerStart and cudaProfilerStop are declared with the runtime API. */
#include "cuda_runtime_api.h"
