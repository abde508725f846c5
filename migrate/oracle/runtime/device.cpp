/* Errors, device queries, streams and events.  Everything runs at once, so a stream is always idle. */
#include <chrono>
#include <cstring>
#include <unordered_map>

#include "runtime.h"

namespace tm_oracle {
namespace {
thread_local cudaError_t last_error = cudaSuccess;
cudaError_t sticky = cudaSuccess;
}  // namespace

void set_error(cudaError_t error) { last_error = error; }
void set_sticky_error(cudaError_t error) { sticky = last_error = error; }
cudaError_t current_error() { return sticky; }
}  // namespace tm_oracle

using namespace tm_oracle;

struct CUstream_st {
  unsigned flags;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded;
};

namespace {
cudaError_t fail(cudaError_t error) {
  set_error(error);
  return error;
}
cudaError_t only_device(int device) { return device == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice); }
cudaError_t idle() { return current_error(); }
char pool_storage;
size_t limits[8] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0, 0};
}  // namespace

extern "C" {
cudaError_t cudaGetLastError(void) {
  cudaError_t error = last_error;
  last_error = sticky;
  return error;
}
cudaError_t cudaPeekAtLastError(void) { return last_error; }
const char *cudaGetErrorName(cudaError_t error) {
  switch ((int)error) {
#define TM_ERROR(name, value, text) case value: return #name;
#include "tmigrate/errors.inc"
#undef TM_ERROR
  }
  return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t error) {
  switch ((int)error) {
#define TM_ERROR(name, value, text) case value: return text;
#include "tmigrate/errors.inc"
#undef TM_ERROR
  }
  return "unrecognized error code";
}

cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return only_device(device); }
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned *flags) { return *flags = 0, cudaSuccess; }
cudaError_t cudaDeviceReset(void) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { return idle(); }
cudaError_t cudaThreadSynchronize(void) { return idle(); }
cudaError_t cudaThreadExit(void) { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *c) { return *c = cudaFuncCachePreferNone, cudaSuccess; }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *c) {
  return *c = cudaSharedMemBankSizeFourByte, cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return (unsigned)limit < 8 ? (limits[limit] = value, cudaSuccess) : fail(cudaErrorUnsupportedLimit);
}
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
  return (unsigned)limit < 8 ? (*value = limits[limit], cudaSuccess) : fail(cudaErrorUnsupportedLimit);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return *least = 0, *greatest = -5, cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { return *can = 0, cudaSuccess; }
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return fail(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return fail(cudaErrorInvalidDevice); }
cudaError_t cudaDriverGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  return *pool = (cudaMemPool_t)&pool_storage, only_device(device);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t) { return only_device(device); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr a, void *value) {
  std::memset(value, 0, a <= cudaMemPoolReuseAllowInternalDependencies ? 4 : 8);
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return only_device(device);
  switch ((int)attribute) {
#define TM_ATTRIBUTE(name, number, answer) case number: *value = answer; return cudaSuccess;
#include "tmigrate/attributes.inc"
#undef TM_ATTRIBUTE
  }
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
  if (device != 0) return only_device(device);
  std::memset(p, 0, sizeof *p);
  std::strcpy(p->name, "tmigrate emulated device");
  auto get = [](int attribute) {
    int value = 0;
    cudaDeviceGetAttribute(&value, (cudaDeviceAttr)attribute, 0);
    return value;
  };
  p->totalGlobalMem = (size_t)16 << 30;
  p->sharedMemPerBlock = get(cudaDevAttrMaxSharedMemoryPerBlock);
  p->regsPerBlock = get(cudaDevAttrMaxRegistersPerBlock);
  p->warpSize = 32;
  p->memPitch = get(cudaDevAttrMaxPitch);
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = get(cudaDevAttrMaxGridDimX);
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->clockRate = get(cudaDevAttrClockRate);
  p->totalConstMem = get(cudaDevAttrTotalConstantMemory);
  p->major = get(cudaDevAttrComputeCapabilityMajor);
  p->minor = get(cudaDevAttrComputeCapabilityMinor);
  p->textureAlignment = 512;
  p->texturePitchAlignment = 32;
  p->deviceOverlap = p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
  p->multiProcessorCount = get(cudaDevAttrMultiProcessorCount);
  p->pciBusID = 1;
  p->asyncEngineCount = 2;
  p->memoryClockRate = get(cudaDevAttrMemoryClockRate);
  p->memoryBusWidth = get(cudaDevAttrGlobalMemoryBusWidth);
  p->l2CacheSize = get(cudaDevAttrL2CacheSize);
  p->maxThreadsPerMultiProcessor = get(cudaDevAttrMaxThreadsPerMultiProcessor);
  p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
  p->sharedMemPerMultiprocessor = get(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p->regsPerMultiprocessor = 65536;
  p->singleToDoublePrecisionPerfRatio = 2;
  p->concurrentManagedAccess = p->computePreemptionSupported = p->canUseHostPointerForRegisteredMem = 1;
  p->sharedMemPerBlockOptin = get(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p->maxBlocksPerMultiProcessor = 32;
  p->reservedSharedMemPerBlock = 1024;
  p->hostRegisterSupported = p->memoryPoolsSupported = 1;
  return cudaSuccess;
}

cudaError_t tm_function_attributes(cudaFuncAttributes *a, const void *) {
  std::memset(a, 0, sizeof *a);
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 32;
  a->ptxVersion = a->binaryVersion = 80;
  a->maxDynamicSharedSizeBytes = 49152;
  return cudaSuccess;
}
cudaError_t tm_occupancy(int *blocks, int block_size, size_t shared) {
  if (block_size < 1 || block_size > 1024) return fail(cudaErrorInvalidValue);
  int by_threads = 2048 / block_size;
  int by_shared = shared ? (int)(167936 / (shared + 1024)) : 32;
  int fewest = by_threads < by_shared ? by_threads : by_shared;
  *blocks = fewest < 32 ? fewest : 32;
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *s) { return *s = new CUstream_st{0}, cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) { return *s = new CUstream_st{flags}, cudaSuccess; }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned f, int) { return *s = new CUstream_st{f}, cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  if ((uintptr_t)s > 2) delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return idle(); }
cudaError_t cudaStreamQuery(cudaStream_t) { return idle(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t callback, void *data, unsigned) {
  callback(s, idle(), data);
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void *data) { return function(data), cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return *e = new CUevent_st{{}, false}, cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) {
  if (!e) return fail(cudaErrorInvalidResourceHandle);
  e->time = std::chrono::steady_clock::now();
  e->recorded = true;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return idle(); }
cudaError_t cudaEventQuery(cudaEvent_t) { return idle(); }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (!start || !stop || !start->recorded || !stop->recorded) return fail(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return cudaSuccess;
}
}

cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventCreate(cudaEvent_t *e, unsigned flags) { return cudaEventCreateWithFlags(e, flags); }
