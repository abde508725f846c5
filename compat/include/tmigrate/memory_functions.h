/* Atomics, fences, loads and stores with cache hints.
 *
 * The emulator runs one CUDA thread at a time and switches only at barriers and warp operations, so an atomic is
 * its plain operation.  In check mode each wrapper tells the checker what it does; TM_SITE keeps it out of line
 * there, so that its return address is the place in the program. */
#ifndef TMIGRATE_MEMORY_FUNCTIONS_H
#define TMIGRATE_MEMORY_FUNCTIONS_H
#include "device_functions.h"

#ifdef TMIGRATE_EMULATED
#ifdef __TMIGRATE_CHECK__
extern "C" void tm_check_access(const void *address, size_t size, int kind, const void *site);
#define TM_SITE __attribute__((noinline, no_sanitize("thread")))
#define TM_OUT_OF_LINE TM_SITE
#define TM_CHECKED(address, size, kind) tm_check_access(address, size, kind, __builtin_return_address(0));
#else
#define TM_SITE
#define TM_OUT_OF_LINE __attribute__((noinline))
#define TM_CHECKED(address, size, kind)
#endif
extern "C" void tm_contended(const void *address, const void *site);
extern "C" void tm_fence(void);

#define TM_ATOMIC(name, type, extra, operation)                                      \
  TM_SITE inline type name(type *address, extra) {                                   \
    TM_CHECKED((const void *)address, sizeof(type), 2)                               \
    type old = *address; *address = operation; return old; }
#else
#define TM_ATOMIC(name, type, extra, operation) __device__ type name(type *address, extra);
#endif
#define TM_ATOMICS(name, type, extra, operation) \
  TM_ATOMIC(name, type, extra, operation)        \
  TM_ATOMIC(name##_block, type, extra, operation) \
  TM_ATOMIC(name##_system, type, extra, operation)
#define TM_ATOMIC_INTEGERS(name, operation)                                                     \
  TM_ATOMICS(name, int, int value, (int)(operation))                                            \
  TM_ATOMICS(name, unsigned int, unsigned int value, (unsigned int)(operation))                 \
  TM_ATOMICS(name, long long, long long value, (long long)(operation))                          \
  TM_ATOMICS(name, unsigned long long, unsigned long long value, (unsigned long long)(operation))

TM_ATOMICS(atomicAdd, int, int value, old + value)
TM_ATOMICS(atomicAdd, unsigned int, unsigned int value, old + value)
TM_ATOMICS(atomicAdd, unsigned long long, unsigned long long value, old + value)
TM_ATOMICS(atomicAdd, float, float value, old + value)
TM_ATOMICS(atomicAdd, double, double value, old + value)
TM_ATOMICS(atomicSub, int, int value, old - value)
TM_ATOMICS(atomicSub, unsigned int, unsigned int value, old - value)
TM_ATOMICS(atomicExch, int, int value, value)
TM_ATOMICS(atomicExch, unsigned int, unsigned int value, value)
TM_ATOMICS(atomicExch, unsigned long long, unsigned long long value, value)
TM_ATOMICS(atomicExch, float, float value, value)
TM_ATOMIC_INTEGERS(atomicMin, old < value ? old : value)
TM_ATOMIC_INTEGERS(atomicMax, old > value ? old : value)
TM_ATOMIC_INTEGERS(atomicAnd, old & value)
TM_ATOMIC_INTEGERS(atomicOr, old | value)
TM_ATOMIC_INTEGERS(atomicXor, old ^ value)
TM_ATOMICS(atomicInc, unsigned int, unsigned int value, old >= value ? 0u : old + 1)
TM_ATOMICS(atomicDec, unsigned int, unsigned int value, (old == 0 || old > value) ? value : old - 1)

/* A compare-and-swap that fails again lets other threads run, so that a lock taken by another is released. */
#ifdef TMIGRATE_EMULATED
#define TM_CAS(name, type)                                            \
  TM_OUT_OF_LINE inline type name(type *address, type compare, type value) { \
    TM_CHECKED((const void *)address, sizeof(type), 2)                \
    type old = *address;                                              \
    if (old == compare) *address = value; else tm_contended((const void *)address, __builtin_return_address(0)); \
    return old; }
#else
#define TM_CAS(name, type) __device__ type name(type *address, type compare, type value);
#endif
#define TM_CASES(type) TM_CAS(atomicCAS, type) TM_CAS(atomicCAS_block, type) TM_CAS(atomicCAS_system, type)
TM_CASES(int)
TM_CASES(unsigned int)
TM_CASES(unsigned long long)
TM_CASES(unsigned short)

TM_DEVICE(void __threadfence(void), tm_fence();)
TM_DEVICE(void __threadfence_block(void), )
TM_DEVICE(void __threadfence_system(void), tm_fence();)

#ifdef TMIGRATE_EMULATED
#define TM_LOAD(name) template <class T> TM_SITE inline T name(const T *p) { TM_CHECKED(p, sizeof(T), 0) return *p; }
#define TM_STORE(name) \
  template <class T> TM_SITE inline void name(T *p, T value) { TM_CHECKED(p, sizeof(T), 1) *p = value; }
#else
#define TM_LOAD(name) template <class T> __device__ T name(const T *p);
#define TM_STORE(name) template <class T> __device__ void name(T *p, T value);
#endif
TM_LOAD(__ldg)
TM_LOAD(__ldca)
TM_LOAD(__ldcg)
TM_LOAD(__ldcs)
TM_LOAD(__ldcv)
TM_LOAD(__ldlu)
TM_STORE(__stcg)
TM_STORE(__stcs)
TM_STORE(__stwb)
TM_STORE(__stwt)

#undef TM_ATOMIC
#undef TM_ATOMICS
#undef TM_ATOMIC_INTEGERS
#undef TM_CAS
#undef TM_CASES
#undef TM_LOAD
#undef TM_STORE
#endif
