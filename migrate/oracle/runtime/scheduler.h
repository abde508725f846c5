/* The emulated block: its threads, warps and barrier. */
#ifndef TM_SCHEDULER_H
#define TM_SCHEDULER_H
#include "runtime.h"

namespace tm_oracle {

/* Lanes that wait for each other in one warp operation. */
struct Group {
  uint32_t mask;    /* as written; 0 for the calls without a mask: whoever comes */
  uint32_t arrived;
  int kind;
  const void *site;
};

struct Lane; /* what a waiting lane brings to a warp operation */

struct Thread {
  void *stack_pointer = nullptr;
  uint3 index{0, 0, 0};
  unsigned linear = 0;
  const void *site = nullptr;
  /* operands of a pending warp operation */
  int kind = 0;
  unsigned operand = 0;
  int width = 32;
  const void *in = nullptr;
  void *out = nullptr;
  size_t size = 0;
  unsigned result = 0;
};

struct Warp {
  uint32_t ready, exited, at_barrier, fresh; /* lanes; those that do not exist count as exited */
  Group groups[32];
  int group_count;
};

/* Kinds of warp operations. */
enum Operation { SHUFFLE_INDEX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, BALLOT, ANY, ALL, UNIFORM, MATCH_ANY, MATCH_ALL,
                 SYNC, ACTIVE, REDUCE };

struct Block {
  Thread threads[1024];
  Warp warps[32];
  unsigned count, warp_count, live, waiting, next_fresh;
  uint16_t order[1024];
  int predicate_sum, predicate_live;
  int predicate_result;
  const void *barrier_site;
  int barrier_line = 0;
  unsigned barrier_first;
  uint64_t yields;
};
extern Block the_block;
extern Thread *the_thread;

/* Suspends the running thread, which waits for something, and runs others until it is ready again. */
void suspend();
/* Lanes of a warp become ready. */
inline void make_ready(unsigned warp, uint32_t lanes) { the_block.warps[warp].ready |= lanes; }
/* Completes the warp's groups that all their lanes have reached; true where one did. */
bool complete_groups(unsigned warp);
/* Lets a group go on although lanes are missing: those without a mask, else with a report. */
bool force_group(unsigned warp, bool with_mask);
unsigned next_random();

}  // namespace tm_oracle
#endif
