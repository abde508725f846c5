/* Barriers, warp operations, clocks, traps. */
#ifndef TMIGRATE_THREAD_FUNCTIONS_H
#define TMIGRATE_THREAD_FUNCTIONS_H
#include "../device_launch_parameters.h"

#ifdef TMIGRATE_EMULATED
/* These are calls, so that the return address is the place in the program; the line keeps the compiler from
 * merging two barriers into one. */
extern "C" {
void __syncthreads(int line = __builtin_LINE());
int __syncthreads_count(int predicate, int line = __builtin_LINE());
int __syncthreads_and(int predicate, int line = __builtin_LINE());
int __syncthreads_or(int predicate, int line = __builtin_LINE());
void __syncwarp(unsigned int mask = 0xffffffffu);
unsigned int __activemask(void);
long long clock64(void);
void __nanosleep(unsigned int nanoseconds);
void __trap(void) __attribute__((noreturn));
void __brkpt(void);
/* kind: 0 idx, 1 up, 2 down, 3 xor; legacy calls have mask 0. */
void tm_shuffle(unsigned int mask, int kind, unsigned int operand, int width, const void *in, void *out, size_t size,
                const void *site);
/* kind: 0 ballot, 1 any, 2 all, 3 uniform. */
unsigned int tm_vote(unsigned int mask, int kind, int predicate, const void *site);
unsigned int tm_match(unsigned int mask, int all, const void *value, size_t size, int *predicate, const void *site);
/* kind: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor, with bit 3 set for signed. */
unsigned int tm_reduce(unsigned int mask, int kind, unsigned int value, const void *site);
}
#define TM_CALL __attribute__((noinline))
#define TM_WARP(type_parameters, signature, ...) type_parameters TM_CALL inline signature { __VA_ARGS__ }
#else
__device__ void __syncthreads(void);
__device__ int __syncthreads_count(int predicate);
__device__ int __syncthreads_and(int predicate);
__device__ int __syncthreads_or(int predicate);
__device__ void __syncwarp(unsigned int mask = 0xffffffffu);
__device__ unsigned int __activemask(void);
__device__ long long clock64(void);
__device__ void __nanosleep(unsigned int nanoseconds);
__device__ void __trap(void);
__device__ void __brkpt(void);
#define TM_WARP(type_parameters, signature, ...) type_parameters __device__ signature;
#endif


#define TM_SHUFFLE(name, kind, operand_type, operand)                                                            \
  TM_WARP(template <class T>, T name##_sync(unsigned int mask, T value, operand_type operand, int width = 32),   \
    T result; tm_shuffle(mask, kind, (unsigned int)operand, width, &value, &result, sizeof(T),                   \
                         __builtin_return_address(0)); return result;)                                           \
  TM_WARP(template <class T>, T name(T value, operand_type operand, int width = 32),                             \
    T result; tm_shuffle(0, kind, (unsigned int)operand, width, &value, &result, sizeof(T),                      \
                         __builtin_return_address(0)); return result;)
TM_SHUFFLE(__shfl, 0, int, lane)
TM_SHUFFLE(__shfl_up, 1, unsigned int, delta)
TM_SHUFFLE(__shfl_down, 2, unsigned int, delta)
TM_SHUFFLE(__shfl_xor, 3, int, lane_mask)
#undef TM_SHUFFLE

#define TM_VOTE(result, name, kind)                                                       \
  TM_WARP(, result name##_sync(unsigned int mask, int predicate),                         \
    return (result)tm_vote(mask, kind, predicate, __builtin_return_address(0));)          \
  TM_WARP(, result name(int predicate), return (result)tm_vote(0, kind, predicate, __builtin_return_address(0));)
TM_VOTE(unsigned int, __ballot, 0)
TM_VOTE(int, __any, 1)
TM_VOTE(int, __all, 2)
TM_VOTE(int, __uni, 3)
#undef TM_VOTE

TM_WARP(template <class T>, unsigned int __match_any_sync(unsigned int mask, T value),
  int same; return tm_match(mask, 0, &value, sizeof(T), &same, __builtin_return_address(0));)
TM_WARP(template <class T>, unsigned int __match_all_sync(unsigned int mask, T value, int *predicate),
  return tm_match(mask, 1, &value, sizeof(T), predicate, __builtin_return_address(0));)
#define TM_REDUCE(name, type, kind)                                \
  TM_WARP(, type name(unsigned int mask, type value),              \
    return (type)tm_reduce(mask, kind, (unsigned int)value, __builtin_return_address(0));)
TM_REDUCE(__reduce_add_sync, unsigned int, 0)
TM_REDUCE(__reduce_min_sync, unsigned int, 1)
TM_REDUCE(__reduce_max_sync, unsigned int, 2)
TM_REDUCE(__reduce_and_sync, unsigned int, 3)
TM_REDUCE(__reduce_or_sync, unsigned int, 4)
TM_REDUCE(__reduce_xor_sync, unsigned int, 5)
TM_REDUCE(__reduce_add_sync, int, 8)
TM_REDUCE(__reduce_min_sync, int, 9)
TM_REDUCE(__reduce_max_sync, int, 10)
#undef TM_REDUCE
#undef TM_WARP

#ifdef TMIGRATE_EMULATED
inline unsigned int __isGlobal(const void *) { return 1; }
#else
__device__ unsigned int __isGlobal(const void *);
#endif
#endif
