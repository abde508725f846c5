/* Shadow execution: every float carries what the thread-level kernel computes (`native`, which steers all
 * control and all integers), the same computed in double-double arithmetic (`value + low`), and a bound of how
 * far any admissible order of the same operations, each rounded in the kernel's own format, may lie from it.
 *
 * Sums: with leaves x_i of errors e_i, any order of n - 1 additions stays within
 *     sum e_i + u (n - 1) sum |x_i|,
 * u the format's unit roundoff.  `magnitude` is sum |x_i| (each |x_i| enlarged by e_i), `terms` is n, and
 * sum e_i is what of `error` is not the second term.  Every other operation makes a leaf.
 *
 * Loads and stores ask the shadow memory by address.  A shadow whose native value is not what memory holds is
 * stale (an integer was stored over it, or the address was used again): memory is exact then.
 */
#ifndef TM_SHADOW_H
#define TM_SHADOW_H

static tm_shadow_memory tm_memory_of_shadows;
TM_EXPORT void tm_set_shadow_memory(const tm_shadow_memory *memory) { tm_memory_of_shadows = *memory; }

#define TM_SHADOW_FUNCTION static __attribute__((unused))

/* ---- double-double arithmetic ---- */

typedef struct {
  double hi, lo;
} tm_pair;
TM_INLINE tm_pair tm_pair_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (tm_pair){s, (a - (s - t)) + (b - t)};
}
TM_INLINE tm_pair tm_pair_add(tm_pair a, tm_pair b) {
  tm_pair s = tm_pair_sum(a.hi, b.hi), t = tm_pair_sum(a.lo, b.lo);
  s = tm_pair_sum(s.hi, s.lo + t.hi);
  return tm_pair_sum(s.hi, s.lo + t.lo);
}
TM_INLINE tm_pair tm_pair_mul(tm_pair a, tm_pair b) {
  double p = a.hi * b.hi, e = __builtin_fma(a.hi, b.hi, -p);
  return tm_pair_sum(p, e + (a.hi * b.lo + a.lo * b.hi));
}
TM_INLINE tm_pair tm_pair_div(tm_pair a, tm_pair b) {
  double q = a.hi / b.hi;
  tm_pair r = tm_pair_add(a, tm_pair_mul((tm_pair){-q, 0}, b));
  double q2 = r.hi / b.hi;
  r = tm_pair_add(r, tm_pair_mul((tm_pair){-q2, 0}, b));
  tm_pair s = tm_pair_sum(q, q2);
  return tm_pair_sum(s.hi, s.lo + r.hi / b.hi);
}
TM_INLINE tm_pair tm_pair_sqrt(tm_pair a) {
  if (!(a.hi > 0)) return (tm_pair){__builtin_sqrt(a.hi), 0};
  double root = __builtin_sqrt(a.hi);
  tm_pair rest = tm_pair_add(a, tm_pair_mul((tm_pair){-root, 0}, (tm_pair){root, 0}));
  return tm_pair_sum(root, rest.hi / (2 * root));
}

/* ---- making shadows ---- */

TM_INLINE double tm_finite(double x) { return x - x == 0; }

TM_INLINE tm_shadow tm_exact(double native) {
  return (tm_shadow){native, native, 0, 0, __builtin_fabs(native), 1};
}
/* A leaf.  Where the kernel itself got an infinity or a NaN there is nothing to bound: every order must get
 * it.  A bound that is not a number means that nothing is known. */
TM_SHADOW_FUNCTION tm_shadow tm_leaf(double native, tm_pair value, double error) {
  if (!tm_finite(native)) return (tm_shadow){native, native, 0, 0, __builtin_fabs(native), 1};
  if (!tm_finite(value.hi)) value = (tm_pair){native, 0}, error = __builtin_inf();
  if (!tm_finite(value.lo)) value.lo = 0;
  if (error != error) error = __builtin_inf();
  error *= 1 + 0x1p-20; /* the arithmetic of the bound itself is rounded */
  return (tm_shadow){native, value.hi, value.lo, error, __builtin_fabs(value.hi) + error, 1};
}
TM_INLINE tm_pair tm_value(tm_shadow a) { return (tm_pair){a.value, a.low}; }
TM_INLINE double tm_size(tm_shadow a) { return __builtin_fabs(a.value) + a.error; }

