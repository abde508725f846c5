/* What the launch rewriter's output calls. */
#ifndef TMIGRATE_ORACLE_H
#define TMIGRATE_ORACLE_H
#include <type_traits>
#include <typeinfo>
#include "api_templates.h"

namespace tm_oracle {

/* One launch, with the kernel's body as a closure over its parameters. */
struct Kernel {
  unsigned unit;                      /* which of the program's source files defines it */
  const char *closure_name;           /* typeid name of the closure: the kernel's mangled name and a suffix */
  void (*run)(const void *closure);   /* runs one CUDA thread on its own copy */
  const void *closure;
  size_t closure_size;
  void **arguments;                   /* addresses of the parameters as passed */
  const size_t *sizes;
  int count;
  const bool *fixed;                  /* parameters declared const */
};
/* True where the kernel's entry shall begin again, with its parameters as they are now. */
bool launch(const Kernel &kernel);

template <class F> void run_thread(const void *closure) {
  F copy(*static_cast<const F *>(closure));
  copy();
}

template <class F, class... P>
inline bool kernel_entry(unsigned unit, const std::type_info &type, const F &closure, P &...arguments) {
  void *addresses[] = {(void *)&arguments..., nullptr};
  const size_t sizes[] = {sizeof(P)..., 0};
  const bool fixed[] = {std::is_const<P>::value..., true};
  return launch(Kernel{unit, type.name(), &run_thread<F>, &closure, sizeof(F), addresses, sizes, (int)sizeof...(P), fixed});
}

/* `__device__`, `__constant__` and `__managed__` variables announce themselves. */
template <auto *Variable> struct named {};
struct Variable {
  Variable(unsigned unit, const void *address, size_t size, const char *type_name, const char *kind);
};

/* Kernels that are no templates announce a way to call them by address. */
struct Entry {
  Entry(const void *function, void (*call)(void **arguments));
};
template <auto Function> struct by_address;
template <class... P, void (*Function)(P...)> struct by_address<Function> {
  static void call(void **arguments) { call_kernel(Function, arguments, std::index_sequence_for<P...>()); }
};

/* A `__shared__` variable: filled with a pattern when a block first reaches its declaration. */
struct Shared {
  unsigned long long block;
};
extern unsigned long long block_serial;
void enter_shared(Shared &state, void *address, size_t size);
#ifdef __TMIGRATE_CHECK__
__attribute__((no_sanitize("thread"), noinline))
#endif
inline void shared(Shared &state, void *address, size_t size) {
  if (__builtin_expect(state.block != block_serial, 0)) enter_shared(state, address, size);
}
/* One outside of functions: filled when a block begins. */
struct SharedOutside {
  SharedOutside(void *address, size_t size);
};
}  // namespace tm_oracle

extern "C" unsigned char tm_dynamic_shared[];
#endif
