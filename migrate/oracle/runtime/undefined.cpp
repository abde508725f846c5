/* C++ that is undefined and that a GPU defines otherwise, found while the original runs on the CPU.
 *
 * The original is compiled with -fsanitize=float-cast-overflow,shift-exponent; the compiler then calls these at
 * each conversion out of range and each shift by the width or more.  Such a launch does not count as compared: the
 * CPU's value means nothing, and PTX saturates. */
#include <cmath>
#include <cstring>

#include "runtime.h"

namespace {
struct SourceLocation {
  const char *file;
  unsigned line, column;
};
struct TypeDescriptor {
  unsigned short kind, info; /* kind 1: float, info: its bits */
  char name[1];
};
struct FloatCast {
  SourceLocation place;
  const TypeDescriptor *from, *to;
};

void found(const char *what, const void *site) {
  if (!tm_oracle::in_device()) return;
  tm_oracle::report("undefined", what, tm_oracle::here(site));
}
}  // namespace

extern "C" {
void __ubsan_handle_float_cast_overflow(void *data, unsigned long) {
  const auto *cast = (const FloatCast *)data;
  const std::string to = cast->to ? std::string(cast->to->name) : std::string("an integer");
  found(("a float is converted to " + to + ", which cannot hold it; a GPU gives the nearest value (NaN: 0)").c_str(),
        __builtin_return_address(0));
}
void __ubsan_handle_shift_out_of_bounds(void *, unsigned long, unsigned long) {
  found("a shift by at least the width; a GPU gives 0, or -1 for negative numbers", __builtin_return_address(0));
}
}
