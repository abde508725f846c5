/* What generated C calls for one value: integers that wrap, divide and shift as on a GPU, conversions,
 * comparisons of bits.  Included by every generated file; all functions are static.
 *
 * Names: tm_<operation>_<type of the first operand>, for example tm_truncdiv_i32.
 */
#ifndef TM_DEVICE_H
#define TM_DEVICE_H
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tm_abi.h"

#define TM_INLINE static inline __attribute__((always_inline, unused))
#define TM_EXPORT __attribute__((visibility("default")))

#define TM_EACH_SIGNED(X) \
  X(i8, int8_t, uint8_t, 8) X(i16, int16_t, uint16_t, 16) X(i32, int32_t, uint32_t, 32) X(i64, int64_t, uint64_t, 64)
#define TM_EACH_UNSIGNED(X) X(u8, uint8_t, 8) X(u16, uint16_t, 16) X(u32, uint32_t, 32) X(u64, uint64_t, 64)

/* ---- division: nothing traps.  Division by zero gives all ones, the remainder of it the dividend. ---- */

#define TM_SIGNED_DIVISION(S, T, U, BITS)                                                                     \
  TM_INLINE T tm_truncdiv_##S(T a, T b) { return b == 0 ? (T)-1 : b == -1 ? (T)(0 - (U)a) : (T)(a / b); }      \
  TM_INLINE T tm_truncrem_##S(T a, T b) { return b == 0 ? a : b == -1 ? 0 : (T)(a % b); }                      \
  TM_INLINE T tm_floordiv_##S(T a, T b) {                                                                     \
    T q = tm_truncdiv_##S(a, b), r = tm_truncrem_##S(a, b);                                                   \
    return b != 0 && r != 0 && (r < 0) != (b < 0) ? (T)(q - 1) : q;                                           \
  }                                                                                                           \
  TM_INLINE T tm_floormod_##S(T a, T b) {                                                                     \
    T r = tm_truncrem_##S(a, b);                                                                              \
    return b != 0 && r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;                                           \
  }
#define TM_UNSIGNED_DIVISION(S, T, BITS)                                                                      \
  TM_INLINE T tm_truncdiv_##S(T a, T b) { return b == 0 ? (T)-1 : (T)(a / b); }                               \
  TM_INLINE T tm_truncrem_##S(T a, T b) { return b == 0 ? a : (T)(a % b); }                                   \
  TM_INLINE T tm_floordiv_##S(T a, T b) { return tm_truncdiv_##S(a, b); }                                     \
  TM_INLINE T tm_floormod_##S(T a, T b) { return tm_truncrem_##S(a, b); }
TM_EACH_SIGNED(TM_SIGNED_DIVISION)
TM_EACH_UNSIGNED(TM_UNSIGNED_DIVISION)

/* Python's // and % on floats. */
#define TM_FLOAT_DIVISION(S, T, SUFFIX)                                                                       \
  TM_INLINE T tm_floormod_##S(T a, T b) {                                                                     \
    T r = fmod##SUFFIX(a, b);                                                                                 \
    return r != 0 ? ((b < 0) != (r < 0) ? r + b : r) : __builtin_copysign##SUFFIX(0, b);                      \
  }                                                                                                           \
  TM_INLINE T tm_floordiv_##S(T a, T b) {                                                                     \
    T q = (a - tm_floormod_##S(a, b)) / b, down = __builtin_floor##SUFFIX(q);                                 \
    return b == 0 ? a / b : q == 0 ? __builtin_copysign##SUFFIX(0, a / b) : q - down > (T)0.5 ? down + 1 : down; \
  }
TM_FLOAT_DIVISION(f32, float, f)
TM_FLOAT_DIVISION(f64, double, )

/* ---- shifts: by the width or more (also by a negative amount) they give 0, or the sign for >> ---- */

#define TM_SIGNED_SHIFT(S, T, U, BITS)                                                                        \
  TM_INLINE T tm_shl_##S(T a, T b) { return (U)b >= BITS ? 0 : (T)((U)a << b); }                              \
  TM_INLINE T tm_shr_##S(T a, T b) { return (T)(a >> ((U)b >= BITS ? BITS - 1 : b)); }
