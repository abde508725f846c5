/* Front end: C's functions become host and device functions, so that kernels may call them.
 *
 * libstdc++'s <math.h> and <stdlib.h> pull in C++ headers, which must not be marked; it can be told to pass
 * through to C's.  Its own overloads (std::sqrt(float)) are constexpr, which clang takes for both sides.  libc++'s
 * are plain inline functions, so there <math.h> is marked whole. */
#ifndef TMIGRATE_HOST_DEVICE_HEADERS_H
#define TMIGRATE_HOST_DEVICE_HEADERS_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS 1
#endif
#include <stddef.h>
#include <stdint.h>
#pragma clang force_cuda_host_device begin
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#pragma clang force_cuda_host_device end
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <cmath>
#include <cstdlib>
#if __has_include(<bits/c++config.h>)
/* The wrappers' own using-declarations (::abs(float), ::isnan) were passed over above. */
using std::abs;
using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::cbrt;
using std::ceil;
using std::copysign;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::exp2;
using std::expm1;
using std::fabs;
using std::fdim;
using std::floor;
using std::fma;
using std::fmax;
using std::fmin;
using std::fmod;
using std::fpclassify;
using std::frexp;
using std::hypot;
using std::ilogb;
using std::isfinite;
using std::isgreater;
using std::isgreaterequal;
using std::isinf;
using std::isless;
using std::islessequal;
using std::islessgreater;
using std::isnan;
using std::isnormal;
using std::isunordered;
using std::ldexp;
using std::lgamma;
using std::llrint;
using std::llround;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::logb;
using std::lrint;
using std::lround;
using std::modf;
using std::nearbyint;
using std::nextafter;
using std::nexttoward;
using std::pow;
using std::remainder;
using std::remquo;
using std::rint;
using std::round;
using std::scalbln;
using std::scalbn;
using std::signbit;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::tgamma;
using std::trunc;
#endif
#endif
