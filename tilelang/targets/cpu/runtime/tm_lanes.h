/* Barriers under masks, and what the lanes of a warp do together.
 *
 * Arguments are arrays with one element per thread of the block, in the order of linear thread numbers; a
 * mask, lane or width comes as a pair (array, value), the array null where all threads have one value.
 * `active` is the mask of the threads that run the operation, `live` that of those that have not returned;
 * null means all.  A warp is 32 threads; lanes that do not exist count as returned.
 */
#ifndef TM_LANES_H
#define TM_LANES_H

/* Where a report points to. */
#define TM_WHERE_PARAMETERS const char *file, int line, uint32_t bx, uint32_t by, uint32_t bz
#define TM_WHERE file, line, bx, by, bz

static inline __attribute__((unused)) bool tm_any_set(const bool *mask, int64_t threads) {
  for (int64_t t = 0; t < threads; t++)
    if (mask[t]) return true;
  return false;
}

static __attribute__((unused, cold, noinline)) void tm_report_thread(const tm_frame *frame, int kind,
                                                                    const char *message, int64_t thread,
                                                                    TM_WHERE_PARAMETERS) {
  int64_t x = frame->launch->block[0], y = frame->launch->block[1];
  tm_report(frame, kind, message, file, line, bx, by, bz, (uint32_t)(thread % x), (uint32_t)(thread / x % y),
            (uint32_t)(thread / (x * y)));
}

/* A barrier that at least one thread reaches. */
#ifdef TM_WATCHED
static inline __attribute__((unused)) void tm_count_barrier_of(const tm_frame *frame, const bool *active,
                                                               int64_t threads) {
  const tm_services *services = frame->launch->services;
  if ((frame->launch->modes & TM_WATCH) && services->barrier && (!active || tm_any_set(active, threads)))
    services->barrier(services->context);
}
#define tm_count_barrier(...) tm_count_barrier_of(tm_f, __VA_ARGS__)
#else
#define tm_count_barrier(...) ((void)0)
#endif

/* A barrier that not every thread reaches which has not returned. */
static inline __attribute__((unused)) void tm_check_barrier_of(const tm_frame *frame, const bool *active,
                                                               const bool *live, TM_WHERE_PARAMETERS,
                                                               int64_t threads) {
  if (!tm_any_set(active, threads)) return;
  for (int64_t t = 0; t < threads; t++)
    if (!active[t] && (!live || live[t])) {
      tm_report_thread(frame, TM_REPORT_BARRIER, "barrier not reached by this thread", t, TM_WHERE);
      return;
    }
}
#define tm_check_barrier(...) tm_check_barrier_of(tm_f, __VA_ARGS__)

#define TM_JOIN(NAME, START, STEP)                                                                             \
  static inline __attribute__((unused)) int32_t NAME(const int32_t *value, const bool *active, int64_t threads) { \
    int32_t result = START;                                                                                    \
    for (int64_t t = 0; t < threads; t++)                                                                      \
      if (!active || active[t]) result = STEP;                                                                 \
    return result;                                                                                             \
  }
TM_JOIN(tm_syncthreads_count, 0, result + (value[t] != 0))
TM_JOIN(tm_syncthreads_and, 1, result &(value[t] != 0))
TM_JOIN(tm_syncthreads_or, 0, result | (value[t] != 0))

/* ---- one warp ---- */

/* The lanes, as bits, of the warp that begins at thread `first`.  Elements of lanes that take no part may
 * never have been written: a byte other than 0 and 1 must not spill into the next lane's bit. */
TM_INLINE uint32_t tm_lanes_of(const bool *mask, int64_t first, int64_t threads) {
  int64_t count = threads - first < 32 ? threads - first : 32;
  uint32_t all = count == 32 ? 0xffffffffu : (1u << count) - 1, bits = 0;
  const unsigned char *bytes = (const unsigned char *)mask;
  if (!mask) return all;
  for (int64_t lane = 0; lane < count; lane++) bits |= (uint32_t)(bytes[first + lane] & 1) << lane;
  return bits;
}

/* CUDA's rule: every lane that a mask names and that has not returned runs the operation, and every lane
 * that runs it is named by its own mask. */
