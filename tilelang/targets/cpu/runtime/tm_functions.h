/* Functions on f32 and f64, computed as the original's emulation computes them: libm where C has the
 * function, the compiler's exact operation where the result is exact, a stated formula otherwise.
 * Names: tm_<function>_f32, tm_<function>_f64. */
#ifndef TM_FUNCTIONS_H
#define TM_FUNCTIONS_H

/* ---- exact: inline instructions, no library ---- */
#define TM_EXACT1(NAME, BUILTIN)                                              \
  TM_INLINE float tm_##NAME##_f32(float x) { return __builtin_##BUILTIN##f(x); } \
  TM_INLINE double tm_##NAME##_f64(double x) { return __builtin_##BUILTIN(x); }
TM_EXACT1(sqrt, sqrt)
TM_EXACT1(floor, floor)
TM_EXACT1(ceil, ceil)
TM_EXACT1(trunc, trunc)
TM_EXACT1(round, round)
TM_EXACT1(rint, rint)
TM_EXACT1(fabs, fabs)

/* ---- libm ---- */
#define TM_LIBM1(NAME)                                                  \
  TM_INLINE float tm_##NAME##_f32(float x) { return NAME##f(x); }        \
  TM_INLINE double tm_##NAME##_f64(double x) { return NAME(x); }
#define TM_LIBM2(NAME)                                                               \
  TM_INLINE float tm_##NAME##_f32(float x, float y) { return NAME##f(x, y); }         \
  TM_INLINE double tm_##NAME##_f64(double x, double y) { return NAME(x, y); }
#define TM_EACH_LIBM1(X) \
  X(cbrt) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) \
  X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(tgamma) X(lgamma)
TM_EACH_LIBM1(TM_LIBM1)
TM_LIBM2(pow)
TM_LIBM2(atan2)
TM_LIBM2(fmod)
TM_LIBM2(remainder)
TM_LIBM2(hypot)
TM_LIBM2(fdim)
TM_LIBM2(nextafter)
TM_LIBM2(fmin)
TM_LIBM2(fmax)
/* Not in C's math.h either, but in every libm that we link. */
extern float exp10f(float);
extern double exp10(double);
TM_LIBM1(exp10)
/* Bessel functions stand in X/Open's libm, not in C's; f32 goes through f64. */
extern double j0(double), j1(double), y0(double), y1(double);
#define TM_BESSEL(NAME)                                                      \
  TM_INLINE double tm_##NAME##_f64(double x) { return NAME(x); }              \
  TM_INLINE float tm_##NAME##_f32(float x) { return (float)NAME((double)x); }
TM_BESSEL(j0)
TM_BESSEL(j1)
TM_BESSEL(y0)
TM_BESSEL(y1)

/* ---- formulas; R is the type, F the suffix of C's function names ---- */

#define TM_SQRT1_2 0.70710678118654752440

/* The quantile of the normal distribution's tails: Wichura's AS241 gives a start that two steps of
 * Halley's method on erfc bring to the last bits. */
