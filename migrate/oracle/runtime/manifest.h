/* The manifest of converted kernels, and how one of their versions is called. */
#ifndef TM_MANIFEST_H
#define TM_MANIFEST_H
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime.h"
#include "tm_abi.h"

namespace tm_oracle {

struct Object {
  std::string path;
  std::vector<std::string> globals;
  bool opened = false;
  void *handle = nullptr;
  std::string fault;
  std::vector<void *> addresses;
};

struct Version {
  Object *object = nullptr;
  std::string symbol;
  tm_kernel function = nullptr;
  bool listed() const { return object != nullptr; }
  /* Opens the object and finds the symbol; what is missing, or empty. */
  std::string resolve();
};

struct Entry_of_kernel {
  std::string name;
  Version thread, shadow, lifted;
  size_t coverage_points = 0;
  std::vector<std::string> parameters, pointees; /* types of scalars and of pointers' elements, "-" for others */
  bool integers = false;
  bool any_block = false; /* blocks of other shapes may be tried */
  bool watched = false;   /* a watch sees each access outside of an array: launches may be tried that perhaps make one */
  bool exhaustive = false; /* all variations run, although all is covered: a branch may have been lost */
  std::vector<long long> constants; /* that the kernel compares integers with */
  std::vector<double> thresholds;   /* and floats */
  std::string noted;      /* '1' for coverage points that are not required */
  const void *original = nullptr; /* its body, which a static kernel of this name in another file does not share */
  /* what happened so far */
  unsigned launches = 0, compared = 0;
  std::map<std::string, unsigned> configurations;
  std::set<std::string> skipped;
  std::vector<unsigned char> coverage;
  unsigned varied = 0;
  bool lift_compared = false; /* in a launch that changes memory */
  double slow = INFINITY; /* what an original took whose shadow did not end in time */
};

struct Manifest {
  std::map<std::string, Object> objects;
  std::map<std::string, Entry_of_kernel> kernels; /* by name without_linkage */
  std::string fault;
};

/* Compilers disagree on the L of internal linkage in templates' names: `_ZL1kILi3EEvPi` is `_Z1kILi3EEvPi` to gcc. */
std::string without_linkage(const std::string &mangled);
/* The entry of the kernel that is launched; null where the manifest has none. */
Entry_of_kernel *find_kernel(Manifest &manifest, const Launch &launch);

/* Reads the manifest at `path`; faults are in .fault. */
Manifest read_manifest(const char *path);

/* What a call of a version printed and reported. */
struct Call {
  std::string printed;
  std::vector<std::string> reports; /* JSON objects */
  bool to_stdout = false;
  unsigned long long barriers = 0; /* that blocks passed, under TM_WATCH */
};
/* Calls a resolved version; its return value.  `modes`: bits of tm_launch.modes. */
int call_version(const Version &version, const Launch &launch, void *const *arguments, unsigned char *coverage,
                 Call &call, unsigned modes = 0);

}  // namespace tm_oracle
#endif
