/* Replay: at each launch, the original and its converted versions run from the same memory. */
#ifndef TM_REPLAY_H
#define TM_REPLAY_H
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tm_abi.h"
#include "runtime.h"

namespace tm_oracle {

/* Whether TMIGRATE_REPLAY names a manifest.  replay() then takes the place of emulate(launch, 0). */
bool replay_wanted();
void replay(const Launch &launch);

/* ---- manifest.cpp: the versions of each kernel ---- */
struct Object {
  std::string id, path;
  std::vector<std::string> variable_names;
  std::vector<void *> variables;
  void *handle = nullptr;
  std::string fault; /* why it cannot be used; empty: it can */
  bool loaded = false;
};
struct Version {
  Object *object = nullptr;
  std::string symbol;
};
struct ReplayEntry {
  std::string mangled;
  Version thread, shadow, lifted;
  size_t coverage_count = 0;
  std::vector<std::string> parameters; /* kinds of float scalars */
  std::vector<std::string> pointees;   /* element kinds of pointer parameters */
  bool integers = false;
  unsigned long launches = 0, compared = 0;
  std::vector<unsigned char> coverage;
  std::map<std::string, unsigned long> configurations;
  std::map<std::string, bool> skips;
  unsigned varied = 0;
  bool lift_compared = false;
};
ReplayEntry *find_entry(const std::string &mangled);
std::map<std::string, ReplayEntry> &entries();
/* The function of a version, loading its object at first use; null with *fault set where there is none. */
tm_kernel load(Version &version, std::string *fault);
void *load_symbol(Object &object, const char *name);

/* ---- snapshot.cpp: memory as bytes ---- */
struct Block {
  const Allocation *allocation;
  std::vector<unsigned char> bytes;
};
using Snapshot = std::vector<Block>;
Snapshot take_snapshot();
void restore(const Snapshot &snapshot);
size_t differing_bytes(const Snapshot &a, const Snapshot &b);

/* Bytes that are left out of a comparison, by allocation. */
using Mask = std::unordered_map<const Allocation *, std::vector<bool>>;
/* Marks the bytes of memory as it is now that differ from `expected`; the number of new ones. */
size_t mark_differences(const Snapshot &expected, Mask &mask);

/* ---- shadow_memory.cpp: floats as the shadow run sees them ---- */
struct ShadowCell {
  tm_shadow value;
  int bytes = 0;
};
struct ShadowMap {
  std::unordered_map<const void *, ShadowCell> stored;
  std::unordered_map<const void *, int> loaded; /* address -> bytes, of floats read before any store */
  std::vector<std::string> unstable;            /* JSON objects */
};
tm_shadow_memory shadow_services(ShadowMap &map);
double read_float(const void *address, int bytes);
double unit_in_last_place(double value, int bytes);

/* ---- compare.cpp ---- */
struct Comparison {
  bool equal = true;   /* all bytes */
  bool agrees = true;  /* all bytes, or floats within their allowance */
  const Allocation *allocation = nullptr;
  size_t offset = 0, bytes = 0, floats = 0, exact_bytes = 0;
  unsigned char expected[8] = {0}, actual[8] = {0};
  size_t width = 0;
  bool is_float = false;
  double expected_value = 0, actual_value = 0, allowance = 0, max_ulp = 0, max_ratio = 0;
};
/* Memory as it is now against `expected`; with a shadow, floats may differ within their allowance. */
Comparison compare(const Snapshot &expected, const Mask &mask, const ShadowMap *shadow);

}  // namespace tm_oracle
#endif
