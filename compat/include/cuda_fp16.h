/* __half: 16-bit floats.  In the front end its functions are declarations that it knows by name. */
#ifndef TMIGRATE_CUDA_FP16_H
#define TMIGRATE_CUDA_FP16_H
#define __CUDA_FP16_H__
#include "cuda_runtime.h"
#include "tmigrate/half_conversions.h"

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };

struct __align__(2) __half {
  unsigned short bits;
  __half() = default;
  TM_MEMBER __half(float x) TM_BODY(: bits(encode(x)) {})
  TM_MEMBER __half(double x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __half(int x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __half(unsigned int x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __half(long x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __half(unsigned long x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __half(long long x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __half(unsigned long long x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __half(short x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __half(__half_raw x) TM_BODY(: bits(x.x) {})
  TM_MEMBER operator float() const TM_BODY({ return decode(bits); })
  static TM_MEMBER unsigned short encode(float x) TM_BODY({ return tm_encode_half(x); })
  static TM_MEMBER float decode(unsigned short x) TM_BODY({ return tm_decode_half(x); })
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  TM_MEMBER __half2(__half a, __half b) TM_BODY(: x(a), y(b) {})
};
typedef __half half;
typedef __half2 half2;

TM_DEVICE(float __half2float(__half x), return tm_decode_half(x.bits);)
TM_DEVICE(__half __float2half(float x), __half r; r.bits = tm_encode_half(x); return r;)
TM_DEVICE(__half __float2half_rn(float x), __half r; r.bits = tm_encode_half(x); return r;)
TM_DEVICE(__half __double2half(double x), __half r; r.bits = tm_encode_half((float)x); return r;)
TM_DEVICE(float tm_to_float(__half x), return tm_decode_half(x.bits);)
#define TM_H __half
#define TM_H2 __half2
#define TM_ROUND(x) __float2half(x)
#include "tmigrate/half_macros.h"
#undef TM_H
#undef TM_H2
#undef TM_ROUND

TM_DEVICE(__half2 __floats2half2_rn(float x, float y), __half2 r; r.x = __float2half(x); r.y = __float2half(y); return r;)
TM_DEVICE(__half2 __float2half2_rn(float x), __half2 r; r.x = r.y = __float2half(x); return r;)
TM_DEVICE(__half2 __float22half2_rn(float2 x), return __floats2half2_rn(x.x, x.y);)
TM_DEVICE(float2 __half22float2(__half2 x), float2 r; r.x = __half2float(x.x); r.y = __half2float(x.y); return r;)
TM_DEVICE(float __low2float(__half2 x), return __half2float(x.x);)
TM_DEVICE(float __high2float(__half2 x), return __half2float(x.y);)
TM_DEVICE(__half __low2half(__half2 x), return x.x;)
TM_DEVICE(__half __high2half(__half2 x), return x.y;)
TM_DEVICE(__half2 __low2half2(__half2 x), x.y = x.x; return x;)
TM_DEVICE(__half2 __high2half2(__half2 x), x.x = x.y; return x;)
TM_DEVICE(__half2 __halves2half2(__half x, __half y), __half2 r; r.x = x; r.y = y; return r;)
TM_DEVICE(__half2 __half2half2(__half x), __half2 r; r.x = r.y = x; return r;)
TM_DEVICE(__half2 make_half2(__half x, __half y), __half2 r; r.x = x; r.y = y; return r;)
TM_DEVICE(__half2 __lowhigh2highlow(__half2 a), __half2 r; r.x = a.y; r.y = a.x; return r;)
TM_DEVICE(__half2 __lows2half2(__half2 a, __half2 b), __half2 r; r.x = a.x; r.y = b.x; return r;)
TM_DEVICE(__half2 __highs2half2(__half2 a, __half2 b), __half2 r; r.x = a.y; r.y = b.y; return r;)
TM_DEVICE(int __half2int_rn(__half x), return __float2int_rn(__half2float(x));)
TM_DEVICE(int __half2int_rz(__half x), return __float2int_rz(__half2float(x));)
TM_DEVICE(unsigned int __half2uint_rn(__half x), return __float2uint_rn(__half2float(x));)
TM_DEVICE(__half __int2half_rn(int x), return __float2half((float)x);)
TM_DEVICE(__half __uint2half_rn(unsigned int x), return __float2half((float)x);)
TM_DEVICE(unsigned short __half_as_ushort(__half x), return x.bits;)
TM_DEVICE(short __half_as_short(__half x), return (short)x.bits;)
TM_DEVICE(__half __ushort_as_half(unsigned short x), __half r; r.bits = x; return r;)
TM_DEVICE(__half __short_as_half(short x), __half r; r.bits = (unsigned short)x; return r;)
#endif