/* ---- memory ---- */

TM_SHADOW_FUNCTION tm_shadow tm_recall(const void *place, int bytes, double native) {
  tm_shadow found;
  if (tm_memory_of_shadows.load && tm_memory_of_shadows.load(tm_memory_of_shadows.context, place, bytes, &found))
    if (found.native == native || (found.native != found.native && native != native)) return found;
  return tm_exact(native);
}
TM_SHADOW_FUNCTION void tm_record(void *place, int bytes, const tm_shadow *value) {
  if (tm_memory_of_shadows.store) tm_memory_of_shadows.store(tm_memory_of_shadows.context, place, bytes, value);
}
/* After a copy of bytes: the shadow goes along. */
TM_SHADOW_FUNCTION void tm_move(void *to, const void *from, int bytes, double native) {
  tm_shadow value = tm_recall(from, bytes, native);
  tm_record(to, bytes, &value);
}
TM_SHADOW_FUNCTION void tm_unstable(const char *file, int line) {
  if (tm_memory_of_shadows.unstable) tm_memory_of_shadows.unstable(tm_memory_of_shadows.context, file, line);
}

/* ---- the formats: C type, unit roundoff, half of the least denormal ---- */

#define TM_EACH_FORMAT(X)                                        \
  X(f32, float, 4, 0x1p-24, 0x1p-150)                            \
  X(f64, double, 8, 0x1p-53, 0x1p-1074)                          \
  X(f16, tm_f16, 2, 0x1p-11, 0x1p-25)                            \
  X(bf16, tm_bf16, 2, 0x1p-8, 0x1p-134)
#define TM_NARROW_f32(x) ((float)(x))
#define TM_NARROW_f64(x) (x)
#define TM_NARROW_f16(x) tm_f64_to_f16(x)
#define TM_NARROW_bf16(x) tm_f64_to_bf16(x)
#define TM_WIDEN_f32(x) ((double)(x))
#define TM_WIDEN_f64(x) (x)
#define TM_WIDEN_f16(x) ((double)tm_f16_to_f32(x))
#define TM_WIDEN_bf16(x) ((double)tm_bf16_to_f32(x))
#define TM_NATIVE_f32(OP, a, b) ((double)(float)((float)(a)OP(float)(b)))
#define TM_NATIVE_f64(OP, a, b) ((a)OP(b))
#define TM_NATIVE_f16(OP, a, b) TM_WIDEN_f16(tm_f32_to_f16((float)(a)OP(float)(b)))
#define TM_NATIVE_bf16(OP, a, b) TM_WIDEN_bf16(tm_f32_to_bf16((float)(a)OP(float)(b)))

#define TM_COMPARISON(NAME, OP, S)                                                                             \
  TM_SHADOW_FUNCTION bool tms_##NAME##_##S(tm_shadow a, tm_shadow b, const char *file, int line) {             \
    bool native = a.native OP b.native;                                                                        \
    tm_pair difference = tm_pair_add(tm_value(a), (tm_pair){-b.value, -b.low});                                \
    double d = a.value == b.value && a.low == b.low ? 0 : difference.hi;                                       \
    if (d == d && tm_finite(a.native) && tm_finite(b.native) && (d OP 0.0) != native) tm_unstable(file, line); \
    return native;                                                                                             \
  }

