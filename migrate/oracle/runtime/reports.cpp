/* Violations of the original, written one JSON object a line; and signals turned into them. */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include <unistd.h>

#include "runtime.h"

extern "C" const char __ehdr_start __attribute__((visibility("hidden")));

namespace tm_oracle {

namespace {
constexpr size_t most_reports = 200;
using Key = std::tuple<std::string, const void *, const void *>;

struct Reports {
  FILE *file = nullptr;
  std::map<Key, std::pair<unsigned, unsigned>> seen; /* index, count */
  unsigned total = 0;
};
Reports &reports() {
  static Reports *all = new Reports;
  return *all;
}

std::string triple(uint3 v) {
  return "[" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + "]";
}

/* Sites are offsets from the executable's start; Python turns them into lines. */
std::string place_text(const Place &place) {
  const long offset = place.site ? (const char *)place.site - &__ehdr_start - 1 : -1;
  const std::string line = place.line ? ", \"line\": " + std::to_string(place.line) : "";
  return "\"site\": " + std::to_string(offset) + line + ", \"block\": " + triple(place.block) + ", \"thread\": " +
         triple(place.thread);
}

void write_repeats() {
  Reports &all = reports();
  if (!all.file) return;
  for (auto &entry : all.seen)
    if (entry.second.second > 1)
      std::fprintf(all.file, "{\"repeat\": %u, \"count\": %u}\n", entry.second.first, entry.second.second);
  std::fflush(all.file);
}
}  // namespace

void report_file_open() {
  Reports &all = reports();
  const char *path = std::getenv("TMIGRATE_REPORTS");
  if (all.file || !path) return;
  all.file = std::fopen(path, "a");
  if (all.file) std::fprintf(all.file, "{\"image\": %lu}\n", (unsigned long)&__ehdr_start);
  std::atexit(write_repeats);
}

std::string json_text(const std::string &text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    char buffer[8];
    if (c == '"' || c == '\\') result += '\\', result += (char)c;
    else if (c < 32 || c > 126) std::snprintf(buffer, sizeof buffer, "\\u%04x", c), result += buffer;
    else result += (char)c;
  }
  return result + "\"";
}

unsigned report_count() { return reports().total; }

void report(const char *kind, const std::string &message, const Place &place, const Place *other) {
  report_file_open();
  Reports &all = reports();
  ++all.total;
  auto &entry = all.seen[Key(kind, place.site, other ? other->site : nullptr)];
  if (++entry.second > 1 || all.seen.size() > most_reports) return;
  entry.first = (unsigned)all.seen.size();
  if (!all.file) {
    std::fprintf(stderr, "tmigrate: %s: %s (kernel %s, block %s, thread %s)\n", kind, message.c_str(),
                 running_kernel().c_str(), triple(place.block).c_str(), triple(place.thread).c_str());
    return;
  }
  std::string line = "{\"index\": " + std::to_string(entry.first) + ", \"kind\": \"" + kind +
                     "\", \"message\": " + json_text(message) + ", \"kernel\": " + json_text(running_kernel()) + ", " +
                     place_text(place);
  if (other) line += ", \"other\": {" + place_text(*other) + "}";
  std::fprintf(all.file, "%s}\n", line.c_str());
  std::fflush(all.file);
}

/* Signals */

namespace {
sigjmp_buf *recovery = nullptr;
void *fault_address = nullptr;
constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGVTALRM};

std::string describe_fault(int signal, void *address) {
  if (signal == SIGFPE) return "integer division by zero";
  if (signal == SIGILL) return "illegal instruction";
  bool freed = false;
  const Allocation *found = find_mapping(address, &freed);
  if (found) {
    const long offset = (unsigned char *)address - found->base;
    return (freed ? std::string("access to freed memory: offset ") : std::string("access out of bounds: offset ")) +
           std::to_string(offset) + " of an allocation of " + std::to_string(found->size) + " bytes";
  }
  if (on_thread_stack(address)) return "the thread's stack is full";
  char text[64];
  std::snprintf(text, sizeof text, "access to invalid address %p", address);
  return text;
}

const void *program_counter(void *context) {
#if defined(__x86_64__) && defined(__linux__)
  return (const void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__) && defined(__linux__)
  return (const void *)((ucontext_t *)context)->uc_mcontext.pc;
#else
  (void)context;
  return nullptr;
#endif
}

void on_signal(int signal, siginfo_t *info, void *context) {
  if (recovery) {
    fault_address = info->si_addr;
    siglongjmp(*recovery, signal);
  }
  if (signal == SIGVTALRM) return; /* the guarded call has ended meanwhile */
  if (in_device()) {
    report(signal == SIGSEGV || signal == SIGBUS ? "bounds" : "trap", describe_fault(signal, info->si_addr),
           here((const char *)program_counter(context) + 1));
    end_launch(cudaErrorIllegalAddress);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}
}  // namespace

void install_signal_handlers() {
  static bool done = false;
  if (done) return;
  done = true;
  constexpr size_t size = 1 << 16;
  stack_t stack = {};
  stack.ss_sp = std::malloc(size);
  stack.ss_size = size;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : signals) sigaction(signal, &action, nullptr);
}

int guarded(void (*body)(void *), void *data, void **address) {
  install_signal_handlers();
  sigjmp_buf point, *outer = recovery;
  const int signal = sigsetjmp(point, 1);
  if (signal == 0) {
    recovery = &point;
    body(data);
  } else {
    *address = fault_address;
  }
  recovery = outer;
  return signal;
}

}  // namespace tm_oracle
