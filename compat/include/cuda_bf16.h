/* __nv_bfloat16: 16-bit floats.  In the front end its functions are declarations that it knows by name. */
#ifndef TMIGRATE_CUDA_BF16_H
#define TMIGRATE_CUDA_BF16_H
#define __CUDA_BF16_H__
#include "cuda_runtime.h"
#include "tmigrate/half_conversions.h"

struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat162_raw { unsigned short x, y; };

struct __align__(2) __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  TM_MEMBER __nv_bfloat16(float x) TM_BODY(: bits(encode(x)) {})
  TM_MEMBER __nv_bfloat16(double x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __nv_bfloat16(int x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __nv_bfloat16(unsigned int x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __nv_bfloat16(long x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __nv_bfloat16(unsigned long x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __nv_bfloat16(long long x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __nv_bfloat16(unsigned long long x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __nv_bfloat16(short x) TM_BODY(: bits(encode((float)x)) {})
  TM_MEMBER __nv_bfloat16(__nv_bfloat16_raw x) TM_BODY(: bits(x.x) {})
  TM_MEMBER operator float() const TM_BODY({ return decode(bits); })
  static TM_MEMBER unsigned short encode(float x) TM_BODY({ return tm_encode_bfloat(x); })
  static TM_MEMBER float decode(unsigned short x) TM_BODY({ return tm_decode_bfloat(x); })
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  TM_MEMBER __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) TM_BODY(: x(a), y(b) {})
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

TM_DEVICE(float __bfloat162float(__nv_bfloat16 x), return tm_decode_bfloat(x.bits);)
TM_DEVICE(__nv_bfloat16 __float2bfloat16(float x), __nv_bfloat16 r; r.bits = tm_encode_bfloat(x); return r;)
TM_DEVICE(__nv_bfloat16 __float2bfloat16_rn(float x), return __float2bfloat16(x);)
TM_DEVICE(__nv_bfloat16 __double2bfloat16(double x), return __float2bfloat16((float)x);)
TM_DEVICE(float tm_to_float(__nv_bfloat16 x), return tm_decode_bfloat(x.bits);)
#define TM_H __nv_bfloat16
#define TM_H2 __nv_bfloat162
#define TM_ROUND(x) __float2bfloat16(x)
#include "tmigrate/half_macros.h"
#undef TM_H
#undef TM_H2
#undef TM_ROUND

TM_DEVICE(__nv_bfloat162 __floats2bfloat162_rn(float x, float y),
  __nv_bfloat162 r; r.x = __float2bfloat16(x); r.y = __float2bfloat16(y); return r;)
TM_DEVICE(__nv_bfloat162 __float2bfloat162_rn(float x), return __floats2bfloat162_rn(x, x);)
TM_DEVICE(__nv_bfloat162 __float22bfloat162_rn(float2 x), return __floats2bfloat162_rn(x.x, x.y);)
TM_DEVICE(float2 __bfloat1622float2(__nv_bfloat162 x),
  float2 r; r.x = __bfloat162float(x.x); r.y = __bfloat162float(x.y); return r;)
TM_DEVICE(__nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y),
  __nv_bfloat162 r; r.x = x; r.y = y; return r;)
TM_DEVICE(__nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x), return __halves2bfloat162(x, x);)
TM_DEVICE(__nv_bfloat16 __low2bfloat16(__nv_bfloat162 x), return x.x;)
TM_DEVICE(__nv_bfloat16 __high2bfloat16(__nv_bfloat162 x), return x.y;)
TM_DEVICE(float __low2float(__nv_bfloat162 x), return __bfloat162float(x.x);)
TM_DEVICE(float __high2float(__nv_bfloat162 x), return __bfloat162float(x.y);)
TM_DEVICE(__nv_bfloat162 __low2bfloat162(__nv_bfloat162 x), x.y = x.x; return x;)
TM_DEVICE(__nv_bfloat162 __high2bfloat162(__nv_bfloat162 x), x.x = x.y; return x;)
TM_DEVICE(__nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x), return __halves2bfloat162(x.y, x.x);)
TM_DEVICE(__nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b), return __halves2bfloat162(a.x, b.x);)
TM_DEVICE(__nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b), return __halves2bfloat162(a.y, b.y);)
TM_DEVICE(int __bfloat162int_rn(__nv_bfloat16 x), return __float2int_rn(__bfloat162float(x));)
TM_DEVICE(int __bfloat162int_rz(__nv_bfloat16 x), return __float2int_rz(__bfloat162float(x));)
TM_DEVICE(unsigned int __bfloat162uint_rn(__nv_bfloat16 x), return __float2uint_rn(__bfloat162float(x));)
TM_DEVICE(__nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y), return __halves2bfloat162(x, y);)
TM_DEVICE(unsigned short __bfloat16_as_ushort(__nv_bfloat16 x), return x.bits;)
TM_DEVICE(short __bfloat16_as_short(__nv_bfloat16 x), return (short)x.bits;)
TM_DEVICE(__nv_bfloat16 __ushort_as_bfloat16(unsigned short x), __nv_bfloat16 r; r.bits = x; return r;)
TM_DEVICE(__nv_bfloat16 __short_as_bfloat16(short x), __nv_bfloat16 r; r.bits = (unsigned short)x; return r;)
#endif