#define TM_FORMAT(S, T, BYTES, U, TINY)                                                                        \
  TM_SHADOW_FUNCTION tm_shadow tms_load_##S(const T *place) {                                                  \
    return tm_recall(place, BYTES, TM_WIDEN_##S(*place));                                                      \
  }                                                                                                            \
  TM_SHADOW_FUNCTION void tms_store_##S(T *place, tm_shadow value) {                                           \
    *place = TM_NARROW_##S(value.native);                                                                      \
    tm_record(place, BYTES, &value);                                                                           \
  }                                                                                                            \
  TM_INLINE T tms_native_##S(tm_shadow a) { return TM_NARROW_##S(a.native); }                                  \
  TM_SHADOW_FUNCTION tm_shadow tms_add_##S(tm_shadow a, tm_shadow b) {                                         \
    double native = TM_NATIVE_##S(+, a.native, b.native), terms = a.terms + b.terms;                           \
    tm_pair value = tm_pair_add(tm_value(a), tm_value(b));                                                     \
    if (!tm_finite(native) || !tm_finite(value.hi)) return tm_leaf(native, value, 0);                          \
    double leaves = __builtin_fmax(a.error - U * (a.terms - 1) * a.magnitude, 0) +                             \
                    __builtin_fmax(b.error - U * (b.terms - 1) * b.magnitude, 0);                              \
    double magnitude = a.magnitude + b.magnitude;                                                              \
    double error = (leaves + U * (terms - 1) * magnitude) * (1 + 0x1p-45);                                     \
    return (tm_shadow){native, value.hi, value.lo, error, magnitude, terms};                                   \
  }                                                                                                            \
  TM_INLINE tm_shadow tms_neg_##S(tm_shadow a) {                                                               \
    return (tm_shadow){-a.native, -a.value, -a.low, a.error, a.magnitude, a.terms};                            \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_sub_##S(tm_shadow a, tm_shadow b) { return tms_add_##S(a, tms_neg_##S(b)); } \
  TM_SHADOW_FUNCTION tm_shadow tms_mul_##S(tm_shadow a, tm_shadow b) {                                         \
    tm_pair value = tm_pair_mul(tm_value(a), tm_value(b));                                                     \
    double error = __builtin_fabs(a.value) * b.error + __builtin_fabs(b.value) * a.error + a.error * b.error;  \
    if (a.native == 0 && a.error == 0) error = 0;                                                              \
    if (b.native == 0 && b.error == 0) error = 0;                                                              \
    if (value.hi != 0 || error != 0) error += U * (__builtin_fabs(value.hi) + error) + TINY;                   \
    return tm_leaf(TM_NATIVE_##S(*, a.native, b.native), value, error);                                        \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_div_##S(tm_shadow a, tm_shadow b) {                                         \
    tm_pair value = tm_pair_div(tm_value(a), tm_value(b));                                                     \
    double least = __builtin_fabs(b.value) - b.error;                                                          \
    double error = least > 0 ? (a.error + __builtin_fabs(value.hi) * b.error) / least : __builtin_inf();       \
    if (value.hi != 0 || error != 0) error += U * (__builtin_fabs(value.hi) + error) + TINY;                   \
    return tm_leaf(TM_NATIVE_##S(/, a.native, b.native), value, error);                                        \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_fma_##S(tm_shadow a, tm_shadow b, tm_shadow c) {                            \
    tm_shadow sum = tms_add_##S(tms_mul_##S(a, b), c);                                                         \
    double native =                                                                                            \
        TM_WIDEN_##S(tm_fma_##S(TM_NARROW_##S(a.native), TM_NARROW_##S(b.native), TM_NARROW_##S(c.native)));   \
    if (!tm_finite(native) || !tm_finite(sum.native)) return tm_leaf(native, tm_value(sum), sum.error);        \
    sum.native = native;                                                                                       \
    return sum;                                                                                                \
  }                                                                                                            \
  /* A function's result: `value` computed to double's accuracy, `spread` the error that comes in. */          \
  TM_SHADOW_FUNCTION tm_shadow tms_result_##S(T native, double value, double spread) {                         \
    double error = spread + (4 * U + 0x1p-50) * __builtin_fabs(value) + TINY;                                  \
    return tm_leaf(TM_WIDEN_##S(native), (tm_pair){value, 0}, error);                                          \
  }                                                                                                            \
  /* The same after one rounding. */                                                                           \
  TM_SHADOW_FUNCTION tm_shadow tms_rounded_##S(double native, tm_pair value, double error) {                   \
    T cut = TM_NARROW_##S(native);                                                                             \
    bool is_exact = TM_WIDEN_##S(cut) == value.hi && value.lo == 0;                                            \
    if (!is_exact) error += U * (__builtin_fabs(value.hi) + error) + TINY;                                     \
    return tm_leaf(TM_WIDEN_##S(cut), value, error);                                                           \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_from_i64_##S(T native, int64_t x) {                                         \
    tm_pair value = tm_pair_sum((double)(x >> 32) * 0x1p32, (double)(x & 0xffffffff));                         \
    bool is_exact = TM_WIDEN_##S(native) == value.hi && value.lo == 0;                                         \
    return tm_leaf(TM_WIDEN_##S(native), value, is_exact ? 0 : U * __builtin_fabs(value.hi));                  \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_from_u64_##S(T native, uint64_t x) {                                        \
    tm_pair value = tm_pair_sum((double)(x >> 32) * 0x1p32, (double)(x & 0xffffffff));                         \
    bool is_exact = TM_WIDEN_##S(native) == value.hi && value.lo == 0;                                         \
    return tm_leaf(TM_WIDEN_##S(native), value, is_exact ? 0 : U * __builtin_fabs(value.hi));                  \
  }                                                                                                            \
  TM_COMPARISON(lt, <, S)                                                                                      \
  TM_COMPARISON(le, <=, S)                                                                                     \
  TM_COMPARISON(gt, >, S)                                                                                      \
  TM_COMPARISON(ge, >=, S)                                                                                     \
  TM_COMPARISON(eq, ==, S)                                                                                     \
  TM_COMPARISON(ne, !=, S)                                                                                     \
  TM_SHADOW_FUNCTION tm_shadow tms_fabs_##S(tm_shadow a) {                                                     \
    tm_pair value = __builtin_signbit(a.value) ? (tm_pair){-a.value, -a.low} : tm_value(a);                    \
    return tm_leaf(__builtin_fabs(a.native), value, a.error);                                                  \
  }                                                                                                            \
  /* Each of the two moves the result by at most its own error. */                                             \
  TM_SHADOW_FUNCTION tm_shadow tms_fmin_##S(tm_shadow a, tm_shadow b) {                                        \
    double native = TM_WIDEN_##S(TM_NARROW_##S(fmin(a.native, b.native)));                                     \
    tm_pair value = a.native != a.native || !(a.value <= b.value) ? tm_value(b) : tm_value(a);                 \
    if (b.native != b.native) value = tm_value(a);                                                             \
    return tm_leaf(native, value, __builtin_fmax(a.error, b.error));                                           \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_fmax_##S(tm_shadow a, tm_shadow b) {                                        \
    double native = TM_WIDEN_##S(TM_NARROW_##S(fmax(a.native, b.native)));                                     \
    tm_pair value = a.native != a.native || !(a.value >= b.value) ? tm_value(b) : tm_value(a);                 \
    if (b.native != b.native) value = tm_value(a);                                                             \
    return tm_leaf(native, value, __builtin_fmax(a.error, b.error));                                           \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_copysign_##S(tm_shadow a, tm_shadow b) {                                    \
    tm_shadow size = tms_fabs_##S(a);                                                                          \
    return __builtin_signbit(b.native) ? tms_neg_##S(size) : size;                                             \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_ldexp_##S(tm_shadow a, int32_t n) {                                         \
    tm_pair value = {ldexp(a.value, n), ldexp(a.low, n)};                                                      \
    return tms_rounded_##S(ldexp(a.native, n), value, ldexp(a.error, n));                                      \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_nextafter_##S(tm_shadow a, tm_shadow b) {                                   \
    double native = TM_WIDEN_##S(tm_nextafter_##S(TM_NARROW_##S(a.native), TM_NARROW_##S(b.native)));          \
    tm_pair value = tm_pair_add(tm_value(a), tm_pair_sum(native, -a.native));                                  \
    return tm_leaf(native, value, a.error * (1 + 4 * U));                                                      \
  }                                                                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_sqrt_##S(tm_shadow a) {                                                     \
    tm_pair value = tm_pair_sqrt(tm_value(a));                                                                 \
    double least = __builtin_sqrt(__builtin_fmax(a.value - a.error, 0));                                       \
    double error = a.error == 0 ? 0 : a.error / (least + value.hi);                                            \
    if (value.hi != 0 || error != 0) error += U * (value.hi + error) + TINY;                                   \
    return tm_leaf(TM_WIDEN_##S(TM_NARROW_##S(__builtin_sqrt(a.native))), value, error);                       \
  }                                                                                                            \
  TM_SHADOW_ATOMICS(S, T)

/* Atomics: blocks run in order, so that a plain read and write will do. */
#define TM_SHADOW_UPDATE(NAME, S, T, NEW)                                                                      \
  TM_SHADOW_FUNCTION tm_shadow tms_##NAME##_##S(T *place, tm_shadow v) {                                       \
    tm_shadow old = tms_load_##S(place);                                                                       \
    tms_store_##S(place, NEW);                                                                                 \
    return old;                                                                                                \
  }
