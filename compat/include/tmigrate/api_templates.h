/* The C++ side of the runtime API: typed allocation, symbols, function attributes, launches by pointer. */
#ifndef TMIGRATE_API_TEMPLATES_H
#define TMIGRATE_API_TEMPLATES_H
#include "../cuda_runtime_api.h"

extern "C" {
cudaError_t tm_symbol_copy(const void *symbol, size_t size, const void *source, size_t count, size_t offset, int to);
}

template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t size) {
  return cudaMalloc((void **)pointer, size);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream) {
  return cudaMallocAsync((void **)pointer, size, stream);
}
template <class T> static inline cudaError_t cudaMallocHost(T **pointer, size_t size, unsigned int flags = 0) {
  return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **pointer, size_t size, unsigned int flags) {
  return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void **)pointer, size, flags);
}
template <class T> static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
  return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags) {
  return cudaHostGetDevicePointer((void **)device, host, flags);
}

template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *source, size_t count, size_t offset = 0,
                                             cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return tm_symbol_copy((const void *)&symbol, sizeof(T), source, count, offset, 1);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *source, size_t count, size_t offset,
                                                  cudaMemcpyKind, cudaStream_t = 0) {
  return tm_symbol_copy((const void *)&symbol, sizeof(T), source, count, offset, 1);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *target, const T &symbol, size_t count, size_t offset = 0,
                                               cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return tm_symbol_copy((const void *)&symbol, sizeof(T), target, count, offset, 0);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *target, const T &symbol, size_t count, size_t offset,
                                                    cudaMemcpyKind, cudaStream_t = 0) {
  return tm_symbol_copy((const void *)&symbol, sizeof(T), target, count, offset, 0);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
  *pointer = const_cast<void *>((const void *)&symbol);
  return cudaSuccess;
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *size, const T &) {
  *size = sizeof(T);
  return cudaSuccess;
}

extern "C" cudaError_t tm_function_attributes(cudaFuncAttributes *attributes, const void *function);
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *, cudaFuncCache) { return cudaSuccess; }
template <class T> static inline cudaError_t cudaFuncSetSharedMemConfig(T *, cudaSharedMemConfig) { return cudaSuccess; }
template <class T> static inline cudaError_t cudaFuncSetAttribute(T *, cudaFuncAttribute, int) { return cudaSuccess; }
template <class T> static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *function) {
  return tm_function_attributes(attributes, (const void *)function);
}

/* Occupancy: registers are not modelled, so blocks are bounded by threads and shared memory. */
extern "C" cudaError_t tm_occupancy(int *blocks, int block_size, size_t shared);
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T, int block_size, size_t shared) {
  return tm_occupancy(blocks, block_size, shared);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T, int block_size,
                                                                                 size_t shared, unsigned int) {
  return tm_occupancy(blocks, block_size, shared);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *minimum_grid, int *block_size, T, size_t shared = 0,
                                                             int limit = 0) {
  int blocks = 0;
  *block_size = limit > 0 && limit < 1024 ? limit : 1024;
  cudaError_t error = tm_occupancy(&blocks, *block_size, shared);
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  *minimum_grid = blocks * processors;
  return error;
}

#ifdef TMIGRATE_EMULATED
#include <type_traits>
#include <utility>
namespace tm_oracle {
void push_launch(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t launch_by_address(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                              cudaStream_t stream);
template <class... P, size_t... I>
inline void call_kernel(void (*kernel)(P...), void **arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::remove_reference_t<P> *>(arguments[I])...);
}
}  // namespace tm_oracle
template <class... P>
static inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                           size_t shared = 0, cudaStream_t stream = 0) {
  tm_oracle::push_launch(grid, block, shared, stream);
  tm_oracle::call_kernel(kernel, arguments, std::index_sequence_for<P...>());
  return cudaPeekAtLastError();
}
static inline cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                           size_t shared = 0, cudaStream_t stream = 0) {
  return tm_oracle::launch_by_address(function, grid, block, arguments, shared, stream);
}
extern "C" cudaError_t tm_cooperative_launch();
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T, dim3, dim3, void **, size_t = 0, cudaStream_t = 0) {
  return tm_cooperative_launch();
}
#else
template <class T>
cudaError_t cudaLaunchKernel(T kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                             cudaStream_t stream = 0);
template <class T>
cudaError_t cudaLaunchCooperativeKernel(T kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                                        cudaStream_t stream = 0);
#endif
#endif
