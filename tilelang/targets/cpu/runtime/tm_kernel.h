/* What surrounds a kernel's body: the frame that device functions receive, memory that lasts for a piece
 * of the launch, traps, and the spreading of blocks over threads. */
#ifndef TM_KERNEL_H
#define TM_KERNEL_H

/* The part of a launch that one call runs; generated code extends it by the variables it captures. */
typedef struct tm_work {
  const tm_launch *launch;
  int status;
} tm_work;

enum { TM_KNOWN = 16 };

typedef struct tm_frame {
  const tm_launch *launch;
  unsigned char *coverage; /* never null: points to a dummy where coverage is not wanted */
  char *shared;            /* the block's dynamic shared memory */
#ifdef TM_WATCHED
  struct {
    const char *low, *end;
  } known[TM_KNOWN];       /* pieces of allocations up to their ends, so that most accesses need no question */
  unsigned next_known;
#endif
} tm_frame;

/* ---- traps: the piece's wrapper stands at `tm_trap_target` ---- */

static _Thread_local jmp_buf *tm_trap_target __attribute__((unused));

static inline __attribute__((noreturn, unused, cold)) void tm_trap(void) { longjmp(*tm_trap_target, 1); }

static __attribute__((unused, cold, noinline)) void tm_report(const tm_frame *frame, int kind, const char *message,
                                                             const char *file, int line, uint32_t bx, uint32_t by,
                                                             uint32_t bz, uint32_t tx, uint32_t ty, uint32_t tz) {
  const tm_services *services = frame->launch->services;
  if (services->report)
    services->report(services->context, kind, message, file, line, (const uint32_t[3]){bx, by, bz},
                     (const uint32_t[3]){tx, ty, tz});
}

static __attribute__((unused, noinline)) void tm_run_guarded(void (*body)(void *, int64_t, int64_t), void *data,
                                                            int64_t begin, int64_t end) {
  tm_work *work = data;
  jmp_buf here;
  if (__atomic_load_n(&work->status, __ATOMIC_RELAXED)) return;
  tm_trap_target = &here;
  if (setjmp(here) == 0)
    body(data, begin, end);
  else
    __atomic_store_n(&work->status, TM_TRAPPED, __ATOMIC_RELAXED);
}

/* Marks which way a conditional expression goes. */
TM_INLINE bool tm_cover(const tm_frame *frame, bool condition, int32_t then, int32_t otherwise) {
  frame->coverage[condition ? then : otherwise] = 1;
  return condition;
}
#define tm_cover_outcome(...) tm_cover(tm_f, __VA_ARGS__)

#define TM_PRINT(frame, ...)                                                                             \
  ({                                                                                                     \
    const tm_services *tm_s = (frame)->launch->services;                                                 \
    tm_s->print ? tm_s->print(tm_s->context, __VA_ARGS__) : 0;                                           \
  })

/* ---- checks of indices; a wrong one is reported and 0 used instead ---- */

#define TM_NOWHERE UINT32_MAX /* the block or thread is not known */
static inline __attribute__((unused)) int64_t tm_check_index(const tm_frame *frame, int64_t index, int64_t extent,
                                                             const char *file, int line) {
  if (index >= 0 && index < extent) return index;
  tm_report(frame, TM_REPORT_INDEX, "index out of range", file, line, TM_NOWHERE, TM_NOWHERE, TM_NOWHERE, TM_NOWHERE,
            TM_NOWHERE, TM_NOWHERE);
  return 0;
}
static inline __attribute__((unused)) int64_t tm_check_pointer(const tm_frame *frame, const void *place, size_t bytes,
                                                               int64_t index, const char *file, int line) {
  const tm_services *services = frame->launch->services;
  if (!services->extent || services->extent(services->context, place) >= bytes) return index;
  tm_report(frame, TM_REPORT_INDEX, "access outside an allocation", file, line, TM_NOWHERE, TM_NOWHERE, TM_NOWHERE,
            TM_NOWHERE, TM_NOWHERE, TM_NOWHERE);
  return 0;
}
#define TM_CHECK_POINTER(p, i, file, line) tm_check_pointer(tm_f, &(p)[i], sizeof *(p), i, file, line)

/* ---- watching: accesses outside of arrays and allocations are reported where the launch asks for it ---- */

