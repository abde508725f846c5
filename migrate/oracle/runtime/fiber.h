/* Stacks and the switch between them. */
#ifndef TM_FIBER_H
#define TM_FIBER_H

/* Saves the callee-saved registers on the current stack and its pointer in *save, then goes on at `load`. */
extern "C" void tm_switch(void **save, void *load);

namespace tm_oracle {
/* A stack whose first switch calls `entry`, which must not return; from a pool. */
void *new_fiber(void (*entry)(), void **stack);
void free_stack(void *stack);
/* Takes back every stack in use. */
void free_all_stacks();
}  // namespace tm_oracle
#endif
