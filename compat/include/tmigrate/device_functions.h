/* Integer, bit and conversion intrinsics, with the results that PTX defines. */
#ifndef TMIGRATE_DEVICE_FUNCTIONS_H
#define TMIGRATE_DEVICE_FUNCTIONS_H
#include "../vector_types.h"

/* Bits. __ffs counts from 1, 0 for no bit; __clz(0) is the width. */
TM_DEVICE(int __popc(unsigned int x), return __builtin_popcount(x);)
TM_DEVICE(int __popcll(unsigned long long x), return __builtin_popcountll(x);)
TM_DEVICE(int __clz(int x), return x ? __builtin_clz((unsigned int)x) : 32;)
TM_DEVICE(int __clzll(long long x), return x ? __builtin_clzll((unsigned long long)x) : 64;)
TM_DEVICE(int __ffs(int x), return __builtin_ffs(x);)
TM_DEVICE(int __ffsll(long long x), return __builtin_ffsll(x);)
TM_DEVICE(unsigned int __brev(unsigned int x),
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);)
TM_DEVICE(unsigned long long __brevll(unsigned long long x),
  return (unsigned long long)__brev((unsigned int)x) << 32 | __brev((unsigned int)(x >> 32));)
TM_DEVICE(unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector),
  unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned int pick = selector >> (4 * i) & 0xf;
    unsigned int byte = (unsigned int)(both >> (8 * (pick & 7))) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;)
TM_DEVICE(unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift),
  return (unsigned int)(((unsigned long long)hi << 32 | lo) << (shift & 31) >> 32);)
TM_DEVICE(unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift),
  return (unsigned int)(((unsigned long long)hi << 32 | lo) >> (shift & 31));)
TM_DEVICE(unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift),
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);)
TM_DEVICE(unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift),
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);)

/* Products, averages, differences. */
TM_DEVICE(int __mul24(int x, int y), return (int)((unsigned int)(x << 8 >> 8) * (unsigned int)(y << 8 >> 8));)
TM_DEVICE(unsigned int __umul24(unsigned int x, unsigned int y), return (x & 0xffffffu) * (y & 0xffffffu);)
TM_DEVICE(int __mulhi(int x, int y), return (int)((long long)x * y >> 32);)
TM_DEVICE(unsigned int __umulhi(unsigned int x, unsigned int y),
  return (unsigned int)((unsigned long long)x * y >> 32);)
TM_DEVICE(long long __mul64hi(long long x, long long y), return (long long)((__int128)x * y >> 64);)
TM_DEVICE(unsigned long long __umul64hi(unsigned long long x, unsigned long long y),
  return (unsigned long long)((unsigned __int128)x * y >> 64);)
TM_DEVICE(int __hadd(int x, int y), return (int)(((long long)x + y) >> 1);)
TM_DEVICE(int __rhadd(int x, int y), return (int)(((long long)x + y + 1) >> 1);)
TM_DEVICE(unsigned int __uhadd(unsigned int x, unsigned int y), return (unsigned int)(((unsigned long long)x + y) >> 1);)
TM_DEVICE(unsigned int __urhadd(unsigned int x, unsigned int y),
  return (unsigned int)(((unsigned long long)x + y + 1) >> 1);)
TM_DEVICE(unsigned int __sad(int x, int y, unsigned int z),
  return (unsigned int)(x > y ? (long long)x - y : (long long)y - x) + z;)
TM_DEVICE(unsigned int __usad(unsigned int x, unsigned int y, unsigned int z), return (x > y ? x - y : y - x) + z;)

/* Four signed or unsigned bytes times four, added to c. */
TM_DEVICE(int __dp4a(int a, int b, int c),
  for (int i = 0; i < 4; ++i) c += (signed char)(a >> 8 * i) * (signed char)(b >> 8 * i);
  return c;)
TM_DEVICE(unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c),
  for (int i = 0; i < 4; ++i) c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
  return c;)
#define TM_BYTES(name, type, choose)                                                       \
  TM_DEVICE(unsigned int name(unsigned int a, unsigned int b), unsigned int result = 0;    \
    for (int i = 0; i < 4; ++i) {                                                          \
      type x = (type)(a >> 8 * i), y = (type)(b >> 8 * i);                                 \
      result |= (unsigned int)(unsigned char)(choose) << 8 * i; }                          \
    return result;)
TM_BYTES(__vmaxs4, signed char, x > y ? x : y)
TM_BYTES(__vmins4, signed char, x < y ? x : y)
TM_BYTES(__vmaxu4, unsigned char, x > y ? x : y)
TM_BYTES(__vminu4, unsigned char, x < y ? x : y)
TM_BYTES(__vadd4, unsigned char, x + y)
TM_BYTES(__vsub4, unsigned char, x - y)
TM_BYTES(__vabsdiffu4, unsigned char, x > y ? x - y : y - x)
TM_BYTES(__vcmpeq4, unsigned char, x == y ? 0xff : 0)
TM_BYTES(__vcmpgtu4, unsigned char, x > y ? 0xff : 0)
#undef TM_BYTES

/* The same bits as another type. */
#define TM_BITS(name, to, from) \
  TM_DEVICE(to name(from x), to result; __builtin_memcpy(&result, &x, sizeof result); return result;)
