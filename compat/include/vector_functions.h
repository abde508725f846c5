/* make_<type>: the constructors of the vector types. */
#ifndef TMIGRATE_VECTOR_FUNCTIONS_H
#define TMIGRATE_VECTOR_FUNCTIONS_H
#include "vector_types.h"

#define TM_MAKE(name, base)                                                                  \
  static inline TM_BOTH name##1 make_##name##1(base x) {                         \
    name##1 v; v.x = x; return v; }                                                          \
  static inline TM_BOTH name##2 make_##name##2(base x, base y) {                 \
    name##2 v; v.x = x; v.y = y; return v; }                                                 \
  static inline TM_BOTH name##3 make_##name##3(base x, base y, base z) {         \
    name##3 v; v.x = x; v.y = y; v.z = z; return v; }                                        \
  static inline TM_BOTH name##4 make_##name##4(base x, base y, base z, base w) { \
    name##4 v; v.x = x; v.y = y; v.z = z; v.w = w; return v; }
TM_MAKE(char, signed char)
TM_MAKE(uchar, unsigned char)
TM_MAKE(short, short)
TM_MAKE(ushort, unsigned short)
TM_MAKE(int, int)
TM_MAKE(uint, unsigned int)
TM_MAKE(long, long)
TM_MAKE(ulong, unsigned long)
TM_MAKE(longlong, long long)
TM_MAKE(ulonglong, unsigned long long)
TM_MAKE(float, float)
TM_MAKE(double, double)
#undef TM_MAKE
#endif