static inline __attribute__((unused)) void tm_check_lanes(const tm_frame *frame, uint32_t mask, int64_t thread,
                                                          uint32_t active, uint32_t live, TM_WHERE_PARAMETERS) {
  if (!(mask >> (thread & 31) & 1))
    tm_report_thread(frame, TM_REPORT_LANE, "this lane is not in its own mask", thread, TM_WHERE);
  else if (mask & live & ~active)
    tm_report_thread(frame, TM_REPORT_LANE, "a lane of this thread's mask does not take part", thread, TM_WHERE);
}

/* A shuffle's segments have 1, 2, 4, 8, 16 or 32 lanes. */
TM_INLINE bool tm_is_width(int32_t width) { return width >= 1 && width <= 32 && !(width & (width - 1)); }

/* The lane that `lane` reads from; its own where the source lies outside of its segment. */
TM_INLINE int tm_source_shfl(int lane, int32_t index, int32_t width) {
  return (lane & ~(width - 1)) | (index & (width - 1));
}
TM_INLINE int tm_source_shfl_up(int lane, int32_t delta, int32_t width) {
  return (uint32_t)delta > (uint32_t)(lane & (width - 1)) ? lane : lane - delta;
}
TM_INLINE int tm_source_shfl_down(int lane, int32_t delta, int32_t width) {
  return (uint32_t)(lane & (width - 1)) + (uint64_t)(uint32_t)delta >= (uint64_t)width ? lane : lane + delta;
}
TM_INLINE int tm_source_shfl_xor(int lane, int32_t bits, int32_t width) {
  int source = lane ^ bits;
  return (source & ~31) || (source & ~(width - 1)) > (lane & ~(width - 1)) ? lane : source;
}

#define TM_EACH(t, array, value) ((array) ? (array)[t] : (value))

/* A macro, since the elements have any type.  The common case is first: whole warps, one full mask. */
#define TM_SHUFFLE(SOURCE, result, values, masks, mask_, lanes, lane_, widths, width_, active, live, file, line, bx, \
                   by, bz, threads)                                                                                  \
  do {                                                                                                               \
    const uint32_t *const tm_masks = (const uint32_t *)(masks);                                                      \
    const int32_t *const tm_lanes = (const int32_t *)(lanes), *const tm_widths = (const int32_t *)(widths);          \
    const bool *const tm_active = (const bool *)(active), *const tm_live = (const bool *)(live);                     \
    const int64_t tm_threads = (threads);                                                                            \
    const uint32_t tm_mask = (uint32_t)(mask_);                                                                      \
    const int32_t tm_lane = (lane_), tm_width = (width_);                                                            \
    if (!tm_masks && tm_mask == 0xffffffffu && !tm_lanes && !tm_widths && tm_is_width(tm_width) && !tm_active &&     \
        tm_threads % 32 == 0) {                                                                                      \
      for (int64_t tm_w = 0; tm_w < tm_threads; tm_w += 32)                                                          \
        for (int tm_l = 0; tm_l < 32; tm_l++)                                                                        \
          (result)[tm_w + tm_l] = (values)[tm_w + SOURCE(tm_l, tm_lane, tm_width)];                                  \
      break;                                                                                                         \
    }                                                                                                                \
    for (int64_t tm_w = 0; tm_w < tm_threads; tm_w += 32) {                                                          \
      uint32_t tm_on = tm_lanes_of(tm_active, tm_w, tm_threads), tm_alive = tm_lanes_of(tm_live, tm_w, tm_threads);  \
      for (int tm_l = 0; tm_l < 32; tm_l++) {                                                                        \
        int64_t tm_t = tm_w + tm_l;                                                                                  \
        if (!(tm_on >> tm_l & 1)) continue;                                                                          \
        uint32_t tm_m = TM_EACH(tm_t, tm_masks, tm_mask);                                                            \
        tm_check_lanes(tm_f, tm_m, tm_t, tm_on, tm_alive, file, line, bx, by, bz);                                   \
        int32_t tm_wide = TM_EACH(tm_t, tm_widths, tm_width);                                                        \
        if (!tm_is_width(tm_wide)) {                                                                                 \
          tm_report_thread(tm_f, TM_REPORT_LANE, "a width that is no power of two up to 32", tm_t, file, line, bx,   \
                           by, bz);                                                                                  \
          tm_wide = 32;                                                                                              \
        }                                                                                                            \
        int tm_from = SOURCE(tm_l, TM_EACH(tm_t, tm_lanes, tm_lane), tm_wide);                                       \
        if (!(tm_on & tm_m & 1u << tm_from)) {                                                                       \
          tm_report_thread(tm_f, TM_REPORT_LANE, "reads a lane that takes no part", tm_t, file, line, bx, by, bz);   \
          tm_from = tm_l;                                                                                            \
        }                                                                                                            \
        (result)[tm_t] = (values)[tm_w + tm_from];                                                                   \
      }                                                                                                              \
    }                                                                                                                \
  } while (0)