#define TM_UNSIGNED_SHIFT(S, T, BITS)                                                                         \
  TM_INLINE T tm_shl_##S(T a, T b) { return b >= BITS ? 0 : (T)(a << b); }                                    \
  TM_INLINE T tm_shr_##S(T a, T b) { return b >= BITS ? 0 : (T)(a >> b); }
TM_EACH_SIGNED(TM_SIGNED_SHIFT)
TM_EACH_UNSIGNED(TM_UNSIGNED_SHIFT)

/* ---- integer functions ---- */

#define TM_MIN_MAX(S, T)                                                                                      \
  TM_INLINE T tm_min_##S(T a, T b) { return a < b ? a : b; }                                                  \
  TM_INLINE T tm_max_##S(T a, T b) { return a > b ? a : b; }
/* hadd: (a & b) + ((a ^ b) >> 1) never overflows. */
#define TM_SIGNED_FUNCTIONS(S, T, U, BITS)                                                                    \
  TM_MIN_MAX(S, T)                                                                                            \
  TM_INLINE T tm_abs_##S(T a) { return a < 0 ? (T)(0 - (U)a) : a; }                                           \
  TM_INLINE T tm_hadd_##S(T a, T b) { return (T)((a & b) + ((a ^ b) >> 1)); }                                 \
  TM_INLINE T tm_rhadd_##S(T a, T b) { return (T)((a | b) - ((a ^ b) >> 1)); }                                \
  TM_INLINE uint32_t tm_sad_##S(T a, T b, uint32_t c) { return (uint32_t)(a > b ? (U)a - (U)b : (U)b - (U)a) + c; }
#define TM_UNSIGNED_FUNCTIONS(S, T, BITS)                                                                     \
  TM_MIN_MAX(S, T)                                                                                            \
  TM_INLINE T tm_abs_##S(T a) { return a; }                                                                   \
  TM_INLINE T tm_hadd_##S(T a, T b) { return (T)((a & b) + ((a ^ b) >> 1)); }                                 \
  TM_INLINE T tm_rhadd_##S(T a, T b) { return (T)((a | b) - ((a ^ b) >> 1)); }                                \
  TM_INLINE uint32_t tm_sad_##S(T a, T b, uint32_t c) { return (uint32_t)(a > b ? a - b : b - a) + c; }
TM_EACH_SIGNED(TM_SIGNED_FUNCTIONS)
TM_EACH_UNSIGNED(TM_UNSIGNED_FUNCTIONS)

TM_INLINE int32_t tm_popc_u64(uint64_t a) { return __builtin_popcountll(a); }
TM_INLINE int32_t tm_ffs_u64(uint64_t a) { return a ? __builtin_ctzll(a) + 1 : 0; }
TM_INLINE int32_t tm_clz_bits(uint64_t a, int bits) { return a ? __builtin_clzll(a) - (64 - bits) : bits; }
TM_INLINE uint64_t tm_brev_bits(uint64_t a, int bits) {
  a = (a >> 1 & 0x5555555555555555u) | (a & 0x5555555555555555u) << 1;
  a = (a >> 2 & 0x3333333333333333u) | (a & 0x3333333333333333u) << 2;
  a = (a >> 4 & 0x0f0f0f0f0f0f0f0fu) | (a & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(a) >> (64 - bits);
}
#define TM_BITS(S, T, U, BITS)                                                                                \
  TM_INLINE int32_t tm_popc_##S(T a) { return tm_popc_u64((U)a); }                                            \
  TM_INLINE int32_t tm_ffs_##S(T a) { return tm_ffs_u64((U)a); }                                              \
  TM_INLINE int32_t tm_clz_##S(T a) { return tm_clz_bits((U)a, BITS); }                                       \
  TM_INLINE T tm_brev_##S(T a) { return (T)tm_brev_bits((U)a, BITS); }
TM_EACH_SIGNED(TM_BITS)
TM_BITS(u8, uint8_t, uint8_t, 8)
TM_BITS(u16, uint16_t, uint16_t, 16)
TM_BITS(u32, uint32_t, uint32_t, 32)
TM_INLINE int32_t tm_clz_u64(uint64_t a) { return tm_clz_bits(a, 64); }
TM_INLINE uint64_t tm_brev_u64(uint64_t a) { return tm_brev_bits(a, 64); }

TM_INLINE int8_t tm_mulhi_i8(int8_t a, int8_t b) { return (int8_t)((a * b) >> 8); }
TM_INLINE uint8_t tm_mulhi_u8(uint8_t a, uint8_t b) { return (uint8_t)((a * b) >> 8); }
TM_INLINE int16_t tm_mulhi_i16(int16_t a, int16_t b) { return (int16_t)((a * b) >> 16); }
TM_INLINE uint16_t tm_mulhi_u16(uint16_t a, uint16_t b) { return (uint16_t)(((uint32_t)a * b) >> 16); }
TM_INLINE int32_t tm_mulhi_i32(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b) >> 32); }
TM_INLINE uint32_t tm_mulhi_u32(uint32_t a, uint32_t b) { return (uint32_t)(((uint64_t)a * b) >> 32); }
TM_INLINE int64_t tm_mulhi_i64(int64_t a, int64_t b) { return (int64_t)(((__int128)a * b) >> 64); }
TM_INLINE uint64_t tm_mulhi_u64(uint64_t a, uint64_t b) { return (uint64_t)(((unsigned __int128)a * b) >> 64); }