TM_INLINE double tm_erfcinv_f64(double x) {
  if (x != x || x < 0 || x > 2) return __builtin_nan("");
  if (x == 0) return __builtin_inf();
  if (x == 2) return -__builtin_inf();
  double small = x > 1 ? 2 - x : x, t = __builtin_sqrt(-2 * log(small / 2));
  double y = TM_SQRT1_2 * (t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                                   (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
  for (int i = 0; i < 4; i++) { /* f = erfc(y) - small, f' = -2/sqrt(pi) exp(-y^2), f''/f' = -2y */
    double step = (erfc(y) - small) / (1.12837916709551257390 * exp(-y * y));
    y += step / (1 - y * step);
  }
  return x > 1 ? -y : y;
}
TM_INLINE double tm_erfinv_f64(double x) {
  if (x != x || x < -1 || x > 1) return __builtin_nan("");
  double size = __builtin_fabs(x), y;
  if (size > 0.5) return x > 0 ? tm_erfcinv_f64(1 - x) : -tm_erfcinv_f64(1 + x);
  y = size * 0.88622692545275801365; /* sqrt(pi)/2 */
  for (int i = 0; i < 4; i++) {
    double step = (erf(y) - size) / (1.12837916709551257390 * exp(-y * y));
    y -= step / (1 + y * step);
  }
  return __builtin_copysign(y, x);
}
TM_INLINE double tm_erfcx_f64(double x) { return exp(x * x) * erfc(x); }
TM_INLINE float tm_erfcx_f32(float x) { return expf(x * x) * erfcf(x); }
TM_INLINE float tm_erfcinv_f32(float x) { return (float)tm_erfcinv_f64(x); }
TM_INLINE float tm_erfinv_f32(float x) { return (float)tm_erfinv_f64(x); }

#define TM_FORMULAS(S, R, F)                                                                                   \
  TM_INLINE R tm_rsqrt_##S(R x) { return (R)1 / __builtin_sqrt##F(x); }                                        \
  TM_INLINE R tm_rcbrt_##S(R x) { return (R)1 / cbrt##F(x); }                                                  \
  TM_INLINE R tm_rhypot_##S(R x, R y) { return (R)1 / hypot##F(x, y); }                                        \
  TM_INLINE R tm_norm3d_##S(R x, R y, R z) { return __builtin_sqrt##F(x * x + y * y + z * z); }                \
  TM_INLINE R tm_copysign_##S(R x, R y) { return __builtin_copysign##F(x, y); }                                \
  TM_INLINE R tm_fma_##S(R x, R y, R z) { return fma##F(x, y, z); }                                            \
  TM_INLINE R tm_ldexp_##S(R x, int32_t n) { return ldexp##F(x, n); }                                          \
  TM_INLINE int32_t tm_ilogb_##S(R x) { return ilogb##F(x); }                                                  \
  TM_INLINE bool tm_isnan_##S(R x) { return x != x; }                                                          \
  TM_INLINE bool tm_isinf_##S(R x) { return __builtin_fabs##F(x) == (R)__builtin_inf(); }                      \
  TM_INLINE bool tm_isfinite_##S(R x) { return __builtin_fabs##F(x) < (R)__builtin_inf(); }                    \
  TM_INLINE bool tm_signbit_##S(R x) { return __builtin_copysign##F((R)1, x) < 0; } /* gcc 12 cannot vectorise signbit */ \
  TM_INLINE R tm_frcp_rn_##S(R x) { return (R)1 / x; }                                                         \
  TM_INLINE R tm_add_rn_##S(R x, R y) { return x + y; }                                                        \
  TM_INLINE R tm_sub_rn_##S(R x, R y) { return x - y; }                                                        \
  TM_INLINE R tm_mul_rn_##S(R x, R y) { return x * y; }                                                        \
  TM_INLINE R tm_div_rn_##S(R x, R y) { return x / y; }
TM_FORMULAS(f32, float, f)
TM_FORMULAS(f64, double, )

TM_INLINE float tm_sinpi_f32(float x) { return sinf(x * 3.14159265358979f); }
TM_INLINE float tm_cospi_f32(float x) { return cosf(x * 3.14159265358979f); }
TM_INLINE double tm_sinpi_f64(double x) { return sin(x * 3.14159265358979323846); }
TM_INLINE double tm_cospi_f64(double x) { return cos(x * 3.14159265358979323846); }
TM_INLINE float tm_normcdf_f32(float x) { return 0.5f * erfcf(-0.707106781186547524f * x); }
TM_INLINE double tm_normcdf_f64(double x) { return 0.5 * erfc(-0.707106781186547524401 * x); }
TM_INLINE double tm_normcdfinv_f64(double x) { return -1.41421356237309504880 * tm_erfcinv_f64(2 * x); }
TM_INLINE float tm_normcdfinv_f32(float x) { return (float)tm_normcdfinv_f64(x); }

/* CUDA's fast forms: the accurate function. */
TM_INLINE float tm_fast_exp_f32(float x) { return expf(x); }
TM_INLINE float tm_fast_exp10_f32(float x) { return powf(10.0f, x); }
TM_INLINE float tm_fast_log_f32(float x) { return logf(x); }
TM_INLINE float tm_fast_log2_f32(float x) { return log2f(x); }
TM_INLINE float tm_fast_log10_f32(float x) { return log10f(x); }
TM_INLINE float tm_fast_sin_f32(float x) { return sinf(x); }
TM_INLINE float tm_fast_cos_f32(float x) { return cosf(x); }
TM_INLINE float tm_fast_tan_f32(float x) { return tanf(x); }
TM_INLINE float tm_fast_pow_f32(float x, float y) { return powf(x, y); }
TM_INLINE float tm_fast_divide_f32(float x, float y) { return x / y; }
TM_INLINE float tm_saturate_f32(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
#endif
