/* Threads as fibers: one block at a time, one thread at a time, in an order that a seed decides: 0 as numbered,
 * 1 backwards, others shuffled.
 *
 * A thread runs until it waits or ends.  While threads of the block are still fresh, the stack of one that ended
 * starts the next, so that kernels without barriers never switch. */
#include "scheduler.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fiber.h"
#include "tm_abi.h"

/* In a section of their own, so that the checker knows them by address. */
#define TM_INDEX __attribute__((section("tm_indices")))
TM_INDEX uint3 threadIdx = {0, 0, 0}, blockIdx = {0, 0, 0};
TM_INDEX dim3 blockDim, gridDim;
extern "C" unsigned char tm_dynamic_shared[228 * 1024] __attribute__((aligned(128)));
unsigned char tm_dynamic_shared[228 * 1024] __attribute__((aligned(128)));

namespace tm_oracle {

Block the_block;
Thread *the_thread = nullptr;
unsigned current_thread = 0, current_block = 0;
unsigned long long block_serial = 0, barriers_passed = 0;

namespace {
constexpr unsigned char shared_fill = TM_SHARED_FILL;
constexpr uint64_t most_yields = 4000000;
constexpr unsigned most_failures = 1024; /* of compare-and-swaps, each elsewhere, after which a thread seems to wait */
const Launch *running = nullptr;
unsigned seed = 0;
uint64_t random_state = 0;
void *main_context = nullptr;
sigjmp_buf end_point;
std::string no_kernel;
bool stopped = false;

void enter(Thread *thread) {
  the_thread = thread;
  current_thread = thread->linear;
  threadIdx = thread->index;
}

int pick_bit(uint32_t lanes) {
  if (seed == 0) return __builtin_ctz(lanes);
  if (seed == 1) return 31 - __builtin_clz(lanes);
  const unsigned turn = next_random() & 31;
  const uint32_t turned = lanes >> turn | (turn ? lanes << (32 - turn) : 0);
  return (__builtin_ctz(turned) + (int)turn) & 31;
}

/* A ready thread, of the running warp if it has one; null where all wait. */
Thread *pick_ready(unsigned first_warp) {
  Block &b = the_block;
  for (unsigned i = 0; i < b.warp_count; ++i) {
    unsigned w = first_warp + i;
    if (w >= b.warp_count) w -= b.warp_count;
    Warp &warp = b.warps[w];
    if (!warp.ready) continue;
    const int lane = pick_bit(warp.ready);
    warp.ready &= ~(1u << lane);
    return &b.threads[w * 32 + lane];
  }
  return nullptr;
}

void release_barrier() {
  Block &b = the_block;
  for (unsigned w = 0; w < b.warp_count; ++w) {
    b.warps[w].ready |= b.warps[w].at_barrier;
    b.warps[w].at_barrier = 0;
  }
  ++barriers_passed;
  b.predicate_result = b.predicate_sum;
  b.predicate_live = (int)b.live;
  b.waiting = 0;
  b.predicate_sum = 0;
  checker::barrier();
}

void thread_ended(Thread *t) {
  Block &b = the_block;
  const unsigned w = t->linear / 32;
  b.warps[w].exited |= 1u << (t->linear & 31);
  --b.live;
  b.yields = 0;
  if (b.waiting && b.waiting == b.live) release_barrier();
  if (b.warps[w].group_count) complete_groups(w);
}

/* The warp's lanes all wait or have ended: calls without a mask go on with those that came. */
void settle_warp(unsigned w) {
  Warp &warp = the_block.warps[w];
  if (warp.group_count && !warp.ready && !warp.fresh) force_group(w, false);
}

/* Nothing can run: let an incomplete warp operation go on, with a report. */
Thread *resolve_stuck() {
  Block &b = the_block;
  for (unsigned w = 0; w < b.warp_count; ++w)
    if (b.warps[w].group_count && (force_group(w, false) || force_group(w, true))) return pick_ready(w);
  if (b.live == 0) return nullptr;
  report("deadlock", "no thread of the block can go on", here(the_thread->site));
  end_launch(cudaErrorLaunchFailure);
}

void worker();

void *new_stack = nullptr; /* of the fiber that start_fiber made, until it runs */

void *start_fiber() { return new_fiber(worker, &new_stack); }

/* Where a switch leads: a ready thread of this warp, a fresh one (on a new stack), any ready one. */
void *next_context(unsigned w) {
  Block &b = the_block;
  settle_warp(w);
  Thread *next = b.warps[w].ready ? pick_ready(w) : nullptr;
  if (!next && b.next_fresh < b.count) return start_fiber();
  if (!next) next = pick_ready(w);
  if (!next) next = resolve_stuck();
  if (!next) return main_context;
  enter(next);
  return next->stack_pointer;
}

/* Fills the stack where a kernel's locals will lie: each schedule sees other garbage in what is never written, so
 * that a result which depends on uninitialised locals differs between schedules. */
__attribute__((noinline)) void leave_garbage(unsigned char fill) {
  unsigned char garbage[1024];
  std::memset(garbage, fill, sizeof garbage);
  asm volatile("" : : "r"(garbage) : "memory");
}

/* Runs fresh threads on its stack until none is left or an older one should go on. */
void worker() {
  Block &b = the_block;
  void *const stack = new_stack;
  for (;;) {
    Thread *t = &b.threads[b.order[b.next_fresh++]];
    Warp &warp = b.warps[t->linear / 32];
    warp.fresh &= ~(1u << (t->linear & 31));
    enter(t);
    if (seed) leave_garbage((unsigned char)(0x35 + 0x6b * seed));
    running->kernel->run(running->kernel->closure);
    t = the_thread;
    thread_ended(t);
    const unsigned w = t->linear / 32;
    settle_warp(w);
    if (b.next_fresh < b.count && !b.warps[w].ready) continue;
    void *unused;
    void *next = b.live == 0 ? main_context : next_context(w);
    free_stack(stack);
    tm_switch(&unused, next);
  }
}
}  // namespace

unsigned next_random() {
  random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(random_state >> 33);
}

void suspend() {
  Thread *self = the_thread;
  void *next = next_context(self->linear / 32);
  if (next == self->stack_pointer && the_thread == self) return;
  tm_switch(&self->stack_pointer, next);
}

bool in_device() { return running != nullptr; }
const std::string &running_kernel() { return running ? running->name : no_kernel; }
unsigned threads_per_block() { return the_block.count; }

uint3 thread_of(unsigned linear) {
  return uint3{linear % blockDim.x, linear / blockDim.x % blockDim.y, linear / (blockDim.x * blockDim.y)};
}
dim3 block_of(unsigned number) {
  return dim3(number % gridDim.x, number / gridDim.x % gridDim.y, number / (gridDim.x * gridDim.y));
}

Place here(const void *site) {
  Place place;
  place.site = site;
  if (running) place.block = blockIdx, place.thread = threadIdx;
  return place;
}

void end_launch(cudaError_t error) {
  set_sticky_error(error);
  stopped = true;
  siglongjmp(end_point, 1);
}

namespace {
void fill_shared(void *address, size_t size) {
  std::memset(address, shared_fill, size);
  checker::shared_entered(address, size);
}

std::vector<std::pair<void *, size_t>> &shared_outside() {
  static std::vector<std::pair<void *, size_t>> list;
  return list;
}
}  // namespace

void enter_shared(Shared &state, void *address, size_t size) {
  state.block = block_serial;
  fill_shared(address, size);
}

SharedOutside::SharedOutside(void *address, size_t size) { shared_outside().emplace_back(address, size); }

namespace {
void permute(uint16_t *order, unsigned count) {
  for (unsigned i = 0; i < count; ++i) order[i] = (uint16_t)(seed == 1 ? count - 1 - i : i);
  if (seed <= 1) return;
  /* Warps in any order, lanes of a warp in any order. */
  const unsigned warps = (count + 31) / 32;
  unsigned shuffled[32];
  for (unsigned w = 0; w < warps; ++w) shuffled[w] = w;
  for (unsigned w = warps - 1; w > 0; --w) std::swap(shuffled[w], shuffled[next_random() % (w + 1)]);
  unsigned at = 0;
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned first = shuffled[w] * 32, lanes = count - first < 32 ? count - first : 32, begin = at;
    for (unsigned i = 0; i < lanes; ++i) order[at++] = (uint16_t)(first + i);
    for (unsigned i = lanes - 1; i > 0; --i) std::swap(order[begin + i], order[begin + next_random() % (i + 1)]);
  }
}

void begin_block(unsigned number) {
  Block &b = the_block;
  const dim3 block = block_of(number);
  current_block = number;
  blockIdx = uint3{block.x, block.y, block.z};
  ++block_serial;
  b.live = b.count;
  b.waiting = b.next_fresh = 0;
  b.predicate_sum = 0;
  b.yields = 0;
  for (unsigned w = 0; w < b.warp_count; ++w) {
    const unsigned lanes = b.count - w * 32 < 32 ? b.count - w * 32 : 32;
    const uint32_t exist = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
    b.warps[w].ready = b.warps[w].at_barrier = 0;
    b.warps[w].exited = ~exist;
    b.warps[w].fresh = exist;
    b.warps[w].group_count = 0;
  }
  if (seed != 0) permute(b.order, b.count);
  if (running->shared) std::memset(tm_dynamic_shared, shared_fill, running->shared);
  checker::block_begins();
  for (const auto &variable : shared_outside()) fill_shared(variable.first, variable.second);
}

void prepare(const Launch &launch) {
  Block &b = the_block;
  gridDim = launch.grid;
  blockDim = launch.block;
  b.count = launch.block.x * launch.block.y * launch.block.z;
  b.warp_count = (b.count + 31) / 32;
  random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (unsigned i = 0; i < b.count; ++i) {
    b.threads[i].linear = i;
    b.threads[i].index = thread_of(i);
  }
  permute(b.order, b.count);
  checker::launch_begins(launch);
}

/* Block numbers in the schedule's order: as they come, backwards, or by steps prime to their number. */
unsigned block_at(uint64_t i, uint64_t blocks) {
  if (seed == 0) return (unsigned)i;
  if (seed == 1) return (unsigned)(blocks - 1 - i);
  uint64_t step = blocks / 2 + 1 + seed;
  auto common = [](uint64_t x, uint64_t y) {
    while (y) { const uint64_t r = x % y; x = y; y = r; }
    return x;
  };
  while (common(step, blocks) != 1) ++step;
  return (unsigned)((i * step + seed) % blocks);
}
}  // namespace

