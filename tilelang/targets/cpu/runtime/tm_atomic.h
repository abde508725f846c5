/* Atomics.  Each takes the place and the operands and gives the old value.  TM_ORDERED atomics are for
 * kernels whose blocks run in order on one thread: plain reads and writes. */
#ifndef TM_ATOMIC_H
#define TM_ATOMIC_H

/* One read-modify-write: NEW is an expression in `old`, `v` (and `w`). */
#define TM_EXCHANGING(NAME, T, BITS, NEW)                                                                     \
  TM_INLINE T tm_##NAME(T *place, T v) {                                                                      \
    BITS seen = __atomic_load_n((BITS *)place, __ATOMIC_RELAXED), next;                                       \
    T old, made;                                                                                              \
    do {                                                                                                      \
      __builtin_memcpy(&old, &seen, sizeof old);                                                              \
      made = NEW;                                                                                             \
      __builtin_memcpy(&next, &made, sizeof next);                                                            \
    } while (!__atomic_compare_exchange_n((BITS *)place, &seen, next, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
    return old;                                                                                               \
  }                                                                                                           \
  TM_INLINE T tm_ordered_##NAME(T *place, T v) {                                                              \
    T old = *place;                                                                                           \
    *place = NEW;                                                                                             \
    return old;                                                                                               \
  }
#define TM_FETCHING(NAME, T, BUILTIN, NEW)                                                                    \
  TM_INLINE T tm_##NAME(T *place, T v) { return BUILTIN(place, v, __ATOMIC_SEQ_CST); }                        \
  TM_INLINE T tm_ordered_##NAME(T *place, T v) {                                                              \
    T old = *place;                                                                                           \
    *place = NEW;                                                                                             \
    return old;                                                                                               \
  }
#define TM_COMPARING(S, T, BITS)                                                                              \
  TM_INLINE T tm_atomic_exch_##S(T *place, T v) {                                                             \
    BITS bits, old;                                                                                           \
    T result;                                                                                                 \
    __builtin_memcpy(&bits, &v, sizeof bits);                                                                 \
    old = __atomic_exchange_n((BITS *)place, bits, __ATOMIC_SEQ_CST);                                         \
    __builtin_memcpy(&result, &old, sizeof result);                                                           \
    return result;                                                                                            \
  }                                                                                                           \
  TM_INLINE T tm_ordered_atomic_exch_##S(T *place, T v) {                                                     \
    T old = *place;                                                                                           \
    *place = v;                                                                                               \
    return old;                                                                                               \
  }                                                                                                           \
  TM_INLINE T tm_atomic_cas_##S(T *place, T compare, T v) { /* compares bits, as the hardware does */         \
    BITS expected, bits;                                                                                      \
    __builtin_memcpy(&expected, &compare, sizeof bits);                                                       \
    __builtin_memcpy(&bits, &v, sizeof bits);                                                                 \
    __atomic_compare_exchange_n((BITS *)place, &expected, bits, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    __builtin_memcpy(&v, &expected, sizeof bits);                                                             \
    return v;                                                                                                 \
  }                                                                                                           \
  TM_INLINE T tm_ordered_atomic_cas_##S(T *place, T compare, T v) {                                           \
    T old = *place;                                                                                           \
    if (__builtin_memcmp(&old, &compare, sizeof old) == 0) *place = v;                                        \
    return old;                                                                                               \
  }

#define TM_ATOMIC_INTEGER(S, T)                                                \
  TM_FETCHING(atomic_add_##S, T, __atomic_fetch_add, (T)(old + v))             \
  TM_FETCHING(atomic_sub_##S, T, __atomic_fetch_sub, (T)(old - v))             \
  TM_FETCHING(atomic_and_##S, T, __atomic_fetch_and, (T)(old & v))             \
  TM_FETCHING(atomic_or_##S, T, __atomic_fetch_or, (T)(old | v))               \
  TM_FETCHING(atomic_xor_##S, T, __atomic_fetch_xor, (T)(old ^ v))             \
  TM_EXCHANGING(atomic_min_##S, T, T, old < v ? old : v)                       \
  TM_EXCHANGING(atomic_max_##S, T, T, old > v ? old : v)                       \
  TM_COMPARING(S, T, T)
#define TM_ATOMIC_SIGNED(S, T, U, BITS) TM_ATOMIC_INTEGER(S, T)
#define TM_ATOMIC_UNSIGNED(S, T, BITS)                                         \
  TM_ATOMIC_INTEGER(S, T)                                                      \
  TM_EXCHANGING(atomic_inc_##S, T, T, old >= v ? 0 : (T)(old + 1))             \
  TM_EXCHANGING(atomic_dec_##S, T, T, old == 0 || old > v ? v : (T)(old - 1))
TM_EACH_SIGNED(TM_ATOMIC_SIGNED)
TM_EACH_UNSIGNED(TM_ATOMIC_UNSIGNED)

#define TM_ATOMIC_FLOAT(S, T, BITS, ADD, LESS)                                 \
  TM_EXCHANGING(atomic_add_##S, T, BITS, ADD(old, v))                          \
  TM_EXCHANGING(atomic_min_##S, T, BITS, LESS(v, old) ? v : old)               \
  TM_EXCHANGING(atomic_max_##S, T, BITS, LESS(old, v) ? v : old)               \
  TM_COMPARING(S, T, BITS)
#define TM_PLAIN_ADD(a, b) ((a) + (b))
#define TM_PLAIN_LESS(a, b) ((a) < (b))
#define TM_F16_LESS(a, b) (tm_f16_to_f32(a) < tm_f16_to_f32(b))
#define TM_BF16_LESS(a, b) (tm_bf16_to_f32(a) < tm_bf16_to_f32(b))
TM_ATOMIC_FLOAT(f32, float, uint32_t, TM_PLAIN_ADD, TM_PLAIN_LESS)
TM_ATOMIC_FLOAT(f64, double, uint64_t, TM_PLAIN_ADD, TM_PLAIN_LESS)
TM_ATOMIC_FLOAT(f16, tm_f16, uint16_t, tm_add_f16, TM_F16_LESS)
TM_ATOMIC_FLOAT(bf16, tm_bf16, uint16_t, tm_add_bf16, TM_BF16_LESS)
#endif
