/* Launches that the program might have made: other grids, other data, other scalars.
 *
 * They run in a child process, from the memory before a launch, so that nothing of them reaches the program.
 * The child enters the kernel's function again for each (oracle.h, kernel_entry), since scalar parameters live
 * there.  A variation in which the original breaks a rule does not count as compared. */
#ifndef TM_VARIATIONS_H
#define TM_VARIATIONS_H
#include <functional>

#include "compare.h"

namespace tm_oracle {

/* The elements that a pointer parameter points to, up to the end of its allocation. */
struct Array {
  unsigned char *start = nullptr;
  size_t count = 0, width = 0;
  std::string kind;
};

class Variations {
 public:
  /* `cheap`: other grids are tried even where nothing is left to find. */
  Variations(Entry_of_kernel &entry, const Launch &launch, const Snapshot &before, bool cheap);
  Entry_of_kernel &entry() const { return kernel; }
  const char *name() const { return list[at].name.c_str(); }
  bool is_thorough() const { return list[at].grid.x != 0; } /* other threads run, not the same on other data */
  bool is_negative() const { return list[at].negative; } /* a scalar that the program keeps at 0 or above is below */
  dim3 grid(const Launch &launch) const { return list[at].grid.x ? list[at].grid : launch.grid; }
  dim3 block(const Launch &launch) const { return list[at].block.x ? list[at].block : launch.block; }
  /* Puts memory and scalars back and applies the next variation; false where none is left. */
  bool next();

 private:
  struct Variation {
    std::string name;
    dim3 grid{0, 0, 0}; /* x = 0: as launched */
    std::function<void()> apply;
    dim3 block{0, 0, 0};
    bool negative = false;
  };
  void add_grids();
  void add_blocks();
  void add_block(const char *name, dim3 block);
  void add_data();
  void add_floats(const char *name, std::function<double(double)> change);
  void add_integers(const char *name, const std::vector<Array> &arrays, std::function<int64_t(int64_t)> change);
  void add_special_floats();
  std::vector<Array> arrays() const;
  void add_scalars(unsigned first, unsigned end);
  void add_scalar(size_t parameter, unsigned choice);
  void add_negative_scalars();
  int64_t integer(size_t parameter) const;
  void add_integer(size_t parameter, int64_t value, bool negative);
  bool complete() const;
  bool is_due() const;

  Entry_of_kernel &kernel;
  const Launch &launch;
  const Snapshot &before;
  std::vector<void *> addresses; /* of the parameters */
  std::vector<std::vector<unsigned char>> scalars;
  std::vector<Variation> list;
  size_t at = (size_t)-1;
  size_t needed = 0; /* the first so many run even where everything is covered */
  size_t special = 0, negative = 0; /* from here on special floats, and from here on negative scalars */
};

extern Variations *current_variations; /* in the child only */

/* Forks: true in the child, with the first variation applied; false in the parent, once the child has ended. */
bool begin_variations(Entry_of_kernel &entry, const Launch &launch, const Snapshot &before, double seconds,
                      bool cheap);

}  // namespace tm_oracle
#endif
