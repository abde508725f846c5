/* Float intrinsics.  The oracle defines the approximate ones as the libm function of the same name, so that
 * converted code can agree bit for bit: __expf is expf, __fdividef is /, rsqrtf is 1/sqrtf. */
#ifndef TMIGRATE_MATH_FUNCTIONS_H
#define TMIGRATE_MATH_FUNCTIONS_H
#include "device_functions.h"

TM_DEVICE(float rsqrtf(float x), return 1.0f / __builtin_sqrtf(x);)
TM_DEVICE(double rsqrt(double x), return 1.0 / __builtin_sqrt(x);)
TM_DEVICE(float rsqrt(float x), return 1.0f / __builtin_sqrtf(x);)
TM_DEVICE(float rcbrtf(float x), return 1.0f / cbrtf(x);)
TM_DEVICE(double rcbrt(double x), return 1.0 / cbrt(x);)
TM_DEVICE(float rhypotf(float x, float y), return 1.0f / hypotf(x, y);)
TM_DEVICE(double rhypot(double x, double y), return 1.0 / hypot(x, y);)
TM_DEVICE(float norm3df(float x, float y, float z), return sqrtf(x * x + y * y + z * z);)
TM_DEVICE(double norm3d(double x, double y, double z), return sqrt(x * x + y * y + z * z);)
TM_DEVICE(float rnorm3df(float x, float y, float z), return 1.0f / sqrtf(x * x + y * y + z * z);)
TM_DEVICE(float norm4df(float x, float y, float z, float w), return sqrtf(x * x + y * y + z * z + w * w);)
TM_DEVICE(float sinpif(float x), return sinf(x * 3.14159265358979f);)
TM_DEVICE(float cospif(float x), return cosf(x * 3.14159265358979f);)
TM_DEVICE(double sinpi(double x), return sin(x * 3.14159265358979323846);)
TM_DEVICE(double cospi(double x), return cos(x * 3.14159265358979323846);)
TM_DEVICE(float normcdff(float x), return 0.5f * erfcf(-0.707106781186547524f * x);)
TM_DEVICE(double normcdf(double x), return 0.5 * erfc(-0.707106781186547524401 * x);)
TM_DEVICE(float erfcxf(float x), return expf(x * x) * erfcf(x);)
TM_DEVICE(double erfcx(double x), return exp(x * x) * erfc(x);)
TM_DEVICE(float __saturatef(float x), return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;)

/* Approximate functions, as their exact namesakes. */
TM_DEVICE(float __expf(float x), return expf(x);)
TM_DEVICE(float __exp10f(float x), return powf(10.0f, x);)
TM_DEVICE(float __logf(float x), return logf(x);)
TM_DEVICE(float __log2f(float x), return log2f(x);)
TM_DEVICE(float __log10f(float x), return log10f(x);)
TM_DEVICE(float __sinf(float x), return sinf(x);)
TM_DEVICE(float __cosf(float x), return cosf(x);)
TM_DEVICE(float __tanf(float x), return tanf(x);)
TM_DEVICE(float __tanhf(float x), return tanhf(x);)
TM_DEVICE(float __powf(float x, float y), return powf(x, y);)
TM_DEVICE(float __fdividef(float x, float y), return x / y;)
TM_DEVICE(float fdividef(float x, float y), return x / y;)
TM_DEVICE(double fdivide(double x, double y), return x / y;)
TM_DEVICE(void __sincosf(float x, float *s, float *c), *s = sinf(x); *c = cosf(x);)
TM_DEVICE(void sincospif(float x, float *s, float *c), *s = sinpif(x); *c = cospif(x);)
TM_DEVICE(void sincospi(double x, double *s, double *c), *s = sinpi(x); *c = cospi(x);)

/* Rounded operations.  rn is the plain operation; the others change the rounding mode around it. */
#ifdef TMIGRATE_EMULATED
#include <fenv.h>
namespace tm_oracle {
template <class T> struct rounding {
  int saved;
  explicit rounding(int mode) : saved(fegetround()) { fesetround(mode); }
  ~rounding() { fesetround(saved); }
};
template <class T> inline T opaque(T x) { volatile T y = x; return y; }
}  // namespace tm_oracle
#endif
#define TM_ROUNDED(name, type, parameters, expression)                                                           \
  TM_DEVICE(type name##_rn parameters, return expression;)                                                       \
  TM_DEVICE(type name##_rz parameters, tm_oracle::rounding<type> mode(FE_TOWARDZERO); return tm_oracle::opaque(expression);) \
  TM_DEVICE(type name##_ru parameters, tm_oracle::rounding<type> mode(FE_UPWARD); return tm_oracle::opaque(expression);)     \
  TM_DEVICE(type name##_rd parameters, tm_oracle::rounding<type> mode(FE_DOWNWARD); return tm_oracle::opaque(expression);)
#ifdef TMIGRATE_EMULATED
#define TM_V(x) tm_oracle::opaque(x)
#else
#define TM_V(x) x
#endif
TM_ROUNDED(__fadd, float, (float x, float y), TM_V(x) + TM_V(y))
TM_ROUNDED(__fsub, float, (float x, float y), TM_V(x) - TM_V(y))
TM_ROUNDED(__fmul, float, (float x, float y), TM_V(x) * TM_V(y))
TM_ROUNDED(__fdiv, float, (float x, float y), TM_V(x) / TM_V(y))
TM_ROUNDED(__fsqrt, float, (float x), __builtin_sqrtf(TM_V(x)))
TM_ROUNDED(__frcp, float, (float x), 1.0f / TM_V(x))
TM_ROUNDED(__fmaf, float, (float x, float y, float z), __builtin_fmaf(TM_V(x), TM_V(y), TM_V(z)))
TM_ROUNDED(__dadd, double, (double x, double y), TM_V(x) + TM_V(y))
TM_ROUNDED(__dsub, double, (double x, double y), TM_V(x) - TM_V(y))
TM_ROUNDED(__dmul, double, (double x, double y), TM_V(x) * TM_V(y))
TM_ROUNDED(__ddiv, double, (double x, double y), TM_V(x) / TM_V(y))
TM_ROUNDED(__dsqrt, double, (double x), __builtin_sqrt(TM_V(x)))
TM_ROUNDED(__drcp, double, (double x), 1.0 / TM_V(x))
TM_ROUNDED(__fma, double, (double x, double y, double z), __builtin_fma(TM_V(x), TM_V(y), TM_V(z)))
TM_ROUNDED(__int2float, float, (int x), (float)TM_V(x))
TM_ROUNDED(__uint2float, float, (unsigned int x), (float)TM_V(x))
TM_ROUNDED(__ll2float, float, (long long x), (float)TM_V(x))
TM_ROUNDED(__ull2float, float, (unsigned long long x), (float)TM_V(x))
TM_ROUNDED(__ll2double, double, (long long x), (double)TM_V(x))
TM_ROUNDED(__ull2double, double, (unsigned long long x), (double)TM_V(x))
TM_ROUNDED(__double2float, float, (double x), (float)TM_V(x))
#undef TM_ROUNDED
#undef TM_V
TM_DEVICE(float __frsqrt_rn(float x), return (float)(1.0 / __builtin_sqrt((double)x));)
TM_DEVICE(double __int2double_rn(int x), return (double)x;)
TM_DEVICE(double __uint2double_rn(unsigned int x), return (double)x;)

#endif
