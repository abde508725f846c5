/* From a launch in the host program to a checked Launch. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include <pthread.h>

#include "runtime.h"

namespace tm_oracle {

namespace {
struct Configuration {
  dim3 grid, block;
  size_t shared;
};
thread_local std::vector<Configuration> pending;

std::unordered_map<const void *, void (*)(void **)> &entries() {
  static std::unordered_map<const void *, void (*)(void **)> table;
  return table;
}

bool valid(const Configuration &c) {
  const uint64_t threads = (uint64_t)c.block.x * c.block.y * c.block.z;
  return threads >= 1 && threads <= 1024 && c.block.x <= 1024 && c.block.y <= 1024 && c.block.z <= 64 &&
         c.grid.x >= 1 && c.grid.x <= 2147483647u && c.grid.y >= 1 && c.grid.y <= 65535 && c.grid.z >= 1 &&
         c.grid.z <= 65535;
}
}  // namespace

/* The lock belongs to a thread by its number, which changes in a child process: there its only thread gets a new
 * lock, already held, since a fork in the middle of a launch goes on inside it. */
std::recursive_mutex &host_lock() {
  static auto *lock = new std::recursive_mutex;
  static const bool registered = pthread_atfork(nullptr, nullptr, [] {
                                   lock = new std::recursive_mutex;
                                   lock->lock();
                                 }) == 0;
  (void)registered;
  return *lock;
}

std::string name_in_unit(const std::string &mangled, unsigned unit) {
  const bool internal = mangled.rfind("_ZL", 0) == 0 || mangled.find("_GLOBAL__N_") != std::string::npos;
  return unit && internal ? mangled + "@" + std::to_string(unit) : mangled;
}

/* Z1kIfEvPT_iEUlvE_ -> _Z1kIfEvPT_i;  Z1kEUlvE_ (extern "C") -> k;  clang: Z1kPfE3$_0 -> _Z1kPf */
std::string kernel_name(const char *closure_name) {
  std::string name(closure_name + (closure_name[0] == '*'));
  size_t end = name.rfind("EUlvE_");
  if (end == std::string::npos && (end = name.rfind("$_")) != std::string::npos) {
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
    --end; /* the E before the length of `$_0` */
  }
  if (name[0] == 'Z' && end != std::string::npos) name = name.substr(1, end - 1);
  size_t digits = 0;
  while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9') ++digits;
  if (digits && name.size() - digits == std::strtoul(name.c_str(), nullptr, 10)) return name.substr(digits);
  return "_Z" + name;
}

void push_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t) {
  if (in_device()) {
    report("launch", "a kernel is launched from device code, which is not supported", here(__builtin_return_address(0)));
    end_launch(cudaErrorNotSupported);
  }
  pending.push_back({grid, block, shared});
}

bool launch(const Kernel &kernel) {
  if (pending.empty()) {
    std::fprintf(stderr, "tmigrate: kernel %s is called without a launch configuration\n",
                 kernel_name(kernel.closure_name).c_str());
    set_error(cudaErrorMissingConfiguration);
    return false;
  }
  const Configuration c = pending.back();
  pending.pop_back();
  std::lock_guard<std::recursive_mutex> guard(host_lock());
  if (!valid(c)) return set_error(cudaErrorInvalidConfiguration), false;
  if (c.shared > 227 * 1024) return set_error(cudaErrorInvalidValue), false;
  if (current_error() == cudaErrorAssert || current_error() == cudaErrorLaunchFailure ||
      current_error() == cudaErrorIllegalAddress)
    return false;
  Launch launch;
  launch.grid = c.grid;
  launch.block = c.block;
  launch.shared = c.shared;
  launch.kernel = &kernel;
  launch.name = name_in_unit(kernel_name(kernel.closure_name), kernel.unit);
  if (!dispatch(launch)) return false;
  pending.push_back(c);
  return true;
}

Entry::Entry(const void *function, void (*call)(void **)) { entries()[function] = call; }

cudaError_t launch_by_address(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                              cudaStream_t stream) {
  auto found = entries().find(function);
  if (found == entries().end()) {
    set_error(cudaErrorInvalidDeviceFunction);
    return cudaErrorInvalidDeviceFunction;
  }
  push_launch(grid, block, shared, stream);
  found->second(arguments);
  return cudaPeekAtLastError();
}

}  // namespace tm_oracle

extern "C" cudaError_t tm_cooperative_launch() {
  std::fprintf(stderr, "tmigrate: cooperative launches are not supported\n");
  tm_oracle::set_error(cudaErrorNotSupported);
  return cudaErrorNotSupported;
}
