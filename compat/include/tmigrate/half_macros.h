/* The intrinsics that __half and __nv_bfloat16 share; included by cuda_fp16.h and cuda_bf16.h, which define
 * TM_H (type), TM_H2 (pair) and the conversions tm_to_float(TM_H) and tm_round(float, TM_H *).
 *
 * Sums, products, quotients and roots are computed in float and rounded once more: float has more than twice the
 * precision, so the result is the correctly rounded one.  fma goes through double. */
TM_DEVICE(TM_H operator+(TM_H a, TM_H b), return TM_ROUND(tm_to_float(a) + tm_to_float(b));)
TM_DEVICE(TM_H operator-(TM_H a, TM_H b), return TM_ROUND(tm_to_float(a) - tm_to_float(b));)
TM_DEVICE(TM_H operator*(TM_H a, TM_H b), return TM_ROUND(tm_to_float(a) * tm_to_float(b));)
TM_DEVICE(TM_H operator/(TM_H a, TM_H b), return TM_ROUND(tm_to_float(a) / tm_to_float(b));)
TM_DEVICE(TM_H operator-(TM_H a), a.bits = (unsigned short)(a.bits ^ 0x8000); return a;)
TM_DEVICE(TM_H operator+(TM_H a), return a;)
TM_DEVICE(TM_H &operator+=(TM_H &a, TM_H b), return a = a + b;)
TM_DEVICE(TM_H &operator-=(TM_H &a, TM_H b), return a = a - b;)
TM_DEVICE(TM_H &operator*=(TM_H &a, TM_H b), return a = a * b;)
TM_DEVICE(TM_H &operator/=(TM_H &a, TM_H b), return a = a / b;)
TM_DEVICE(bool operator==(TM_H a, TM_H b), return tm_to_float(a) == tm_to_float(b);)
TM_DEVICE(bool operator!=(TM_H a, TM_H b), return tm_to_float(a) != tm_to_float(b);)
TM_DEVICE(bool operator<(TM_H a, TM_H b), return tm_to_float(a) < tm_to_float(b);)
TM_DEVICE(bool operator>(TM_H a, TM_H b), return tm_to_float(a) > tm_to_float(b);)
TM_DEVICE(bool operator<=(TM_H a, TM_H b), return tm_to_float(a) <= tm_to_float(b);)
TM_DEVICE(bool operator>=(TM_H a, TM_H b), return tm_to_float(a) >= tm_to_float(b);)
TM_DEVICE(TM_H __hadd(TM_H a, TM_H b), return a + b;)
TM_DEVICE(TM_H __hsub(TM_H a, TM_H b), return a - b;)
TM_DEVICE(TM_H __hmul(TM_H a, TM_H b), return a * b;)
TM_DEVICE(TM_H __hdiv(TM_H a, TM_H b), return a / b;)
TM_DEVICE(TM_H __hadd_rn(TM_H a, TM_H b), return a + b;)
TM_DEVICE(TM_H __hmul_rn(TM_H a, TM_H b), return a * b;)
TM_DEVICE(TM_H __hneg(TM_H a), return -a;)
TM_DEVICE(TM_H __habs(TM_H a), a.bits = (unsigned short)(a.bits & 0x7fff); return a;)
TM_DEVICE(TM_H __hfma(TM_H a, TM_H b, TM_H c),
  return TM_ROUND((float)((double)tm_to_float(a) * (double)tm_to_float(b) + (double)tm_to_float(c)));)
TM_DEVICE(TM_H __hmax(TM_H a, TM_H b), return TM_ROUND(__builtin_fmaxf(tm_to_float(a), tm_to_float(b)));)
TM_DEVICE(TM_H __hmin(TM_H a, TM_H b), return TM_ROUND(__builtin_fminf(tm_to_float(a), tm_to_float(b)));)
TM_DEVICE(bool __heq(TM_H a, TM_H b), return a == b;)
TM_DEVICE(bool __hne(TM_H a, TM_H b), return a != b;)
TM_DEVICE(bool __hlt(TM_H a, TM_H b), return a < b;)
TM_DEVICE(bool __hgt(TM_H a, TM_H b), return a > b;)
TM_DEVICE(bool __hle(TM_H a, TM_H b), return a <= b;)
TM_DEVICE(bool __hge(TM_H a, TM_H b), return a >= b;)
TM_DEVICE(bool __hisnan(TM_H a), return tm_to_float(a) != tm_to_float(a);)
TM_DEVICE(int __hisinf(TM_H a),
  return tm_to_float(a) == __builtin_inff() ? 1 : tm_to_float(a) == -__builtin_inff() ? -1 : 0;)
TM_DEVICE(TM_H hsqrt(TM_H a), return TM_ROUND(__builtin_sqrtf(tm_to_float(a)));)
TM_DEVICE(TM_H hrsqrt(TM_H a), return TM_ROUND(1.0f / __builtin_sqrtf(tm_to_float(a)));)
TM_DEVICE(TM_H hrcp(TM_H a), return TM_ROUND(1.0f / tm_to_float(a));)
TM_DEVICE(TM_H hexp(TM_H a), return TM_ROUND(expf(tm_to_float(a)));)
TM_DEVICE(TM_H hexp2(TM_H a), return TM_ROUND(exp2f(tm_to_float(a)));)
TM_DEVICE(TM_H hlog(TM_H a), return TM_ROUND(logf(tm_to_float(a)));)
TM_DEVICE(TM_H hlog2(TM_H a), return TM_ROUND(log2f(tm_to_float(a)));)
TM_DEVICE(TM_H hsin(TM_H a), return TM_ROUND(sinf(tm_to_float(a)));)
TM_DEVICE(TM_H hcos(TM_H a), return TM_ROUND(cosf(tm_to_float(a)));)
TM_DEVICE(TM_H htanh(TM_H a), return TM_ROUND(tanhf(tm_to_float(a)));)
TM_DEVICE(TM_H hfloor(TM_H a), return TM_ROUND(__builtin_floorf(tm_to_float(a)));)
TM_DEVICE(TM_H hceil(TM_H a), return TM_ROUND(__builtin_ceilf(tm_to_float(a)));)
TM_DEVICE(TM_H hrint(TM_H a), return TM_ROUND(__builtin_rintf(tm_to_float(a)));)
TM_DEVICE(TM_H htrunc(TM_H a), return TM_ROUND(__builtin_truncf(tm_to_float(a)));)

