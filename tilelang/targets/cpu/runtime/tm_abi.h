/* The C interface between regenerated kernels and whoever launches them.
 *
 * A regenerated object exports one function of type tm_kernel per kernel, under the name
 * tm_kernel_<identifier>, and nothing else: hidden visibility, -Bsymbolic, no undefined
 * symbols beyond libc and libm.  Everything it needs from its surroundings comes through
 * tm_launch, so that the same object serves replay, `tmigrate run`, Python and C++.
 */
#ifndef TM_ABI_H
#define TM_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel may ask of its surroundings.  A null function pointer means "not offered":
 * no printing, no extents known, blocks run in order on the calling thread. */
typedef struct tm_services {
  void *context;
  /* Device printf; returns what printf returns. */
  int (*print)(void *context, const char *format, ...);
  /* Bytes from `pointer` to the end of its allocation; SIZE_MAX where unknown. */
  size_t (*extent)(void *context, const void *pointer);
  /* Calls body(data, begin, end) over pieces that cover 0..count once, perhaps from several threads. */
  void (*parallel)(void *context, int64_t count, void (*body)(void *data, int64_t begin, int64_t end), void *data);
  /* A violation found while the kernel ran: a failed assert, a divergent barrier, a wrong index. */
  void (*report)(void *context, int kind, const char *message, const char *file, int line,
                 const uint32_t block[3], const uint32_t thread[3]);
  /* Under TM_WATCH: a block passes a barrier. */
  void (*barrier)(void *context);
} tm_services;

enum { TM_REPORT_ASSERT = 1, TM_REPORT_BARRIER = 2, TM_REPORT_INDEX = 3, TM_REPORT_LANE = 4 };

typedef struct tm_launch {
  uint32_t grid[3];
  uint32_t block[3];
  uint64_t dynamic_shared;      /* bytes of extern __shared__ memory */
  void *const *globals;         /* addresses of the module's __device__ and __constant__ variables, in its order */
  unsigned char *coverage;      /* one byte per coverage point, set to 1 when passed; null: not wanted */
  const tm_services *services;  /* never null */
  uint32_t argument_count;      /* a CUDA launch passes the parameters only; dimensions that only shapes bind
                                   then follow from the allocations */
  uint32_t modes;               /* what objects built for verification can do besides; 0 elsewhere */
} tm_launch;

/* Bits of tm_launch.modes: blocks, and threads between barriers, run in descending order; accesses outside of arrays
 * and allocations are reported, and done all the same. */
enum { TM_DESCENDING = 1, TM_WATCH = 2 };

/* `arguments[i]` points to parameter i as the host passed it, as in cudaLaunchKernel. */
typedef int (*tm_kernel)(const tm_launch *launch, void *const *arguments);

/* The byte that fills shared memory at a block's start where a launch asks for it, here and in the emulator:
 * reads of uninitialised shared memory then give the same on both sides. */
#define TM_SHARED_FILL 0xa5

enum {
  TM_OK = 0,
  TM_ASSUMPTION_FAILED = 1,  /* a lifted kernel's precondition does not hold; nothing was executed */
  TM_TRAPPED = 2             /* device assert or trap: the launch ended early */
};

/* One float as the shadow execution sees it: a retyped f32 or f64 of the thread-level kernel.
 * native: the thread-level kernel's own value (f32 values are held exactly in the double);
 * value + low: the double-double value computed alongside; error: an upper bound of
 * |any admissible order's result - (value + low)|; magnitude: sum of |terms| in a chain of additions;
 * terms: their count. */
typedef struct tm_shadow {
  double native, value, low, error, magnitude, terms;
} tm_shadow;

/* Shadow objects additionally take these through tm_set_shadow_memory: a map from the address of a
 * float in the kernel's memory to its shadow.  `bytes` is 4 for f32, 8 for f64, 2 for 16-bit floats.
 * load: copies the shadow into *out and returns 1, or returns 0 where none was stored (then the bytes in
 * memory are exact).  store: records; the caller has stored the native value to memory as well. */
typedef struct tm_shadow_memory {
  void *context;
  int (*load)(void *context, const void *address, int bytes, tm_shadow *out);
  void (*store)(void *context, void *address, int bytes, const tm_shadow *value);
  /* A branch on floats went the native way where the shadow's value would have gone the other. */
  void (*unstable)(void *context, const char *file, int line);
} tm_shadow_memory;

#ifdef __cplusplus
}
#endif
#endif