#define tm_shfl(...) TM_SHUFFLE(tm_source_shfl, __VA_ARGS__)
#define tm_shfl_up(...) TM_SHUFFLE(tm_source_shfl_up, __VA_ARGS__)
#define tm_shfl_down(...) TM_SHUFFLE(tm_source_shfl_down, __VA_ARGS__)
#define tm_shfl_xor(...) TM_SHUFFLE(tm_source_shfl_xor, __VA_ARGS__)

/* ballot, any, all: GIVE is an expression in `votes` (bits of the lanes whose predicate holds), `mask`
 * (the lanes of the calling lane's mask that run the operation). */
#define TM_VOTE(NAME, T, GIVE)                                                                                      \
  static inline __attribute__((unused)) void NAME##_of(const tm_frame *frame, T *result, const bool *values,         \
                                                       const uint32_t *masks, uint32_t one_mask, const bool *active, \
                                                       const bool *live, TM_WHERE_PARAMETERS, int64_t threads) {     \
    for (int64_t first = 0; first < threads; first += 32) {                                                          \
      uint32_t on = tm_lanes_of(active, first, threads), alive = tm_lanes_of(live, first, threads);                  \
      uint32_t all_votes = tm_lanes_of(values, first, threads) & on;                                                 \
      for (int64_t t = first; t < threads && t < first + 32; t++) {                                                  \
        if (!(on >> (t & 31) & 1)) continue;                                                                         \
        uint32_t named = masks ? masks[t] : one_mask, mask = named & on, votes = all_votes & mask;                   \
        tm_check_lanes(frame, named, t, on, alive, TM_WHERE);                                                        \
        result[t] = GIVE;                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
  }
TM_VOTE(tm_ballot, uint32_t, votes)
TM_VOTE(tm_any, bool, votes != 0)
TM_VOTE(tm_all, bool, votes == mask)
#define tm_ballot(...) tm_ballot_of(tm_f, __VA_ARGS__)
#define tm_any(...) tm_any_of(tm_f, __VA_ARGS__)
#define tm_all(...) tm_all_of(tm_f, __VA_ARGS__)

static inline __attribute__((unused)) void tm_activemask_of(uint32_t *result, const bool *active, int64_t threads) {
  for (int64_t first = 0; first < threads; first += 32) {
    uint32_t on = tm_lanes_of(active, first, threads);
    for (int64_t t = first; t < threads && t < first + 32; t++) result[t] = on;
  }
}
#define tm_activemask(result, active, live, file, line, bx, by, bz, threads) \
  tm_activemask_of(result, active, threads)

static inline __attribute__((unused)) void tm_syncwarp_of(const tm_frame *frame, const uint32_t *masks,
                                                          uint32_t one_mask, const bool *active, const bool *live,
                                                          TM_WHERE_PARAMETERS, int64_t threads) {
  if (!masks && !active && one_mask == 0xffffffffu) return;
  for (int64_t first = 0; first < threads; first += 32) {
    uint32_t on = tm_lanes_of(active, first, threads), alive = tm_lanes_of(live, first, threads);
    for (int64_t t = first; t < threads && t < first + 32; t++)
      if (on >> (t & 31) & 1) tm_check_lanes(frame, masks ? masks[t] : one_mask, t, on, alive, TM_WHERE);
  }
}
#define tm_syncwarp(...) tm_syncwarp_of(tm_f, __VA_ARGS__)
#endif
