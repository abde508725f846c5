/* printf and assert, which device code shares with the host: these stand before libc's. */
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace tm_oracle {
std::string *captured_output = nullptr;
}

using namespace tm_oracle;

namespace {
int print(const char *format, va_list values) {
  if (!in_device() || !captured_output) return std::vfprintf(stdout, format, values);
  va_list again;
  va_copy(again, values);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size <= 0) return size;
  std::string text((size_t)size + 1, '\0');
  std::vsnprintf(&text[0], text.size(), format, values);
  text.resize((size_t)size);
  *captured_output += text;
  return size;
}
}  // namespace

extern "C" {
int printf(const char *format, ...) {
  va_list values;
  va_start(values, format);
  const int size = print(format, values);
  va_end(values);
  return size;
}

void __assert_fail(const char *text, const char *file, unsigned line, const char *function) noexcept {
  if (in_device()) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                 function, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, text);
    report("assert", std::string("assertion failed: ") + text, here(__builtin_return_address(0)));
    end_launch(cudaErrorAssert);
  }
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, text);
  std::abort();
}
}