TM_BITS(__float_as_int, int, float)
TM_BITS(__float_as_uint, unsigned int, float)
TM_BITS(__int_as_float, float, int)
TM_BITS(__uint_as_float, float, unsigned int)
TM_BITS(__double_as_longlong, long long, double)
TM_BITS(__longlong_as_double, double, long long)
#undef TM_BITS
TM_DEVICE(int __double2loint(double x), return (int)__double_as_longlong(x);)
TM_DEVICE(int __double2hiint(double x), return (int)(__double_as_longlong(x) >> 32);)
TM_DEVICE(double __hiloint2double(int hi, int lo),
  return __longlong_as_double((long long)((unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo));)

/* Float to integer: rounded as the suffix says, saturated, NaN gives 0 (0x80000000... for 64 bits). */
#define TM_TO_INTEGER(name, to, from, round, low, high, nan)                              \
  TM_DEVICE(to name(from x), from r = round(x);                                           \
    return r != r ? (to)(nan) : r <= (from)(low) ? (to)(low) : r >= (from)(high) ? (to)(high) : (to)r;)
#define TM_TO_INTEGERS(prefix, to, from, suffix, low, high, nan)                          \
  TM_TO_INTEGER(prefix##_rn, to, from, __builtin_rint##suffix, low, high, nan)            \
  TM_TO_INTEGER(prefix##_rz, to, from, __builtin_trunc##suffix, low, high, nan)           \
  TM_TO_INTEGER(prefix##_ru, to, from, __builtin_ceil##suffix, low, high, nan)            \
  TM_TO_INTEGER(prefix##_rd, to, from, __builtin_floor##suffix, low, high, nan)
#define TM_LLMIN (-0x7fffffffffffffffLL - 1)
TM_TO_INTEGERS(__float2int, int, float, f, -0x7fffffff - 1, 0x7fffffff, 0)
TM_TO_INTEGERS(__float2uint, unsigned int, float, f, 0, 0xffffffffu, 0)
TM_TO_INTEGERS(__float2ll, long long, float, f, TM_LLMIN, 0x7fffffffffffffffLL, TM_LLMIN)
TM_TO_INTEGERS(__float2ull, unsigned long long, float, f, 0, 0xffffffffffffffffULL, 0x8000000000000000ULL)
TM_TO_INTEGERS(__double2int, int, double, , -0x7fffffff - 1, 0x7fffffff, 0)
TM_TO_INTEGERS(__double2uint, unsigned int, double, , 0, 0xffffffffu, 0)
TM_TO_INTEGERS(__double2ll, long long, double, , TM_LLMIN, 0x7fffffffffffffffLL, TM_LLMIN)
TM_TO_INTEGERS(__double2ull, unsigned long long, double, , 0, 0xffffffffffffffffULL, 0x8000000000000000ULL)
#undef TM_TO_INTEGERS
#undef TM_TO_INTEGER
#undef TM_LLMIN

/* min and max of every pair that CUDA declares; the float ones return the number where one is NaN. */
#define TM_MINMAX(result, a, b)                                                          \
  TM_DEVICE(result min(a x, b y), return (result)x < (result)y ? (result)x : (result)y;) \
  TM_DEVICE(result max(a x, b y), return (result)x > (result)y ? (result)x : (result)y;)
TM_MINMAX(int, int, int)
TM_MINMAX(unsigned int, unsigned int, unsigned int)
TM_MINMAX(unsigned int, int, unsigned int)
TM_MINMAX(unsigned int, unsigned int, int)
TM_MINMAX(long, long, long)
TM_MINMAX(unsigned long, unsigned long, unsigned long)
TM_MINMAX(unsigned long, long, unsigned long)
TM_MINMAX(unsigned long, unsigned long, long)
TM_MINMAX(long long, long long, long long)
TM_MINMAX(unsigned long long, unsigned long long, unsigned long long)
TM_MINMAX(unsigned long long, long long, unsigned long long)
TM_MINMAX(unsigned long long, unsigned long long, long long)
#undef TM_MINMAX
TM_DEVICE(float min(float x, float y), return __builtin_fminf(x, y);)
TM_DEVICE(float max(float x, float y), return __builtin_fmaxf(x, y);)
TM_DEVICE(double min(double x, double y), return __builtin_fmin(x, y);)
TM_DEVICE(double max(double x, double y), return __builtin_fmax(x, y);)
TM_DEVICE(double min(float x, double y), return __builtin_fmin(x, y);)
TM_DEVICE(double max(float x, double y), return __builtin_fmax(x, y);)
TM_DEVICE(double min(double x, float y), return __builtin_fmin(x, y);)
TM_DEVICE(double max(double x, float y), return __builtin_fmax(x, y);)
TM_DEVICE(unsigned int umin(unsigned int x, unsigned int y), return x < y ? x : y;)
TM_DEVICE(unsigned int umax(unsigned int x, unsigned int y), return x > y ? x : y;)
TM_DEVICE(long long llmin(long long x, long long y), return x < y ? x : y;)
TM_DEVICE(long long llmax(long long x, long long y), return x > y ? x : y;)
TM_DEVICE(unsigned long long ullmin(unsigned long long x, unsigned long long y), return x < y ? x : y;)
TM_DEVICE(unsigned long long ullmax(unsigned long long x, unsigned long long y), return x > y ? x : y;)
#endif