bool emulate(const Launch &launch, unsigned schedule) {
  install_signal_handlers();
  running = &launch;
  seed = schedule;
  stopped = false;
  prepare(launch);
  if (sigsetjmp(end_point, 1) == 0) {
    const uint64_t blocks = (uint64_t)launch.grid.x * launch.grid.y * launch.grid.z;
    for (uint64_t i = 0; i < blocks; ++i) {
      begin_block(block_at(i, blocks));
      tm_switch(&main_context, start_fiber());
    }
  }
  running = nullptr;
  free_all_stacks();
  check_all_padding("after a launch");
  return !stopped;
}

}  // namespace tm_oracle

using namespace tm_oracle;

namespace {
/* Apart from what runs each time, whose frame lies on the stack of every thread that waits. */
__attribute__((noinline, cold)) void report_other_barrier(const void *site, int line) {
  const Block &b = the_block;
  Place place = here(site), other = here(b.barrier_site);
  place.line = line;
  other.line = b.barrier_line;
  other.thread = thread_of(b.barrier_first);
  report("barrier", "threads of one block meet at different barriers", place, &other);
}

/* The running thread has come to a barrier.  `line` tells barriers apart: a compiler may copy one call to several
 * sites. */
inline void arrive(int predicate, const void *site, int line) {
  Block &b = the_block;
  Thread *t = the_thread;
  t->site = site;
  if (b.waiting == 0) {
    b.barrier_site = site;
    b.barrier_line = line;
    b.barrier_first = t->linear;
  } else if (b.barrier_line != line) {
    report_other_barrier(site, line);
  }
  b.predicate_sum += predicate != 0;
  b.yields = 0;
  const unsigned w = t->linear / 32;
  b.warps[w].at_barrier |= 1u << (t->linear & 31);
  if (++b.waiting == b.live) release_barrier();
}

int barrier(int predicate, const void *site, int line) {
  if (!in_device()) return predicate;
  arrive(predicate, site, line);
  suspend();
  return the_block.predicate_result;
}

/* A thread that cannot go on yet (a lock is taken): others run first. */
void give_way(const void *site) {
  Block &b = the_block;
  if (++b.yields > most_yields) {
    report("deadlock", "threads wait for each other in a loop that no thread ends", here(site));
    end_launch(cudaErrorLaunchTimeout);
  }
  Thread *self = the_thread;
  const unsigned w = self->linear / 32;
  /* Others first: fresh threads, then ready ones other than this. */
  void *next = nullptr;
  if (b.next_fresh < b.count) {
    next = start_fiber();
  } else if (Thread *other = pick_ready(w)) {
    enter(other);
    next = other->stack_pointer;
  }
  if (!next) return;
  make_ready(w, 1u << (self->linear & 31));
  tm_switch(&self->stack_pointer, next);
}
}  // namespace

