/* What the parts of the runtime share. */
#ifndef TM_RUNTIME_H
#define TM_RUNTIME_H
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_runtime.h"

namespace tm_oracle {

/* One launch as the host asked for it. */
struct Launch {
  dim3 grid, block;
  size_t shared = 0;
  const Kernel *kernel = nullptr;
  std::string name; /* mangled; see name_in_unit */
};

/* Each source file of a program has its own static kernels and variables: `_ZL1kv` of the third is `_ZL1kv@2`. */
std::string name_in_unit(const std::string &mangled, unsigned unit);

/* The mangled name of the kernel whose body has the closure type `closure_name`. */
std::string kernel_name(const char *closure_name);

/* Runs a checked launch: the emulator, replay or a regenerated kernel.  True where the kernel shall be entered
 * again with the arguments as they are now (a variation, see variations.h). */
bool dispatch(const Launch &launch);
void set_error(cudaError_t error);        /* as a failed call: until cudaGetLastError */
void set_sticky_error(cudaError_t error); /* as a failed kernel: for good */
cudaError_t current_error();
std::recursive_mutex &host_lock();

/* Memory that kernels may see. */
enum Kind { DEVICE, MANAGED, PINNED, REGISTERED, VARIABLE };
const char *kind_name(Kind kind);
struct Allocation {
  unsigned char *base;
  size_t size;
  Kind kind;
  unsigned number;
  std::string name; /* of a variable */
  unsigned char *mapping = nullptr;
  size_t mapped = 0;
  void *shadow = nullptr; /* the checker's */
};
/* In order of address. */
std::vector<Allocation *> &allocations();
Allocation *find_allocation(const void *pointer);
Allocation *find_variable(const std::string &mangled);
/* More than one where several files of the program have a static variable of this name. */
unsigned variables_called(const std::string &mangled);
/* The allocation, live or freed, whose guarded mapping holds the address; *freed tells which. */
const Allocation *find_mapping(const void *pointer, bool *freed);
/* Bytes beyond an allocation's end, up to the next page, hold a pattern.  True where it was overwritten: *offset is
 * the first such byte's, and the pattern is there again. */
bool mend_padding(const Allocation &allocation, long *offset);
/* Reports what was overwritten as a violation of the original. */
void check_padding(const Allocation &allocation, const char *when);
void check_all_padding(const char *when);

/* Violations of the original. */
struct Place {
  const void *site = nullptr;
  uint3 block{0, 0, 0}, thread{0, 0, 0};
  int line = 0; /* where the site alone does not tell, as of calls that the compiler has merged */
};
void report(const char *kind, const std::string &message, const Place &place, const Place *other = nullptr);
unsigned report_count();
std::string json_text(const std::string &text);
void report_file_open();

/* The emulator. */
bool in_device();
Place here(const void *site);
const std::string &running_kernel();
/* Runs every thread of the launch under schedule `seed`; false where it ended early. */
bool emulate(const Launch &launch, unsigned seed);
/* How often a block passed a barrier so far. */
extern unsigned long long barriers_passed;
[[noreturn]] void end_launch(cudaError_t error);
/* While set, device printf goes here instead of stdout. */
extern std::string *captured_output;

/* Calls `body`, catching signals such as SIGSEGV; 0, or the signal's number with *address set. */
int guarded(void (*body)(void *), void *data, void **address);
void install_signal_handlers();

/* The checker's hooks; without check mode they do nothing. */
namespace checker {
void launch_begins(const Launch &launch);
void block_begins();
void barrier();
void warp_sync(uint32_t lanes, unsigned warp);
void fence();
void allocated(Allocation &allocation, bool initialised);
void freed(Allocation &allocation);
void host_wrote(const void *pointer, size_t size);
void shared_entered(void *address, size_t size);
}  // namespace checker

/* The running thread, for the checker: linear index in its block, and its block's number in the launch. */
extern unsigned current_thread;
extern unsigned current_block;
unsigned threads_per_block();
dim3 block_of(unsigned number);
uint3 thread_of(unsigned linear);
bool on_thread_stack(const void *pointer);

}  // namespace tm_oracle
#endif
