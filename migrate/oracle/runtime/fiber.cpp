/* A hand-written switch: swapcontext makes two system calls, this none.
 *
 * It ends in an indirect jump: a `ret` to another stack is never where the processor's stack of return addresses
 * expects it, and each such surprise costs as much as the rest of a barrier (measured by tests/bench/oracle.py). */
#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime.h"

#if defined(__APPLE__)
#define TM_SYMBOL "_tm_switch"
#else
#define TM_SYMBOL "tm_switch"
#endif

#if defined(__x86_64__)
asm(".text\n.globl " TM_SYMBOL "\n" TM_SYMBOL ":\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  popq %rcx\n  jmpq *%rcx\n");
#elif defined(__aarch64__)
asm(".text\n.balign 4\n.globl " TM_SYMBOL "\n" TM_SYMBOL ":\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n  ret\n");
#else
#error "no context switch for this processor"
#endif

namespace tm_oracle {
namespace {
constexpr size_t stack_size = 256 << 10, guard_size = 4096;
std::vector<unsigned char *> all_stacks, free_stacks;

unsigned char *take_stack() {
  if (!free_stacks.empty()) {
    unsigned char *stack = free_stacks.back();
    free_stacks.pop_back();
    return stack;
  }
  void *got = mmap(nullptr, stack_size + guard_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    std::fprintf(stderr, "tmigrate: no memory for a thread's stack\n");
    std::exit(125);
  }
  mprotect(got, guard_size, PROT_NONE);
  all_stacks.push_back((unsigned char *)got);
  return (unsigned char *)got;
}

/* How far below its end a stack begins: at the same place of each page, a thousand of them would share a few lines
 * of the caches. */
size_t colour(const unsigned char *base) {
  const size_t number = (uintptr_t)base / (stack_size + guard_size);
  return number * 5 % 64 * 64;
}
}  // namespace

void *new_fiber(void (*entry)(), void **stack) {
  unsigned char *base = take_stack();
  *stack = base;
  void **top = (void **)(base + guard_size + stack_size - colour(base));
#if defined(__x86_64__)
  *--top = nullptr; /* where a return address would stand: the stack is aligned as after a call */
  *--top = (void *)entry;
  for (int i = 0; i < 6; ++i) *--top = nullptr;
#else
  top -= 20;
  for (int i = 0; i < 20; ++i) top[i] = nullptr;
  top[11] = (void *)entry; /* x30 */
#endif
  return top;
}

void free_stack(void *stack) { free_stacks.push_back((unsigned char *)stack); }
void free_all_stacks() { free_stacks = all_stacks; }

bool on_thread_stack(const void *pointer) {
  for (unsigned char *base : all_stacks)
    if (pointer >= base && pointer < base + stack_size + guard_size) return true;
  return false;
}
}  // namespace tm_oracle