#ifdef TM_WATCHED
TM_INLINE int64_t tm_watch_index(const tm_frame *frame, int64_t index, int64_t extent, const char *file, int line) {
  if (__builtin_expect((uint64_t)index >= (uint64_t)extent, 0) && (frame->launch->modes & TM_WATCH))
    tm_report(frame, TM_REPORT_INDEX, "an index outside its array", file, line, TM_NOWHERE, TM_NOWHERE, TM_NOWHERE,
              TM_NOWHERE, TM_NOWHERE, TM_NOWHERE);
  return index;
}

/* `base` is what the program indexes: where it points into an allocation or the block's dynamic shared memory, the
 * access must stay there; where it does not, nothing is known. */
static __attribute__((unused, noinline)) void tm_watch_pointer(const tm_frame *frame, const char *base,
                                                              const char *place, size_t bytes, const char *file,
                                                              int line) {
  tm_frame *own = (tm_frame *)frame;
  const tm_services *services = frame->launch->services;
  if ((size_t)base - (size_t)__builtin_frame_address(0) < ((size_t)1 << 20)) return; /* a local of a caller's */
  for (int k = 0; k < TM_KNOWN; k++)
    if (place >= own->known[k].low && place + bytes <= own->known[k].end) return;
  size_t left = services->extent ? services->extent(services->context, place) : SIZE_MAX;
  if (left != SIZE_MAX && left >= bytes) {
    unsigned k = 0;
    while (k < TM_KNOWN && own->known[k].end != place + left) k++;
    if (k == TM_KNOWN) k = own->next_known++ % TM_KNOWN;
    own->known[k].low = place;
    own->known[k].end = place + left;
    return;
  }
  const char *shared = frame->shared, *end = shared ? shared + frame->launch->dynamic_shared : 0;
  if (left == SIZE_MAX && shared && base >= shared && base < end) {
    if (place >= shared && place + bytes <= end) return;
  } else if (left == SIZE_MAX && (!services->extent || services->extent(services->context, base) == SIZE_MAX)) {
    return;
  }
  tm_report(frame, TM_REPORT_INDEX, "an access outside its allocation", file, line, TM_NOWHERE, TM_NOWHERE, TM_NOWHERE,
            TM_NOWHERE, TM_NOWHERE, TM_NOWHERE);
}

TM_INLINE void *tm_watch_place(const tm_frame *frame, const void *base, int64_t index, size_t bytes, const char *file,
                               int line) {
  char *place = (char *)base + index * (int64_t)bytes;
  if (frame->launch->modes & TM_WATCH) tm_watch_pointer(frame, base, place, bytes, file, line);
  return place;
}
#endif

/* ---- spreading ---- */

TM_INLINE void tm_spread(tm_work *work, int64_t count, void (*body)(void *, int64_t, int64_t), bool in_order) {
  const tm_services *services = work->launch->services;
  if (count <= 0) return;
  if (in_order || !services->parallel || count == 1)
    body(work, 0, count);
  else
    services->parallel(services->context, count, body, work);
}

/* Iterations of `for (i = start; i < stop; i += step)`, for negative steps with `>`. */
TM_INLINE int64_t tm_trip_count(int64_t start, int64_t stop, int64_t step) {
  int64_t distance = step > 0 ? stop - start : start - stop, size = step > 0 ? step : -step;
  return distance <= 0 ? 0 : (distance - 1) / size + 1;
}

/* Loops over threads are written for blocks of at most 65536 threads along each axis; CUDA's limit is 1024. */
TM_INLINE bool tm_is_legal_block(const tm_launch *launch) {
  return launch->block[0] <= 65536 && launch->block[1] <= 65536 && launch->block[2] <= 65536;
}

/* Nearly always: compilers then keep the registers of hot loops free of what the other branch needs. */
#define tm_likely(condition) __builtin_expect(condition, 1)
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect_with_probability)
#undef tm_likely
#define tm_likely(condition) __builtin_expect_with_probability(condition, 1, 0.9999)
#endif
#endif

/* ---- memory of a piece ---- */

