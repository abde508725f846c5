/* Packed matrix product for f32 and f64: C = alpha * A * B + beta * C, any strides, any sizes.
 *
 *   tm_matmul_f32(m, n, k, a, a_row_stride, a_column_stride, b, ..., c, ..., alpha, beta, services)
 *
 * A is m x k, B is k x n, C is m x n; strides count elements, so a transposed operand is one whose strides
 * are exchanged.  C must not overlap A or B, nor itself (no zero strides in C).  As in BLAS, beta == 0 means
 * that C is not read (NaN in it vanishes), alpha == 0 that A and B are not read.  The work is spread through
 * services->parallel; services may be null.  The result does not depend on the number of threads.
 *
 * Self-contained: tm_abi.h, libc, and vector extensions of gcc, clang and zig; no intrinsics.  All names are
 * static but the two entries, whose storage class TM_MATRIX_ENTRY may change (`static`, for a kernel that
 * includes this text).  TM_MATRIX_NO_F32 and TM_MATRIX_NO_F64 leave one of the two out.
 */
#ifndef TM_MATRIX_H
#define TM_MATRIX_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tm_abi.h"

#ifndef TM_MATRIX_ENTRY
#define TM_MATRIX_ENTRY __attribute__((visibility("default")))
#endif

/* Register blocking.  The sums take TM_MATRIX_ROWS * TM_MATRIX_VECTORS registers of 32 (AVX-512, aarch64)
 * or of 16 (AVX2, SSE); the vectors of B and a broadcast element of A take the rest. */
#if defined(__AVX512F__)
#define TM_MATRIX_BYTES 64
#define TM_MATRIX_ROWS 8
#define TM_MATRIX_VECTORS 3
#elif defined(__AVX__)
#define TM_MATRIX_BYTES 32
#define TM_MATRIX_ROWS 6
#define TM_MATRIX_VECTORS 2
#elif defined(__aarch64__)
#define TM_MATRIX_BYTES 16
#define TM_MATRIX_ROWS 8
#define TM_MATRIX_VECTORS 3
#else
#define TM_MATRIX_BYTES 16
#define TM_MATRIX_ROWS 6
#define TM_MATRIX_VECTORS 2
#endif

/* Bytes of one row of A in a block: with them the depth of a block. */
#ifndef TM_MATRIX_DEPTH_BYTES
#define TM_MATRIX_DEPTH_BYTES 2048
#endif
/* Bytes of a block of B, which stays in the second-level cache. */
#ifndef TM_MATRIX_BLOCK_BYTES
#define TM_MATRIX_BLOCK_BYTES (768 * 1024)
#endif
/* With at most this many rows, or where it is this small, B is read where it lies: packing costs more. */
#ifndef TM_MATRIX_DIRECT_ROWS
#define TM_MATRIX_DIRECT_ROWS (2 * TM_MATRIX_ROWS)
#endif
#ifndef TM_MATRIX_DIRECT_BYTES
#define TM_MATRIX_DIRECT_BYTES (64 * 1024)
#endif
/* Row panels of A that are packed at a time where its rows are not adjacent. */
#ifndef TM_MATRIX_STRIP
#define TM_MATRIX_STRIP 4
#endif
/* Below this number of multiply-adds a call is not worth waking a thread for. */
#define TM_MATRIX_SERIAL_WORK (1 << 21)
/* Packing one element costs about as much as this many multiply-adds. */
#define TM_MATRIX_PACK_WORK 16

/* The flags of the surrounding file may forbid fused multiply-adds (-ffp-contract=off); here they are wanted. */
#if defined(__clang__)
#define TM_UNROLL _Pragma("clang loop unroll(full)")
#define TM_FUSED _Pragma("clang fp contract(fast)")
/* clang splits 512-bit vectors in two where it prefers 256 bits; zig's -mcpu=native with clang 18 even forgets
 * that a machine with AVX-512 has 512-bit registers (evex512). */
#if defined(__AVX512F__) && !defined(__EVEX512__) && __clang_major__ >= 18 && __clang_major__ <= 20
#define TM_WIDE __attribute__((min_vector_width(8 * TM_MATRIX_BYTES), target("evex512")))
#else
#define TM_WIDE __attribute__((min_vector_width(8 * TM_MATRIX_BYTES)))
#endif
#else
#define TM_UNROLL _Pragma("GCC unroll 16")
#define TM_FUSED
#define TM_WIDE
#pragma GCC push_options
#pragma GCC optimize("O2,fp-contract=fast")
#endif

static inline int64_t tm_matrix_smaller(int64_t x, int64_t y) { return x < y ? x : y; }

/* 0..total cut into the fewest pieces of at most `largest`, of nearly equal size: 17 by 8 gives 6, 6, 5, so
 * that no thin last piece is left over. */
typedef struct {
  int64_t count, size, longer; /* the first `longer` pieces have one element more than `size` */
} tm_matrix_cut;

static inline tm_matrix_cut tm_matrix_pieces(int64_t total, int64_t largest) {
  int64_t count = (total + largest - 1) / largest;
  return (tm_matrix_cut){count, total / count, total % count};
}

static inline int64_t tm_matrix_begin(const tm_matrix_cut *cut, int64_t index) {
  return cut->size * index + tm_matrix_smaller(index, cut->longer);
}

static inline int64_t tm_matrix_size(const tm_matrix_cut *cut, int64_t index) {
  return cut->size + (index < cut->longer);
}

#ifndef TM_MATRIX_NO_F32
#define TM_REAL float
#define TM_REAL_BYTES 4
#define TM_INDEX int32_t
#define TM_NAME(name) name##_f32
#include "tm_matrix_type.h"
#undef TM_REAL
#undef TM_REAL_BYTES
#undef TM_INDEX
#undef TM_NAME
#endif

#ifndef TM_MATRIX_NO_F64
#define TM_REAL double
#define TM_REAL_BYTES 8
#define TM_INDEX int64_t
#define TM_NAME(name) name##_f64
#include "tm_matrix_type.h"
#undef TM_REAL
#undef TM_REAL_BYTES
#undef TM_INDEX
#undef TM_NAME
#endif

#if !defined(__clang__)
#pragma GCC pop_options
#endif
#endif
