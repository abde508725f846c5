/* The thread pool behind tm_services.parallel: persistent workers that take pieces of a range as they go.
 *
 *   tm_pool_parallel(0, n, body, data)   calls body(data, begin, end) over pieces that cover 0..n once
 *
 * The caller works too.  A call from inside a body, a call while another thread's call is running, and a
 * call with count == 1 run on the calling thread.  How a range is cut depends on the number of threads and
 * on chance: a body whose result must not depend on either works on each index by itself.
 */
#ifndef TM_POOL_H
#define TM_POOL_H
#include <stdint.h>

#include "tm_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `context`: null, or the address of an int, the most threads that this call may use. */
void tm_pool_parallel(void *context, int64_t count, void (*body)(void *data, int64_t begin, int64_t end),
                      void *data);

/* Threads that work on a call, the caller among them; 0 or less asks for the default: $TMIGRATE_THREADS,
 * else the processors that this process may use. */
void tm_pool_set_threads(int threads);
int tm_pool_threads(void);

/* Services for a launch: print to stdout, report to stderr, parallel by this pool, extents unknown. */
const tm_services *tm_pool_services(void);

/* Writes out what print has buffered. */
void tm_pool_flush(void);

#ifdef __cplusplus
}
#endif
#endif
