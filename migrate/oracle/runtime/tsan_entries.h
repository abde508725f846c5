/* The calls that -fsanitize=thread places in the program, answered by the checker.  Host code meets them too:
 * its atomics must work. */
#ifndef TM_TSAN_ENTRIES_H
#define TM_TSAN_ENTRIES_H
#include <cstdint>
#include <cstring>

using tm_oracle::checker::access;
using tm_oracle::checker::ATOMIC;
using tm_oracle::checker::range;
using tm_oracle::checker::READ;
using tm_oracle::checker::WRITE;

#define TM_SITE_HERE __builtin_return_address(0)
#define TM_ACCESSES(bytes)                                                                         \
  void __tsan_read##bytes(void *p) { access(p, bytes, READ, TM_SITE_HERE); }                       \
  void __tsan_write##bytes(void *p) { access(p, bytes, WRITE, TM_SITE_HERE); }                     \
  void __tsan_unaligned_read##bytes(void *p) { access(p, bytes, READ, TM_SITE_HERE); }             \
  void __tsan_unaligned_write##bytes(void *p) { access(p, bytes, WRITE, TM_SITE_HERE); }           \
  void __tsan_volatile_read##bytes(void *p) { access(p, bytes, READ, TM_SITE_HERE); }              \
  void __tsan_volatile_write##bytes(void *p) { access(p, bytes, WRITE, TM_SITE_HERE); }            \
  void __tsan_read_write##bytes(void *p) {                                                         \
    access(p, bytes, READ, TM_SITE_HERE);                                                          \
    access(p, bytes, WRITE, TM_SITE_HERE);                                                         \
  }                                                                                                \
  void __tsan_unaligned_read_write##bytes(void *p) {                                               \
    access(p, bytes, READ, TM_SITE_HERE);                                                          \
    access(p, bytes, WRITE, TM_SITE_HERE);                                                         \
  }

#define TM_ATOMICS_OF(bits, type)                                                                            \
  type __tsan_atomic##bits##_load(const volatile type *p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile type *p, type v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); } \
  type __tsan_atomic##bits##_exchange(volatile type *p, type v, int) {                                       \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int) {                                      \
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  type __tsan_atomic##bits##_fetch_sub(volatile type *p, type v, int) {                                      \
    return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  type __tsan_atomic##bits##_fetch_and(volatile type *p, type v, int) {                                      \
    return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  type __tsan_atomic##bits##_fetch_or(volatile type *p, type v, int) {                                       \
    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                                        \
  }                                                                                                          \
  type __tsan_atomic##bits##_fetch_xor(volatile type *p, type v, int) {                                      \
    return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  type __tsan_atomic##bits##_fetch_nand(volatile type *p, type v, int) {                                     \
    return __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *expected, type v, int, int) {    \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *expected, type v, int, int) {      \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
  }                                                                                                          \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v, int, int) {       \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
    return expected;                                                                                         \
  }

extern "C" {
TM_ACCESSES(1)
TM_ACCESSES(2)
TM_ACCESSES(4)
TM_ACCESSES(8)
TM_ACCESSES(16)
TM_ATOMICS_OF(8, uint8_t)
TM_ATOMICS_OF(16, uint16_t)
TM_ATOMICS_OF(32, uint32_t)
TM_ATOMICS_OF(64, uint64_t)
void __tsan_read_range(void *p, unsigned long size) { range(p, size, READ, TM_SITE_HERE); }
void __tsan_write_range(void *p, unsigned long size) { range(p, size, WRITE, TM_SITE_HERE); }
void *__tsan_memcpy(void *t, const void *s, unsigned long n) {
  range(s, n, READ, TM_SITE_HERE);
  range(t, n, WRITE, TM_SITE_HERE);
  return std::memcpy(t, s, n);
}
void *__tsan_memmove(void *t, const void *s, unsigned long n) {
  range(s, n, READ, TM_SITE_HERE);
  range(t, n, WRITE, TM_SITE_HERE);
  return std::memmove(t, s, n);
}
void *__tsan_memset(void *t, int v, unsigned long n) {
  range(t, n, WRITE, TM_SITE_HERE);
  return std::memset(t, v, n);
}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}
}
#endif
