/* 16-bit floats: stored as bits, computed in f32 and rounded back, which for + - * / and sqrt is the
 * correctly rounded result (24 bits >= 2 * 11 + 2).  NaN becomes 0x7fff, as CUDA's conversions give. */
#ifndef TM_HALF_H
#define TM_HALF_H

typedef struct {
  uint16_t bits;
} tm_f16;
typedef struct {
  uint16_t bits;
} tm_bf16;

TM_INLINE float tm_f16_to_f32(tm_f16 x) {
  uint32_t sign = (uint32_t)(x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu;
  /* Shifted into place the exponent is 112 too small; infinities and NaN need 112 more. */
  uint32_t bits = rest << 13;
  float value;
  if (rest >= 0x7c00u) {
    bits += 0x70000000u;
    __builtin_memcpy(&value, &bits, 4);
  } else {
    __builtin_memcpy(&value, &bits, 4);
    value *= 0x1p112f;
  }
  __builtin_memcpy(&bits, &value, 4);
  bits |= sign;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

/* Rounds to nearest even from a double, so that a conversion from f64 rounds once. */
TM_INLINE tm_f16 tm_f64_to_f16(double x) {
  uint16_t sign = __builtin_signbit(x) ? 0x8000u : 0;
  double size = __builtin_fabs(x);
  if (x != x) return (tm_f16){0x7fff};
  if (size >= 65520.0) return (tm_f16){(uint16_t)(sign | 0x7c00u)};
  if (size < 0x1p-14) { /* denormal: a multiple of 2^-24 */
    return (tm_f16){(uint16_t)(sign | (uint16_t)__builtin_rint(size * 0x1p24))};
  }
  uint64_t bits;
  __builtin_memcpy(&bits, &size, 8);
  bits += 0x1ffffffffffull + (bits >> 42 & 1); /* 42 bits go; ties to even */
  return (tm_f16){(uint16_t)(sign | (uint16_t)((bits >> 42) - (1008ull << 10)))};
}
TM_INLINE tm_f16 tm_f32_to_f16(float x) { return tm_f64_to_f16(x); }

TM_INLINE float tm_bf16_to_f32(tm_bf16 x) {
  uint32_t bits = (uint32_t)x.bits << 16;
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
TM_INLINE tm_bf16 tm_f32_to_bf16(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  if (x != x) return (tm_bf16){0x7fff};
  return (tm_bf16){(uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
}
/* f64 to bf16 through f32 rounded to odd, so that the second rounding sees what was lost. */
TM_INLINE tm_bf16 tm_f64_to_bf16(double x) {
  float near = (float)x;
  uint32_t bits;
  __builtin_memcpy(&bits, &near, 4);
  if (x == x && (double)near != x && !(bits & 1) && (bits & 0x7f800000u) != 0x7f800000u)
    bits += ((double)near < x) == !(bits >> 31) ? 1 : -1;
  __builtin_memcpy(&near, &bits, 4);
  return tm_f32_to_bf16(near);
}

/* a + b rounded to odd: where something is lost the last bit is 1, so that a second rounding is right. */
TM_INLINE double tm_add_to_odd(double a, double b) {
  double sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);
  uint64_t bits;
  __builtin_memcpy(&bits, &sum, 8);
  if (lost == lost && lost != 0 && !(bits & 1)) bits += (lost > 0) == (sum > 0) ? 1 : -1;
  __builtin_memcpy(&sum, &bits, 8);
  return sum;
}

#define TM_HALF_OPERATIONS(S, T)                                                                              \
  TM_INLINE T tm_add_##S(T a, T b) { return tm_f32_to_##S(tm_##S##_to_f32(a) + tm_##S##_to_f32(b)); }         \
  TM_INLINE T tm_sub_##S(T a, T b) { return tm_f32_to_##S(tm_##S##_to_f32(a) - tm_##S##_to_f32(b)); }         \
  TM_INLINE T tm_mul_##S(T a, T b) { return tm_f32_to_##S(tm_##S##_to_f32(a) * tm_##S##_to_f32(b)); }         \
  TM_INLINE T tm_div_##S(T a, T b) { return tm_f32_to_##S(tm_##S##_to_f32(a) / tm_##S##_to_f32(b)); }         \
  TM_INLINE T tm_neg_##S(T a) { return (T){(uint16_t)(a.bits ^ 0x8000u)}; }                                   \
  TM_INLINE T tm_fabs_##S(T a) { return (T){(uint16_t)(a.bits & 0x7fffu)}; }                                  \
  TM_INLINE T tm_copysign_##S(T a, T b) { return (T){(uint16_t)((a.bits & 0x7fffu) | (b.bits & 0x8000u))}; }  \
  TM_INLINE T tm_fma_##S(T a, T b, T c) {                                                                     \
    return tm_f64_to_##S(tm_add_to_odd((double)tm_##S##_to_f32(a) * tm_##S##_to_f32(b), tm_##S##_to_f32(c))); \
  }                                                                                                           \
  TM_INLINE T tm_nextafter_##S(T a, T b) {                                                                    \
    float x = tm_##S##_to_f32(a), y = tm_##S##_to_f32(b);                                                     \
    if (x != x || y != y) return (T){0x7fff};                                                                 \
    if (x == y) return b;                                                                                     \
    if (x == 0) return (T){(uint16_t)((b.bits & 0x8000u) | 1)};                                               \
    return (T){(uint16_t)(a.bits + ((x < y) == (x > 0) ? 1 : -1))};                                           \
  }
TM_HALF_OPERATIONS(f16, tm_f16)
TM_HALF_OPERATIONS(bf16, tm_bf16)
#endif
