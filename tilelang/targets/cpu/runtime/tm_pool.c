#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "tm_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#define TM_EXPORT __attribute__((visibility("default")))
#define TM_MOST_THREADS 1024
/* A thread's share is cut into this many pieces, so that a slow thread leaves some of its own to others. */
#define TM_PIECES_PER_THREAD 8

typedef struct {
  int64_t count, piece;
  void (*body)(void *data, int64_t begin, int64_t end);
  void *data;
} tm_job;

/* `lock` guards all but `next` and `busy`.  A worker takes part in a job by raising `helpers` while the job
 * is open; the caller closes the job and waits for the helpers, never for a worker that is still asleep. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  int wanted;  /* threads, as set; 0: not decided yet */
  int started; /* workers that exist */
  tm_job job;
  uint64_t number; /* of the job */
  int open;        /* workers with an index below this may join */
  int helpers;     /* workers inside the job */
  int64_t next;    /* first index that nobody has taken */
  int busy;        /* a call owns the pool */
} tm_pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static __thread int tm_inside; /* this thread is running a body */

static void tm_run_pieces(void) {
  const tm_job job = tm_pool.job;
  tm_inside = 1;
  for (;;) {
    int64_t begin = __atomic_fetch_add(&tm_pool.next, job.piece, __ATOMIC_RELAXED);
    if (begin >= job.count) break;
    job.body(job.data, begin, job.count - begin < job.piece ? job.count : begin + job.piece);
  }
  tm_inside = 0;
}

static void *tm_worker(void *argument) {
  const int index = (int)(intptr_t)argument;
  uint64_t seen = 0;
  pthread_mutex_lock(&tm_pool.lock);
  for (;;) {
    while (seen == tm_pool.number || index >= tm_pool.open) pthread_cond_wait(&tm_pool.wake, &tm_pool.lock);
    seen = tm_pool.number;
    tm_pool.helpers++;
    pthread_mutex_unlock(&tm_pool.lock);
    tm_run_pieces();
    pthread_mutex_lock(&tm_pool.lock);
    if (--tm_pool.helpers == 0) pthread_cond_signal(&tm_pool.done);
  }
  return 0;
}

/* After fork the child has this thread alone: it forgets the workers, and starts new ones when needed.  (A
 * body that forks must not return in the child: pieces that workers had taken are not done there.) */
static void tm_before_fork(void) { pthread_mutex_lock(&tm_pool.lock); }
static void tm_parent_after_fork(void) { pthread_mutex_unlock(&tm_pool.lock); }
static void tm_child_after_fork(void) {
  pthread_mutex_init(&tm_pool.lock, 0);
  pthread_cond_init(&tm_pool.wake, 0);
  pthread_cond_init(&tm_pool.done, 0);
  tm_pool.started = tm_pool.open = tm_pool.helpers = tm_pool.busy = 0;
}

static void tm_register_fork(void) { pthread_atfork(tm_before_fork, tm_parent_after_fork, tm_child_after_fork); }

static int tm_default_threads(void) {
  const char *asked = getenv("TMIGRATE_THREADS");
  int threads = asked ? atoi(asked) : 0;
#ifdef __linux__
  cpu_set_t allowed;
  if (threads <= 0 && sched_getaffinity(0, sizeof allowed, &allowed) == 0) threads = CPU_COUNT(&allowed);
#endif
  if (threads <= 0) threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
  return threads < 1 ? 1 : threads > TM_MOST_THREADS ? TM_MOST_THREADS : threads;
}

TM_EXPORT void tm_pool_set_threads(int threads) {
  int wanted = threads <= 0 ? tm_default_threads() : threads > TM_MOST_THREADS ? TM_MOST_THREADS : threads;
  __atomic_store_n(&tm_pool.wanted, wanted, __ATOMIC_RELAXED);
}

TM_EXPORT int tm_pool_threads(void) {
  int wanted = __atomic_load_n(&tm_pool.wanted, __ATOMIC_RELAXED);
  if (wanted == 0) {
    tm_pool_set_threads(0);
    wanted = __atomic_load_n(&tm_pool.wanted, __ATOMIC_RELAXED);
  }
  return wanted;
}

/* Starts workers until there are `count`, or as many as the system allows; called under the lock.  Signals
 * stay with the program's own threads. */
static void tm_start_workers(int count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, tm_register_fork);
  if (tm_pool.started >= count) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (; tm_pool.started < count; tm_pool.started++) {
    pthread_t thread;
    if (pthread_create(&thread, 0, tm_worker, (void *)(intptr_t)tm_pool.started) != 0) break;
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, 0);
}

TM_EXPORT void tm_pool_parallel(void *context, int64_t count,
                                void (*body)(void *data, int64_t begin, int64_t end), void *data) {
  if (count <= 0) return;
  int threads = count == 1 || tm_inside ? 1 : tm_pool_threads();
  if (threads > 1 && context && *(const int *)context < threads) threads = *(const int *)context;
  if (threads <= 1 || __atomic_exchange_n(&tm_pool.busy, 1, __ATOMIC_ACQUIRE)) {
    body(data, 0, count);
    return;
  }
  pthread_mutex_lock(&tm_pool.lock);
  tm_start_workers(threads - 1);
  int64_t piece = count / ((int64_t)threads * TM_PIECES_PER_THREAD);
  tm_pool.job = (tm_job){count, piece < 1 ? 1 : piece, body, data};
  __atomic_store_n(&tm_pool.next, 0, __ATOMIC_RELAXED);
  tm_pool.number++;
  tm_pool.open = threads - 1;
  pthread_cond_broadcast(&tm_pool.wake);
  pthread_mutex_unlock(&tm_pool.lock);
  tm_run_pieces();
  pthread_mutex_lock(&tm_pool.lock);
  tm_pool.open = 0;
  while (tm_pool.helpers > 0) pthread_cond_wait(&tm_pool.done, &tm_pool.lock);
  pthread_mutex_unlock(&tm_pool.lock);
  __atomic_store_n(&tm_pool.busy, 0, __ATOMIC_RELEASE);
}

static int tm_pool_print(void *context, const char *format, ...) {
  (void)context;
  va_list arguments;
  va_start(arguments, format);
  int written = vfprintf(stdout, format, arguments);
  va_end(arguments);
  return written;
}

static void tm_pool_report(void *context, int kind, const char *message, const char *file, int line,
                           const uint32_t block[3], const uint32_t thread[3]) {
  static const char *const kinds[] = {"violation", "failed assert", "divergent barrier", "wrong index", "wrong lane"};
  (void)context;
  fflush(stdout);
  fprintf(stderr, "%s:%d: block (%u,%u,%u), thread (%u,%u,%u): %s: %s\n", file ? file : "?", line, block[0],
          block[1], block[2], thread[0], thread[1], thread[2],
          kinds[kind >= TM_REPORT_ASSERT && kind <= TM_REPORT_LANE ? kind : 0], message ? message : "");
}

TM_EXPORT const tm_services *tm_pool_services(void) {
  static const tm_services services = {
      .print = tm_pool_print, .parallel = tm_pool_parallel, .report = tm_pool_report};
  return &services;
}

TM_EXPORT void tm_pool_flush(void) { fflush(stdout); }