#define TM_SHADOW_ATOMICS(S, T)                                                                                \
  TM_SHADOW_UPDATE(atomic_add, S, T, tms_add_##S(old, v))                                                      \
  TM_SHADOW_UPDATE(atomic_min, S, T, tms_fmin_##S(old, v))                                                     \
  TM_SHADOW_UPDATE(atomic_max, S, T, tms_fmax_##S(old, v))                                                     \
  TM_SHADOW_UPDATE(atomic_exch, S, T, v)                                                                       \
  TM_SHADOW_FUNCTION tm_shadow tms_atomic_cas_##S(T *place, tm_shadow compare, tm_shadow v) {                  \
    tm_shadow old = tms_load_##S(place);                                                                       \
    T expected = TM_NARROW_##S(compare.native);                                                                \
    if (__builtin_memcmp(&expected, place, sizeof expected) == 0) tms_store_##S(place, v);                     \
    return old;                                                                                                \
  }
TM_EACH_FORMAT(TM_FORMAT)

/* ---- functions of one argument ---- */

/* How far f moves when its argument moves by `a.error`: at both ends of the interval, and half more for what
 * bends between them. */
#define TM_ENDS(FUNCTION, a, value)                                                                            \
  ({                                                                                                           \
    double tm_e = (a).error + __builtin_fabs((a).low), tm_v = (value);                                         \
    double tm_up = FUNCTION((a).value + tm_e) - tm_v, tm_down = FUNCTION((a).value - tm_e) - tm_v;             \
    tm_e == 0 ? 0 : 1.5 * __builtin_fmax(__builtin_fabs(tm_up), __builtin_fabs(tm_down)) +                     \
                        (tm_up != tm_up || tm_down != tm_down ? __builtin_inf() : 0);                          \
  })

#define TM_MONOTONE(NAME, S, T, NATIVE)                                                                        \
  TM_SHADOW_FUNCTION tm_shadow tms_##NAME##_##S(tm_shadow a) {                                                 \
    double value = tm_##NAME##_f64(a.value);                                                                   \
    return tms_result_##S(NATIVE, value, TM_ENDS(tm_##NAME##_f64, a, value));                                  \
  }
/* Functions whose slope never exceeds LIMIT, nor their range RANGE. */
#define TM_GENTLE(NAME, S, T, NATIVE, LIMIT, RANGE)                                                            \
  TM_SHADOW_FUNCTION tm_shadow tms_##NAME##_##S(tm_shadow a) {                                                 \
    double spread = (a.error + __builtin_fabs(a.low)) * (LIMIT);                                               \
    return tms_result_##S(NATIVE, tm_##NAME##_f64(a.value), __builtin_fmin(spread, RANGE));                    \
  }
