/* Snapshots of everything that kernels may see, and their comparison. */
#ifndef TM_COMPARE_H
#define TM_COMPARE_H
#include <memory>

#include "manifest.h"

namespace tm_oracle {

/* The bytes of every allocation at one moment. */
class Snapshot {
 public:
  static Snapshot take();
  /* Writes the bytes back, where they differ (constant variables may be read-only). */
  void restore() const;
  size_t count() const { return parts.size(); }
  const Allocation &allocation(size_t i) const { return *parts[i].allocation; }
  const unsigned char *bytes(size_t i) const { return parts[i].bytes.get(); }
  /* The byte that stood at `address`; null where no allocation was. */
  const unsigned char *at(const void *address) const;

 private:
  struct Part {
    Allocation *allocation;
    std::unique_ptr<unsigned char[]> bytes;
  };
  std::vector<Part> parts;
};

/* Bytes to leave out, per allocation of a snapshot; empty where none. */
struct Mask {
  std::vector<std::vector<bool>> bytes;
  size_t count = 0;
  bool has(size_t part, size_t offset) const {
    return part < bytes.size() && !bytes[part].empty() && bytes[part][offset];
  }
  /* Adds every byte in which memory now differs from `expected`. */
  void add_differences(const Snapshot &expected);
};

/* The first byte outside the mask that differs from memory now, and how many do. */
struct Mismatch {
  size_t part = 0, offset = 0, bytes = 0;
  bool found() const { return bytes != 0; }
};
/* Where parameters say that memory holds floats.  Which NaN an operation gives (its sign and payload) depends on the
 * order of its operands in the machine code and is nobody's promise: there, any NaN equals any other. */
class FloatArrays {
 public:
  FloatArrays(const Entry_of_kernel &entry, const Launch &launch);
  bool both_nan(const Snapshot &expected, size_t part, size_t offset) const;

 private:
  struct Array {
    const unsigned char *start, *end;
    size_t width;
  };
  std::vector<Array> arrays;
};
Mismatch compare_exactly(const Snapshot &expected, const Mask &mask, const FloatArrays &floats);
std::string mismatch_text(const Snapshot &expected, const Mismatch &mismatch, const std::string &extra = "");
size_t count_changes(const Snapshot &before);

/* Lines that two runs printed: `equal`, `reordered` or `differs`. */
const char *compare_printed(const std::string &expected, const std::string &actual);

/* The shadows that a shadow run stored, and the floats that it loaded from memory. */
class ShadowMemory {
 public:
  ShadowMemory();
  ~ShadowMemory();
  void attach(Object &object); /* calls its tm_set_shadow_memory */
  /* Result of step (b) against memory now, as JSON; `expected` is the original's result. */
  std::string judge(const Snapshot &expected, const Mask &mask, bool *agrees) const;
  /* Replaces the floats that the kernel read by small integers; false where their format is unknown. */
  bool write_integers() const;
  bool has(const void *address) const;
  struct State;

 private:
  std::unique_ptr<State> state;
};

float small_integer(size_t number);

}  // namespace tm_oracle
#endif
