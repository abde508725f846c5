/* Run mode: every launch goes to a regenerated kernel; nothing of the emulator is linked. */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "manifest.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
extern "C" unsigned char tm_dynamic_shared[1];
unsigned char tm_dynamic_shared[1];

namespace tm_oracle {

unsigned long long block_serial = 0;

namespace {
struct Counts {
  unsigned lifted = 0, thread = 0, missing = 0;
};
std::map<std::string, Counts> counts;
std::string running_name;

Manifest &manifest() {
  static Manifest *loaded = [] {
    const char *path = std::getenv("TMIGRATE_RUN");
    auto *made = new Manifest(path ? read_manifest(path) : Manifest());
    if (!path) made->fault = "TMIGRATE_RUN is not set";
    if (!made->fault.empty()) std::fprintf(stderr, "tmigrate: manifest: %s\n", made->fault.c_str());
    return made;
  }();
  return *loaded;
}

void write_counts() {
  const char *path = std::getenv("TMIGRATE_RUN_COUNTS");
  FILE *file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return;
  std::fprintf(file, "{\"kernels\": {");
  const char *separator = "";
  for (auto &entry : counts) {
    std::fprintf(file, "%s%s: {\"lifted\": %u, \"thread\": %u, \"missing\": %u}", separator,
                 json_text(entry.first).c_str(), entry.second.lifted, entry.second.thread, entry.second.missing);
    separator = ", ";
  }
  std::fprintf(file, "}}\n");
  std::fclose(file);
}

bool only_thread() {
  const char *only = std::getenv("TMIGRATE_RUN_ONLY");
  return only && std::strcmp(only, "thread") == 0;
}

/* The program must not go on without a kernel: not all look at errors. */
[[noreturn]] void missing(const std::string &name, const std::string &reason) {
  ++counts[name].missing;
  std::fprintf(stderr, "tmigrate: kernel %s is not run: %s\n", name.c_str(), reason.c_str());
  std::fflush(nullptr);
  write_counts();
  _exit(2);
}
}  // namespace

bool dispatch(const Launch &launch) {
  static const bool registered = std::atexit(write_counts) == 0;
  (void)registered;
  Manifest &m = manifest();
  Entry_of_kernel *found = find_kernel(m, launch);
  if (!found) missing(launch.name, "the manifest does not list it");
  Entry_of_kernel &entry = *found;
  Call call;
  call.to_stdout = true;
  int result = TM_ASSUMPTION_FAILED;
  if (entry.lifted.listed() && !only_thread()) {
    const std::string fault = entry.lifted.resolve();
    if (!fault.empty()) missing(launch.name, fault);
    result = call_version(entry.lifted, launch, launch.kernel->arguments, nullptr, call);
    if (result != TM_ASSUMPTION_FAILED) ++counts[launch.name].lifted;
  }
  if (result == TM_ASSUMPTION_FAILED) {
    const std::string fault = entry.thread.resolve();
    if (!fault.empty()) missing(launch.name, fault);
    result = call_version(entry.thread, launch, launch.kernel->arguments, nullptr, call);
    ++counts[launch.name].thread;
  }
  if (result == TM_TRAPPED) set_sticky_error(cudaErrorAssert);
  return false;
}

/* Device functions may stay in the program although no kernel calls them; called on the host they end it. */
bool in_device() { return false; }
const std::string &running_kernel() { return running_name; }
Place here(const void *site) {
  Place place;
  place.site = site;
  return place;
}
void end_launch(cudaError_t) { std::abort(); }
bool on_thread_stack(const void *) { return false; }
void enter_shared(Shared &, void *, size_t) {}
SharedOutside::SharedOutside(void *, size_t) {}

}  // namespace tm_oracle

namespace {
[[noreturn]] void no_device(const char *name) {
  std::fprintf(stderr, "tmigrate: %s was called on the host: device functions do not run here\n", name);
  std::abort();
}
}  // namespace

extern "C" {
void __syncthreads(int) { no_device("__syncthreads"); }
int __syncthreads_count(int, int) { no_device("__syncthreads_count"); }
int __syncthreads_and(int, int) { no_device("__syncthreads_and"); }
int __syncthreads_or(int, int) { no_device("__syncthreads_or"); }
void __syncwarp(unsigned) { no_device("__syncwarp"); }
unsigned __activemask(void) { no_device("__activemask"); }
long long clock64(void) { no_device("clock64"); }
void __nanosleep(unsigned) {}
void __trap(void) { no_device("__trap"); }
void __brkpt(void) {}
void tm_contended(const void *, const void *) {}
void tm_fence(void) {}
void tm_shuffle(unsigned, int, unsigned, int, const void *, void *, size_t, const void *) { no_device("a shuffle"); }
unsigned tm_vote(unsigned, int, int, const void *) { no_device("a vote"); }
unsigned tm_match(unsigned, int, const void *, size_t, int *, const void *) { no_device("a match"); }
unsigned tm_reduce(unsigned, int, unsigned, const void *) { no_device("a warp reduction"); }
}