/* The low 24 bits of each operand, sign-extended for signed types. */
#define TM_MUL24_SIGNED(S, T, U, BITS)                                                                        \
  TM_INLINE T tm_mul24_##S(T a, T b) {                                                                        \
    int32_t x = (int32_t)((uint32_t)a << 8) >> 8, y = (int32_t)((uint32_t)b << 8) >> 8;                       \
    return (T)(int32_t)((uint32_t)x * (uint32_t)y);                                                           \
  }
#define TM_MUL24_UNSIGNED(S, T, BITS)                                                                         \
  TM_INLINE T tm_mul24_##S(T a, T b) { return (T)(((uint32_t)a & 0xffffffu) * ((uint32_t)b & 0xffffffu)); }
TM_EACH_SIGNED(TM_MUL24_SIGNED)
TM_EACH_UNSIGNED(TM_MUL24_UNSIGNED)

TM_INLINE uint32_t tm_byte_perm_u32(uint32_t x, uint32_t y, uint32_t selector) {
  uint64_t both = (uint64_t)y << 32 | x;
  uint32_t result = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t pick = selector >> (4 * i) & 0xf;
    uint32_t byte = (uint32_t)(both >> (8 * (pick & 7))) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
TM_INLINE uint32_t tm_funnelshift_l_u32(uint32_t lo, uint32_t hi, uint32_t n) {
  return (uint32_t)((((uint64_t)hi << 32 | lo) << (n & 31)) >> 32);
}
TM_INLINE uint32_t tm_funnelshift_r_u32(uint32_t lo, uint32_t hi, uint32_t n) {
  return (uint32_t)(((uint64_t)hi << 32 | lo) >> (n & 31));
}
TM_INLINE uint32_t tm_funnelshift_lc_u32(uint32_t lo, uint32_t hi, uint32_t n) {
  return n >= 32 ? lo : tm_funnelshift_l_u32(lo, hi, n);
}
TM_INLINE uint32_t tm_funnelshift_rc_u32(uint32_t lo, uint32_t hi, uint32_t n) {
  return n >= 32 ? hi : tm_funnelshift_r_u32(lo, hi, n);
}
/* Each operand's bytes are signed where its type is. */
#define TM_DP4A(NAME, TX, TY, BX, BY, TC)                                                                     \
  TM_INLINE TC NAME(TX x, TY y, TC c) {                                                                       \
    for (int i = 0; i < 4; i++) c = (TC)((uint32_t)c + (uint32_t)((BX)(x >> (8 * i)) * (BY)(y >> (8 * i))));  \
    return c;                                                                                                 \
  }
TM_DP4A(tm_dp4a_i32_i32_i32, int32_t, int32_t, int8_t, int8_t, int32_t)
TM_DP4A(tm_dp4a_i32_i32_u32, int32_t, int32_t, int8_t, int8_t, uint32_t)
TM_DP4A(tm_dp4a_u32_u32_u32, uint32_t, uint32_t, uint8_t, uint8_t, uint32_t)
TM_DP4A(tm_dp4a_u32_u32_i32, uint32_t, uint32_t, uint8_t, uint8_t, int32_t)
TM_DP4A(tm_dp4a_i32_u32_i32, int32_t, uint32_t, int8_t, uint8_t, int32_t)
TM_DP4A(tm_dp4a_u32_i32_i32, uint32_t, int32_t, uint8_t, int8_t, int32_t)
TM_DP4A(tm_dp4a_i32_u32_u32, int32_t, uint32_t, int8_t, uint8_t, uint32_t)
TM_DP4A(tm_dp4a_u32_i32_u32, uint32_t, int32_t, uint8_t, int8_t, uint32_t)

/* ---- float to integer: saturates, NaN gives 0 ---- */

/* LOW is exact in both float types; HIGH is the first value that does not fit, a power of two. */
#define TM_TO_INTEGER(FROM, F, TO, T, LOW, HIGH, MIN, MAX)                                                    \
  TM_INLINE T tm_##FROM##_to_##TO(F x) {                                                                      \
    return x != x ? 0 : x <= (F)(LOW) ? (T)(MIN) : x >= (F)(HIGH) ? (T)(MAX) : (T)x;                          \
  }