/* sin and cos of pi * x: the product is rounded in the kernel's format first. */
#define TM_TURNS(NAME, S, T, U)                                                                                \
  TM_SHADOW_FUNCTION tm_shadow tms_##NAME##_##S(tm_shadow a) {                                                 \
    double spread = 3.1416 * (a.error + __builtin_fabs(a.low) + 4 * U * __builtin_fabs(a.value));              \
    return tms_result_##S(TM_CALL_##S(NAME), tm_##NAME##_f64(a.value), __builtin_fmin(spread, 2));             \
  }
/* Steps: exact where the whole interval gives one result. */
#define TM_STEP(NAME, S, T)                                                                                    \
  TM_SHADOW_FUNCTION tm_shadow tms_##NAME##_##S(tm_shadow a) {                                                 \
    double native = tm_##NAME##_f64(a.native), least = tm_##NAME##_f64(a.value + a.low - a.error);             \
    double most = tm_##NAME##_f64(a.value + a.low + a.error), value = tm_##NAME##_f64(a.value + a.low);        \
    double error = __builtin_fmax(most - value, value - least);                                                \
    return tm_leaf(TM_WIDEN_##S(TM_NARROW_##S(native)), (tm_pair){value, 0}, error);                           \
  }

/* The native call: 16-bit floats through f32. */
#define TM_CALL_f32(NAME) tm_##NAME##_f32((float)a.native)
#define TM_CALL_f64(NAME) tm_##NAME##_f64(a.native)
#define TM_CALL_f16(NAME) tm_f32_to_f16(tm_##NAME##_f32((float)a.native))
#define TM_CALL_bf16(NAME) tm_f32_to_bf16(tm_##NAME##_f32((float)a.native))

