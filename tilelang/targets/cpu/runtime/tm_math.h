/* exp, log and tanh without calls or branches, so that compilers vectorise the loops around them.  For lifted
 * kernels: within 4 units in the last place (tests/cpu/test_backend_math.py measures it), special values as
 * in C. */
#ifndef TM_MATH_H
#define TM_MATH_H

/* A NaN argument is ignored, as by C's fmax and fmin. */
TM_INLINE float tm_vector_fmax_f32(float a, float b) { return a != a || a < b ? b : a; }
TM_INLINE float tm_vector_fmin_f32(float a, float b) { return a != a || a > b ? b : a; }
TM_INLINE double tm_vector_fmax_f64(double a, double b) { return a != a || a < b ? b : a; }
TM_INLINE double tm_vector_fmin_f64(double a, double b) { return a != a || a > b ? b : a; }

TM_INLINE float tm_float_of(int32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
TM_INLINE int32_t tm_bits_of(float value) {
  int32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}

/* 2^n * (1 + p) for |n| <= 300: in two steps, so that denormal results are rounded once. */
TM_INLINE float tm_scale(float value, int32_t n) {
  int32_t half = n >> 1, rest = n - half;
  return value * tm_float_of((half + 127) << 23) * tm_float_of((rest + 127) << 23);
}

/* e^r on |r| <= ln(2)/2: Taylor's coefficients adjusted to the interval. */
TM_INLINE float tm_exp_kernel(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r + 1.0f;
}
TM_INLINE float tm_vector_exp_f32(float x) {
  float clamped = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x; /* NaN stays */
  float n = __builtin_rintf(clamped * 1.44269504088896341f);
  float r = clamped - n * 0.693359375f - n * -2.12194440e-4f;
  int32_t k = n == n ? (int32_t)n : 0;
  return tm_scale(tm_exp_kernel(r), k);
}
TM_INLINE float tm_vector_exp2_f32(float x) {
  float clamped = x < -151.0f ? -151.0f : x > 129.0f ? 129.0f : x;
  float n = __builtin_rintf(clamped);
  int32_t k = n == n ? (int32_t)n : 0;
  return tm_scale(tm_exp_kernel((clamped - n) * 0.693147180559945309f), k);
}
TM_INLINE float tm_vector_exp10_f32(float x) {
  float clamped = x < -46.0f ? -46.0f : x > 39.0f ? 39.0f : x;
  float n = __builtin_rintf(clamped * 3.32192809488736235f);
  float r = clamped - n * 0.30102539062f - n * 4.60503939e-6f; /* log10(2) in two parts */
  int32_t k = n == n ? (int32_t)n : 0;
  return tm_scale(tm_exp_kernel(r * 2.30258509299404568f), k);
}
TM_INLINE float tm_vector_fast_exp_f32(float x) { return tm_vector_exp_f32(x); }

/* x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log(m) as a polynomial in m - 1. */
TM_INLINE float tm_log_parts(float x, float *exponent) {
  bool tiny = x < 1.17549435e-38f;
  int32_t bits = tm_bits_of(tiny ? x * 0x1p25f : x);
  int32_t shifted = bits - 0x3f3504f3;
  *exponent = (float)(shifted >> 23) - (tiny ? 25.0f : 0.0f);
  return tm_float_of((shifted & 0x007fffff) + 0x3f3504f3) - 1.0f;
}
TM_INLINE float tm_log_kernel(float m) {
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  return p * m * (m * m);
}
TM_INLINE float tm_log_special(float x, float result) {
  result = x == __builtin_inff() ? x : result;
  result = x == 0.0f ? -__builtin_inff() : result;
  return x >= 0.0f ? result : __builtin_nanf("");
}
TM_INLINE float tm_vector_log_f32(float x) {
  float e, m = tm_log_parts(x, &e), rest = tm_log_kernel(m) + e * -2.12194440e-4f - 0.5f * (m * m);
  return tm_log_special(x, (m + rest) + e * 0.693359375f);
}
TM_INLINE float tm_vector_log2_f32(float x) {
  float e, m = tm_log_parts(x, &e), rest = tm_log_kernel(m) - 0.5f * (m * m);
  /* log2(e) = 1 + 0.44269504: the product is taken apart to keep the last bits. */
  return tm_log_special(x, rest * 0.44269504088896341f + m * 0.44269504088896341f + rest + m + e);
}
TM_INLINE float tm_vector_log10_f32(float x) {
  float e, m = tm_log_parts(x, &e), rest = tm_log_kernel(m) - 0.5f * (m * m);
  /* log10(e) and log10(2) in two parts each. */
  float low = rest * 7.00731903251827651e-4f + m * 7.00731903251827651e-4f + e * 2.48745663981195213e-4f;
  return tm_log_special(x, low + rest * 4.3359375e-1f + m * 4.3359375e-1f + e * 3.0078125e-1f);
}
TM_INLINE float tm_vector_fast_log_f32(float x) { return tm_vector_log_f32(x); }

/* Odd polynomial near zero, where 1 - 2 / (e^2x + 1) would cancel. */
TM_INLINE float tm_vector_tanh_f32(float x) {
  float size = __builtin_fabsf(x), square = x * x;
  float p = -5.70498872745e-3f;
  p = p * square + 2.06390887954e-2f;
  p = p * square - 5.37397155531e-2f;
  p = p * square + 1.33314422036e-1f;
  p = p * square - 3.33332819422e-1f;
  float near = p * square * x + x;
  float far = 1.0f - 2.0f / (tm_vector_exp_f32(2.0f * size) + 1.0f);
  return size < 0.625f ? near : __builtin_copysignf(far, x);
}

TM_INLINE double tm_double_of(int64_t bits) {
  double value;
  __builtin_memcpy(&value, &bits, 8);
  return value;
}
TM_INLINE double tm_vector_exp_f64(double x) {
  double clamped = x < -746.0 ? -746.0 : x > 710.0 ? 710.0 : x;
  double n = __builtin_rint(clamped * 1.44269504088896338700);
  double r = clamped - n * 6.93147180369123816490e-01 - n * 1.90821492927058770002e-10;
  /* Taylor's series to r^13 / 13!: on |r| <= 0.347 the rest is below 2^-57. */
  double p = 1.6059043836821613e-10;
  p = p * r + 2.08767569878681e-09;
  p = p * r + 2.505210838544172e-08;
  p = p * r + 2.755731922398589e-07;
  p = p * r + 2.7557319223985893e-06;
  p = p * r + 2.48015873015873e-05;
  p = p * r + 1.984126984126984e-04;
  p = p * r + 1.388888888888889e-03;
  p = p * r + 8.333333333333333e-03;
  p = p * r + 4.1666666666666664e-02;
  p = p * r + 1.6666666666666666e-01;
  p = p * r + 0.5;
  int64_t k = n == n ? (int64_t)(int32_t)n : 0, half = k >> 1;
  double value = p * (r * r) + r + 1.0;
  return value * tm_double_of((half + 1023) << 52) * tm_double_of((k - half + 1023) << 52);
}
/* s = m / (2 + m): log(1 + m) = 2 * atanh(s). */
TM_INLINE double tm_vector_log_f64(double x) {
  bool tiny = x < 2.2250738585072014e-308;
  double scaled = tiny ? x * 0x1p54 : x;
  int64_t bits;
  __builtin_memcpy(&bits, &scaled, 8);
  int64_t shifted = bits - 0x3fe6a09e667f3bcdll;
  double e = (double)(int32_t)(shifted >> 52) - (tiny ? 54.0 : 0.0);
  double m = tm_double_of((shifted & 0x000fffffffffffffll) + 0x3fe6a09e667f3bcdll) - 1.0;
  double s = m / (2.0 + m), z = s * s, half = 0.5 * m * m;
  double p = 1.479819860511658591e-01;
  p = p * z + 1.531383769920937332e-01;
  p = p * z + 1.818357216161805012e-01;
  p = p * z + 2.222219843214978396e-01;
  p = p * z + 2.857142874366239149e-01;
  p = p * z + 3.999999999940941908e-01;
  p = p * z + 6.666666666666735130e-01;
  double result = e * 6.93147180369123816490e-01 - ((half - (s * (half + p * z) + e * 1.90821492927058770002e-10)) - m);
  result = x == __builtin_inf() ? x : result;
  result = x == 0.0 ? -__builtin_inf() : result;
  return x >= 0.0 ? result : __builtin_nan("");
}
#endif