/* Pairs, elementwise. */
#define TM_PAIR(name, function)  \
  TM_DEVICE(TM_H2 name(TM_H2 a, TM_H2 b), TM_H2 r; r.x = function(a.x, b.x); r.y = function(a.y, b.y); return r;)
#define TM_PAIR1(name, function) \
  TM_DEVICE(TM_H2 name(TM_H2 a), TM_H2 r; r.x = function(a.x); r.y = function(a.y); return r;)
TM_PAIR(__hadd2, __hadd)
TM_PAIR(__hsub2, __hsub)
TM_PAIR(__hmul2, __hmul)
TM_PAIR(__h2div, __hdiv)
TM_PAIR(__hmax2, __hmax)
TM_PAIR(__hmin2, __hmin)
TM_PAIR(operator+, __hadd)
TM_PAIR(operator-, __hsub)
TM_PAIR(operator*, __hmul)
TM_PAIR(operator/, __hdiv)
TM_PAIR1(__hneg2, __hneg)
TM_PAIR1(__habs2, __habs)
TM_PAIR1(h2sqrt, hsqrt)
TM_PAIR1(h2rsqrt, hrsqrt)
TM_PAIR1(h2rcp, hrcp)
TM_PAIR1(h2exp, hexp)
TM_PAIR1(h2exp2, hexp2)
TM_PAIR1(h2log, hlog)
TM_PAIR1(h2sin, hsin)
TM_PAIR1(h2cos, hcos)
TM_PAIR1(h2tanh, htanh)
#undef TM_PAIR
#undef TM_PAIR1
TM_DEVICE(TM_H2 __heq2(TM_H2 a, TM_H2 b), TM_H2 r; r.x = TM_ROUND((float)(a.x == b.x)); r.y = TM_ROUND((float)(a.y == b.y)); return r;)
TM_DEVICE(TM_H2 __hne2(TM_H2 a, TM_H2 b), TM_H2 r; r.x = TM_ROUND((float)(a.x != b.x)); r.y = TM_ROUND((float)(a.y != b.y)); return r;)
TM_DEVICE(TM_H2 __hgt2(TM_H2 a, TM_H2 b), TM_H2 r; r.x = TM_ROUND((float)(a.x > b.x)); r.y = TM_ROUND((float)(a.y > b.y)); return r;)
TM_DEVICE(TM_H2 __hge2(TM_H2 a, TM_H2 b), TM_H2 r; r.x = TM_ROUND((float)(a.x >= b.x)); r.y = TM_ROUND((float)(a.y >= b.y)); return r;)
TM_DEVICE(TM_H2 __hlt2(TM_H2 a, TM_H2 b), TM_H2 r; r.x = TM_ROUND((float)(a.x < b.x)); r.y = TM_ROUND((float)(a.y < b.y)); return r;)
TM_DEVICE(TM_H2 __hle2(TM_H2 a, TM_H2 b), TM_H2 r; r.x = TM_ROUND((float)(a.x <= b.x)); r.y = TM_ROUND((float)(a.y <= b.y)); return r;)
TM_DEVICE(bool __hbeq2(TM_H2 a, TM_H2 b), return a.x == b.x && a.y == b.y;)
TM_DEVICE(bool __hbgt2(TM_H2 a, TM_H2 b), return a.x > b.x && a.y > b.y;)
TM_DEVICE(bool __hblt2(TM_H2 a, TM_H2 b), return a.x < b.x && a.y < b.y;)
TM_DEVICE(TM_H2 __hfma2(TM_H2 a, TM_H2 b, TM_H2 c),
  TM_H2 r; r.x = __hfma(a.x, b.x, c.x); r.y = __hfma(a.y, b.y, c.y); return r;)
TM_DEVICE(TM_H2 &operator+=(TM_H2 &a, TM_H2 b), return a = a + b;)
TM_DEVICE(TM_H2 &operator*=(TM_H2 &a, TM_H2 b), return a = a * b;)
#ifdef TMIGRATE_EMULATED
TM_SITE inline TM_H atomicAdd(TM_H *address, TM_H value) {
  TM_CHECKED((const void *)address, sizeof(TM_H), 2)
  TM_H old = *address;
  *address = old + value;
  return old;
}
TM_SITE inline TM_H2 atomicAdd(TM_H2 *address, TM_H2 value) {
  TM_CHECKED((const void *)address, sizeof(TM_H2), 2)
  TM_H2 old = *address;
  *address = old + value;
  return old;
}
#else
__device__ TM_H atomicAdd(TM_H *address, TM_H value);
__device__ TM_H2 atomicAdd(TM_H2 *address, TM_H2 value);
#endif