#define TM_FUNCTIONS_OF(S, T, BYTES, U, TINY)                                                                  \
  TM_STEP(floor, S, T) TM_STEP(ceil, S, T) TM_STEP(trunc, S, T) TM_STEP(round, S, T) TM_STEP(rint, S, T)       \
  TM_MONOTONE(rsqrt, S, T, TM_CALL_##S(rsqrt)) TM_MONOTONE(cbrt, S, T, TM_CALL_##S(cbrt))                      \
  TM_MONOTONE(rcbrt, S, T, TM_CALL_##S(rcbrt)) TM_MONOTONE(exp, S, T, TM_CALL_##S(exp))                        \
  TM_MONOTONE(exp2, S, T, TM_CALL_##S(exp2)) TM_MONOTONE(exp10, S, T, TM_CALL_##S(exp10))                      \
  TM_MONOTONE(expm1, S, T, TM_CALL_##S(expm1)) TM_MONOTONE(log, S, T, TM_CALL_##S(log))                        \
  TM_MONOTONE(log2, S, T, TM_CALL_##S(log2)) TM_MONOTONE(log10, S, T, TM_CALL_##S(log10))                      \
  TM_MONOTONE(log1p, S, T, TM_CALL_##S(log1p)) TM_MONOTONE(tan, S, T, TM_CALL_##S(tan))                        \
  TM_MONOTONE(asin, S, T, TM_CALL_##S(asin)) TM_MONOTONE(acos, S, T, TM_CALL_##S(acos))                        \
  TM_MONOTONE(sinh, S, T, TM_CALL_##S(sinh)) TM_MONOTONE(cosh, S, T, TM_CALL_##S(cosh))                        \
  TM_MONOTONE(acosh, S, T, TM_CALL_##S(acosh)) TM_MONOTONE(atanh, S, T, TM_CALL_##S(atanh))                    \
  TM_MONOTONE(erfinv, S, T, TM_CALL_##S(erfinv)) TM_MONOTONE(erfcinv, S, T, TM_CALL_##S(erfcinv))              \
  TM_MONOTONE(erfcx, S, T, TM_CALL_##S(erfcx)) TM_MONOTONE(normcdfinv, S, T, TM_CALL_##S(normcdfinv))          \
  TM_MONOTONE(tgamma, S, T, TM_CALL_##S(tgamma)) TM_MONOTONE(lgamma, S, T, TM_CALL_##S(lgamma))                \
  TM_MONOTONE(y0, S, T, TM_CALL_##S(y0)) TM_MONOTONE(y1, S, T, TM_CALL_##S(y1))                                \
  TM_GENTLE(sin, S, T, TM_CALL_##S(sin), 1, 2) TM_GENTLE(cos, S, T, TM_CALL_##S(cos), 1, 2)                    \
  TM_TURNS(sinpi, S, T, U) TM_TURNS(cospi, S, T, U)                                                            \
  TM_GENTLE(atan, S, T, TM_CALL_##S(atan), 1, 3.1416) TM_GENTLE(tanh, S, T, TM_CALL_##S(tanh), 1, 2)           \
  TM_GENTLE(asinh, S, T, TM_CALL_##S(asinh), 1, __builtin_inf())                                               \
  TM_GENTLE(erf, S, T, TM_CALL_##S(erf), 1.1284, 2) TM_GENTLE(erfc, S, T, TM_CALL_##S(erfc), 1.1284, 2)        \
  TM_GENTLE(normcdf, S, T, TM_CALL_##S(normcdf), 0.3990, 1)                                                    \
  TM_GENTLE(j0, S, T, TM_CALL_##S(j0), 0.5819, 2) TM_GENTLE(j1, S, T, TM_CALL_##S(j1), 0.5, 2)                 \
  TM_SHADOW_FUNCTION tm_shadow tms_frcp_rn_##S(tm_shadow a) { return tms_div_##S(tm_exact(1), a); }            \
  TM_SHADOW_FUNCTION tm_shadow tms_add_rn_##S(tm_shadow a, tm_shadow b) { return tms_add_##S(a, b); }          \
  TM_SHADOW_FUNCTION tm_shadow tms_sub_rn_##S(tm_shadow a, tm_shadow b) { return tms_sub_##S(a, b); }          \
  TM_SHADOW_FUNCTION tm_shadow tms_mul_rn_##S(tm_shadow a, tm_shadow b) { return tms_mul_##S(a, b); }          \
  TM_SHADOW_FUNCTION tm_shadow tms_div_rn_##S(tm_shadow a, tm_shadow b) { return tms_div_##S(a, b); }
TM_EACH_FORMAT(TM_FUNCTIONS_OF)

/* ---- functions of two and three arguments ---- */

/* The corners of the rectangle in which both arguments lie. */
#define TM_CORNERS(FUNCTION, a, b, value)                                                                      \
  ({                                                                                                           \
    double tm_worst = 0, tm_ea = (a).error + __builtin_fabs((a).low), tm_eb = (b).error + __builtin_fabs((b).low); \
    if (tm_ea != 0 || tm_eb != 0)                                                                              \
      for (int tm_c = 0; tm_c < 4; tm_c++) {                                                                   \
        double tm_d = FUNCTION((a).value + (tm_c & 1 ? tm_ea : -tm_ea), (b).value + (tm_c & 2 ? tm_eb : -tm_eb)) - \
                      (value);                                                                                 \
        tm_worst = tm_d != tm_d ? __builtin_inf() : __builtin_fmax(tm_worst, 1.5 * __builtin_fabs(tm_d));      \
      }                                                                                                        \
    tm_worst;                                                                                                  \
  })
#define TM_CALL2_f32(NAME) tm_##NAME##_f32((float)a.native, (float)b.native)
#define TM_CALL2_f64(NAME) tm_##NAME##_f64(a.native, b.native)
#define TM_CALL2_f16(NAME) tm_f32_to_f16(tm_##NAME##_f32((float)a.native, (float)b.native))
#define TM_CALL2_bf16(NAME) tm_f32_to_bf16(tm_##NAME##_f32((float)a.native, (float)b.native))
#define TM_BINARY(NAME, S)                                                                                     \
  TM_SHADOW_FUNCTION tm_shadow tms_##NAME##_##S(tm_shadow a, tm_shadow b) {                                    \
    double value = tm_##NAME##_f64(a.value, b.value);                                                          \
    return tms_result_##S(TM_CALL2_##S(NAME), value, TM_CORNERS(tm_##NAME##_f64, a, b, value));                \
  }
#define TM_BINARIES_OF(S, T, BYTES, U, TINY)                                                                   \
  TM_BINARY(pow, S) TM_BINARY(atan2, S) TM_BINARY(fmod, S) TM_BINARY(remainder, S) TM_BINARY(hypot, S)         \
  TM_BINARY(rhypot, S) TM_BINARY(fdim, S) TM_BINARY(floordiv, S) TM_BINARY(floormod, S)                        \
  TM_SHADOW_FUNCTION tm_shadow tms_norm3d_##S(tm_shadow a, tm_shadow b, tm_shadow c) {                         \
    tm_shadow sum = tms_add_##S(tms_add_##S(tms_mul_##S(a, a), tms_mul_##S(b, b)), tms_mul_##S(c, c));         \
    return tms_sqrt_##S(sum);                                                                                  \
  }
TM_EACH_FORMAT(TM_BINARIES_OF)

#define TM_FAST(NAME, EXACT)                                                                                   \
  TM_SHADOW_FUNCTION tm_shadow tms_##NAME##_f32(tm_shadow a) {                                                 \
    tm_shadow result = tms_##EXACT##_f32(a);                                                                   \
    double native = tm_##NAME##_f32((float)a.native);                                                          \
    result.native = tm_finite(native) == tm_finite(result.native) ? native : result.native;                    \
    return tm_finite(native) ? result : tm_leaf(native, tm_value(result), result.error);                       \
  }
TM_FAST(fast_exp, exp)
TM_FAST(fast_exp10, exp10)
TM_FAST(fast_log, log)
TM_FAST(fast_log2, log2)
TM_FAST(fast_log10, log10)
TM_FAST(fast_sin, sin)
TM_FAST(fast_cos, cos)
TM_FAST(fast_tan, tan)
TM_SHADOW_FUNCTION tm_shadow tms_fast_pow_f32(tm_shadow a, tm_shadow b) { return tms_pow_f32(a, b); }
TM_SHADOW_FUNCTION tm_shadow tms_fast_divide_f32(tm_shadow a, tm_shadow b) { return tms_div_f32(a, b); }
TM_SHADOW_FUNCTION tm_shadow tms_saturate_f32(tm_shadow a) {
  double value = a.value > 0 ? (a.value < 1 ? a.value : 1) : 0;
  tm_pair pair = {value, value == a.value ? a.low : 0};
  return tm_leaf(tm_saturate_f32((float)a.native), pair, a.error);
}

/* ---- conversions ---- */

#define TM_BETWEEN(FROM, TO) \
  TM_SHADOW_FUNCTION tm_shadow tms_##FROM##_to_##TO(tm_shadow a) { return tms_rounded_##TO(a.native, tm_value(a), a.error); }
TM_BETWEEN(f32, f64)
TM_BETWEEN(f32, f16)
TM_BETWEEN(f32, bf16)
TM_BETWEEN(f64, f32)
TM_BETWEEN(f64, f16)
TM_BETWEEN(f64, bf16)
TM_BETWEEN(f16, f32)
TM_BETWEEN(f16, f64)
TM_BETWEEN(f16, bf16)
TM_BETWEEN(bf16, f32)
TM_BETWEEN(bf16, f64)
TM_BETWEEN(bf16, f16)

/* Float to integer: the native result counts; another one from the shadow's value is told. */
#define TMS_TO_INTEGER(CONVERT, a, file, line)                                    \
  ({                                                                              \
    tm_shadow tm_a = (a);                                                         \
    typeof(CONVERT(0.0)) tm_n = CONVERT(tm_a.native);                             \
    if (tm_finite(tm_a.native) && CONVERT(tm_a.value + tm_a.low) != tm_n) tm_unstable(file, line); \
    tm_n;                                                                         \
  })
/* Bits of a float as an integer: a value that rounding could change has no bits to agree on. */
#define TMS_BITS(T, F, S, a, file, line)                  \
  ({                                                      \
    tm_shadow tm_a = (a);                                 \
    if (tm_a.error != 0) tm_unstable(file, line);         \
    TM_BITCAST(T, F, tms_native_##S(tm_a));               \
  })

/* Struct values that no variable holds: results, arguments, constructors.  A ring, so that several may live. */
#define TM_SLOTS(S)                                        \
  static struct S *tm_slot_##S(void) {                     \
    static _Thread_local struct S slots[32];               \
    static _Thread_local unsigned next;                    \
    return &slots[next++ % 32];                            \
  }
#endif
