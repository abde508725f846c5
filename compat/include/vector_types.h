/* Vector types with CUDA's sizes and alignments, and dim3. */
#ifndef TMIGRATE_VECTOR_TYPES_H
#define TMIGRATE_VECTOR_TYPES_H
#include "tmigrate/qualifiers.h"

/* TM_VECTOR(name, base, align2, align4) declares name1 to name4. */
#define TM_VECTOR(name, base, align2, align4)                 \
  struct name##1 { base x; };                                 \
  struct __align__(align2) name##2 { base x, y; };            \
  struct name##3 { base x, y, z; };                           \
  struct __align__(align4) name##4 { base x, y, z, w; };
TM_VECTOR(char, signed char, 2, 4)
TM_VECTOR(uchar, unsigned char, 2, 4)
TM_VECTOR(short, short, 4, 8)
TM_VECTOR(ushort, unsigned short, 4, 8)
TM_VECTOR(int, int, 8, 16)
TM_VECTOR(uint, unsigned int, 8, 16)
TM_VECTOR(long, long, 16, 16)
TM_VECTOR(ulong, unsigned long, 16, 16)
TM_VECTOR(longlong, long long, 16, 16)
TM_VECTOR(ulonglong, unsigned long long, 16, 16)
TM_VECTOR(float, float, 8, 16)
TM_VECTOR(double, double, 16, 16)
#undef TM_VECTOR

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  TM_BOTH constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  TM_BOTH constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  TM_BOTH constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
#endif