extern "C" {
void __syncthreads(int line) {
  if (!in_device()) return;
  arrive(0, __builtin_return_address(0), line);
  suspend(); /* the last call: the switch lies on the stack right below the kernel's own frame */
}
int __syncthreads_count(int predicate, int line) { return barrier(predicate, __builtin_return_address(0), line); }
int __syncthreads_or(int predicate, int line) { return barrier(predicate, __builtin_return_address(0), line) != 0; }
int __syncthreads_and(int predicate, int line) { return barrier(!predicate, __builtin_return_address(0), line) == 0; }

/* A compare-and-swap failed.  A thread that waits tries the same address again; one that goes on to another, as in a
 * hash table, waits for nobody and keeps its turn: `while (atomicCAS(&lock, 0, 1)) ;` against `slot = slot + 1`. */
void tm_contended(const void *address, const void *site) {
  if (!in_device()) return;
  static struct { const void *address; const Thread *thread; unsigned long long block; unsigned failures; } last;
  const bool same_thread = last.thread == the_thread && last.block == block_serial;
  const bool waits = same_thread && (last.address == address || last.failures > most_failures);
  last = {address, the_thread, block_serial, same_thread && !waits ? last.failures + 1 : 0};
  if (waits) give_way(site);
}

void __nanosleep(unsigned) {
  if (in_device()) give_way(__builtin_return_address(0));
}

void tm_fence(void) { checker::fence(); }
long long clock64(void) {
  static long long cycles = 0;
  return cycles += 40;
}
void __trap(void) {
  report("trap", "__trap() was called", here(__builtin_return_address(0)));
  end_launch(cudaErrorLaunchFailure);
}
void __brkpt(void) {}
}