#define TM_TO_INTEGERS(FROM, F)                                                                               \
  TM_TO_INTEGER(FROM, F, i8, int8_t, -128.0, 128.0, INT8_MIN, INT8_MAX)                                       \
  TM_TO_INTEGER(FROM, F, i16, int16_t, -32768.0, 32768.0, INT16_MIN, INT16_MAX)                               \
  TM_TO_INTEGER(FROM, F, i32, int32_t, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX)                                 \
  TM_TO_INTEGER(FROM, F, i64, int64_t, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)                                 \
  TM_TO_INTEGER(FROM, F, u8, uint8_t, 0.0, 256.0, 0, UINT8_MAX)                                               \
  TM_TO_INTEGER(FROM, F, u16, uint16_t, 0.0, 65536.0, 0, UINT16_MAX)                                          \
  TM_TO_INTEGER(FROM, F, u32, uint32_t, 0.0, 0x1p32, 0, UINT32_MAX)                                           \
  TM_TO_INTEGER(FROM, F, u64, uint64_t, 0.0, 0x1p64, 0, UINT64_MAX)
TM_TO_INTEGERS(f32, float)
TM_TO_INTEGERS(f64, double)

#define TM_ROUNDED_TO_INTEGER(NAME, TO, T)                                                                    \
  TM_INLINE T tm_float_to_##NAME##_rn_f32(float x) { return tm_f32_to_##TO(__builtin_rintf(x)); }             \
  TM_INLINE T tm_float_to_##NAME##_rd_f32(float x) { return tm_f32_to_##TO(__builtin_floorf(x)); }            \
  TM_INLINE T tm_float_to_##NAME##_ru_f32(float x) { return tm_f32_to_##TO(__builtin_ceilf(x)); }             \
  TM_INLINE T tm_float_to_##NAME##_rz_f32(float x) { return tm_f32_to_##TO(x); }                              \
  TM_INLINE T tm_float_to_##NAME##_rn_f64(double x) { return tm_f64_to_##TO(__builtin_rint(x)); }             \
  TM_INLINE T tm_float_to_##NAME##_rd_f64(double x) { return tm_f64_to_##TO(__builtin_floor(x)); }            \
  TM_INLINE T tm_float_to_##NAME##_ru_f64(double x) { return tm_f64_to_##TO(__builtin_ceil(x)); }             \
  TM_INLINE T tm_float_to_##NAME##_rz_f64(double x) { return tm_f64_to_##TO(x); }
TM_ROUNDED_TO_INTEGER(int, i32, int32_t)
TM_ROUNDED_TO_INTEGER(uint, u32, uint32_t)
TM_ROUNDED_TO_INTEGER(ll, i64, int64_t)
TM_ROUNDED_TO_INTEGER(ull, u64, uint64_t)

/* The same bits as another type of the same size. */
#define TM_BITCAST(TO, FROM, x)                      \
  ({                                                 \
    FROM tm_from = (x);                              \
    TO tm_to;                                        \
    __builtin_memcpy(&tm_to, &tm_from, sizeof tm_to); \
    tm_to;                                           \
  })

#include "tm_half.h"
#include "tm_functions.h"
#include "tm_atomic.h"
#include "tm_kernel.h"
#include "tm_lanes.h"
#endif
