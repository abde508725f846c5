/* Complex numbers as pairs of floats or doubles. */
#ifndef TMIGRATE_CUCOMPLEX_H
#define TMIGRATE_CUCOMPLEX_H
#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define TM_COMPLEX(suffix, type, base, root)                                                                     \
  static inline TM_BOTH base cuCreal##suffix(type a) { return a.x; }                                             \
  static inline TM_BOTH base cuCimag##suffix(type a) { return a.y; }                                             \
  static inline TM_BOTH type cuConj##suffix(type a) { a.y = -a.y; return a; }                                    \
  static inline TM_BOTH type cuCadd##suffix(type a, type b) { a.x = a.x + b.x; a.y = a.y + b.y; return a; }       \
  static inline TM_BOTH type cuCsub##suffix(type a, type b) { a.x = a.x - b.x; a.y = a.y - b.y; return a; }       \
  static inline TM_BOTH type cuCmul##suffix(type a, type b) {                                                    \
    type r; r.x = a.x * b.x - a.y * b.y; r.y = a.x * b.y + a.y * b.x; return r; }                                 \
  /* Scaled by |b|, so that b's square does not overflow. */                                                     \
  static inline TM_BOTH type cuCdiv##suffix(type a, type b) {                                                    \
    base s = (b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y), o = (base)1 / s;                                    \
    base ax = a.x * o, ay = a.y * o, bx = b.x * o, by = b.y * o;                                                 \
    s = bx * bx + by * by; o = (base)1 / s;                                                                      \
    type r; r.x = (ax * bx + ay * by) * o; r.y = (ay * bx - ax * by) * o; return r; }                             \
  static inline TM_BOTH base cuCabs##suffix(type a) {                                                            \
    base x = a.x < 0 ? -a.x : a.x, y = a.y < 0 ? -a.y : a.y, v = x > y ? x : y, w = x > y ? y : x;                \
    if (v == 0) return x + y;                                                                                    \
    base t = w / v; t = (base)1 + t * t; return v * root(t); }
TM_COMPLEX(f, cuFloatComplex, float, sqrtf)
TM_COMPLEX(, cuDoubleComplex, double, sqrt)
#undef TM_COMPLEX

static inline TM_BOTH cuFloatComplex make_cuFloatComplex(float x, float y) { cuFloatComplex r; r.x = x; r.y = y; return r; }
static inline TM_BOTH cuDoubleComplex make_cuDoubleComplex(double x, double y) {
  cuDoubleComplex r; r.x = x; r.y = y; return r;
}
static inline TM_BOTH cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
static inline TM_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return make_cuDoubleComplex(a.x, a.y); }
static inline TM_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return make_cuFloatComplex((float)a.x, (float)a.y);
}
static inline TM_BOTH cuFloatComplex cuCfmaf(cuFloatComplex x, cuFloatComplex y, cuFloatComplex d) {
  float re = x.x * y.x + d.x, im = x.x * y.y + d.y;
  return make_cuFloatComplex(-(x.y * y.y) + re, x.y * y.x + im);
}
static inline TM_BOTH cuDoubleComplex cuCfma(cuDoubleComplex x, cuDoubleComplex y, cuDoubleComplex d) {
  double re = x.x * y.x + d.x, im = x.x * y.y + d.y;
  return make_cuDoubleComplex(-(x.y * y.y) + re, x.y * y.x + im);
}
#endif
