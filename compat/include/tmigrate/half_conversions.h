/* Bits of 16-bit floats: float to half and bfloat16 (to nearest, ties to even), and back. */
#ifndef TMIGRATE_HALF_CONVERSIONS_H
#define TMIGRATE_HALF_CONVERSIONS_H
#include "device_functions.h"

TM_DEVICE(unsigned short tm_encode_half(float x),
  const unsigned int bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (unsigned short)0x7fff;
  if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) { /* denormal: a multiple of 2^-24 */
    const float scaled = __uint_as_float(magnitude) * 16777216.0f;
    return (unsigned short)(sign | (unsigned int)__builtin_rintf(scaled));
  }
  const unsigned int rounded = magnitude + 0xfffu + (magnitude >> 13 & 1);
  return (unsigned short)(sign | ((rounded - 0x38000000u) >> 13));)
TM_DEVICE(float tm_decode_half(unsigned short x),
  const unsigned int sign = (x & 0x8000u) << 16, exponent = x >> 10 & 31, fraction = x & 1023;
  if (exponent == 31) return __uint_as_float(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    const float magnitude = (float)fraction * 5.9604644775390625e-8f;
    return sign ? -magnitude : magnitude;
  }
  return __uint_as_float(sign | (exponent + 112) << 23 | fraction << 13);)
TM_DEVICE(unsigned short tm_encode_bfloat(float x),
  const unsigned int bits = __float_as_uint(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (unsigned short)0x7fff;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);)
TM_DEVICE(float tm_decode_bfloat(unsigned short x), return __uint_as_float((unsigned int)x << 16);)

#ifdef TMIGRATE_EMULATED
#define TM_MEMBER
#define TM_BODY(...) __VA_ARGS__
#else
#define TM_MEMBER __host__ __device__
#define TM_BODY(...) ;
#endif
#endif