/* Shared arrays and per-thread context arrays: bump allocation in one block of memory, sized beforehand. */
typedef struct tm_arena {
  char *memory, *next;
} tm_arena;
#define TM_ARENA_ALIGNMENT ((size_t)64)
#define TM_ARENA_PADDING (64 - sizeof(void *))
TM_INLINE size_t tm_arena_size(size_t bytes) { return (bytes + TM_ARENA_ALIGNMENT - 1) & ~(TM_ARENA_ALIGNMENT - 1); }
TM_INLINE tm_arena tm_arena_open(size_t bytes) {
  tm_arena arena = {malloc(bytes + TM_ARENA_ALIGNMENT), 0};
  arena.next = (char *)tm_arena_size((size_t)(uintptr_t)arena.memory);
  return arena;
}
/* Not inlined, and said to be like malloc: compilers then know that nothing else points into the array. */
static __attribute__((noinline, unused, malloc, assume_aligned(64))) void *tm_arena_take(tm_arena *arena, size_t bytes) {
  void *taken = arena->next;
  arena->next += tm_arena_size(bytes);
  return taken;
}
TM_INLINE void tm_arena_close(tm_arena *arena) { free(arena->memory); }


/* ---- loop-level kernels ---- */

/* Before a loop whose iterations are independent of each other; the second where there are at most 16, which gcc would
 * unroll before it looks for vectors, and then no longer know that they are independent. */
#if defined(__clang__)
#define TM_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define TM_INDEPENDENT_FEW TM_INDEPENDENT
#else
#define TM_INDEPENDENT _Pragma("GCC ivdep")
#define TM_INDEPENDENT_FEW TM_INDEPENDENT _Pragma("GCC unroll 1")
#endif

TM_INLINE size_t tm_tensor_bytes(size_t element, int rank, const int64_t *extents) {
  size_t bytes = element;
  for (int axis = 0; axis < rank; axis++) bytes *= extents[axis] > 0 ? (size_t)extents[axis] : 0;
  return bytes;
}
static inline __attribute__((unused)) bool tm_fits(const tm_frame *frame, const void *place, size_t bytes) {
  const tm_services *services = frame->launch->services;
  return bytes == 0 || !services->extent || services->extent(services->context, place) >= bytes;
}
/* The rows of `row` bytes from `place` to the end of its allocation; very many where that is not known. */
static inline __attribute__((unused)) int64_t tm_rows(const tm_frame *frame, const void *place, size_t row) {
  const tm_services *services = frame->launch->services;
  const size_t unknown = (size_t)1 << 44;
  const size_t known = place && services->extent ? services->extent(services->context, place) : place ? unknown : 0;
  return row == 0 ? 0 : (int64_t)((known < unknown ? known : unknown) / row);
}
TM_INLINE bool tm_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
  return a_bytes && b_bytes && (const char *)a < (const char *)b + b_bytes && (const char *)b < (const char *)a + a_bytes;
}
static inline __attribute__((unused)) void tm_copy_tensor(void *to, const void *from, size_t bytes) {
  if (to != from) __builtin_memmove(to, from, bytes);
}
/* One step of max and min over floats: a NaN is ignored, as by fmax. */
TM_INLINE float tm_fold_fmax_f32(float a, float b) { return b > a ? b : a; }
TM_INLINE float tm_fold_fmin_f32(float a, float b) { return b < a ? b : a; }
TM_INLINE double tm_fold_fmax_f64(double a, double b) { return b > a ? b : a; }
TM_INLINE double tm_fold_fmin_f64(double a, double b) { return b < a ? b : a; }

/* Temporaries of a loop-level kernel, freed together where it ends. */
typedef struct tm_scratch {
  struct tm_scratch *next;
  char padding[TM_ARENA_PADDING];
} tm_scratch;
static inline __attribute__((unused)) void *tm_scratch_take(tm_scratch **list, size_t bytes) {
  tm_scratch *made = aligned_alloc(TM_ARENA_ALIGNMENT, sizeof(tm_scratch) + tm_arena_size(bytes));
  made->next = *list;
  __builtin_memset(made + 1, 0, bytes);
  *list = made;
  return made + 1;
}
static inline __attribute__((unused)) void tm_scratch_close(tm_scratch *list) {
  while (list) {
    tm_scratch *next = list->next;
    free(list);
    list = next;
  }
}

/* ---- clock() ---- */

#include <time.h>
static inline __attribute__((unused)) int64_t tm_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif
