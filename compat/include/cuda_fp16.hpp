/* Part of cuda_fp16.h here. */
#include "cuda_fp16.h"
