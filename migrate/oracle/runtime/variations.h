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

/* A number among the parameters: a scalar, or a member of a struct. */
struct Leaf {
  size_t parameter = 0, offset = 0;
  std::string kind;
};

class Variations {
 public:
  /* `cheap`: other grids are tried even where nothing is left to find. */
  Variations(Entry_of_kernel &entry, const Launch &launch, const Snapshot &before, bool cheap);
  Entry_of_kernel &entry() const { return kernel; }
  const char *name() const { return list[at].name.c_str(); }
  bool is_thorough() const { return list[at].grid.x != 0; } /* other threads run, not the same on other data */
  bool is_doubtful() const { return list[at].doubtful; } /* the original may read outside of its arrays */
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
    bool doubtful = false;
  };
  void add_grids();
  void add_blocks();
  void add_block(const char *name, dim3 block);
  void add_data();
  void add_floats(const char *name, std::function<double(double)> change);
  void add_special_floats();
  std::vector<Array> arrays() const;
  void add_scalars(unsigned first, unsigned end);
  void add_scalar(const Leaf &leaf, unsigned choice);
  void add_constants();
  void add_combinations();
  void add_resampled();
  void add_negative_scalars();
  void add_leaves();
  std::vector<int64_t> choices(const Leaf &leaf) const;
  int64_t integer(const Leaf &leaf) const;
  void add_integer(const Leaf &leaf, int64_t value, bool doubtful);
  unsigned char *place_of(const Leaf &leaf) const { return (unsigned char *)addresses[leaf.parameter] + leaf.offset; }
  bool complete() const;
  bool is_due() const;

  Entry_of_kernel &kernel;
  const Launch &launch;
  const Snapshot &before;
  std::vector<void *> addresses; /* of the parameters */
  std::vector<std::vector<unsigned char>> scalars;
  std::vector<Leaf> leaves; /* the parameters that may change */
  std::vector<Variation> list;
  size_t at = (size_t)-1;
  bool hurried = false; /* the time for doubtful launches runs */
  size_t needed = 0; /* the first so many run even where everything is covered */
  size_t special = 0, doubtful = 0; /* from here on special floats, and from here on doubtful launches */
};

extern Variations *current_variations; /* in the child only */

/* Forks: true in the child, with the first variation applied; false in the parent, once the child has ended. */
bool begin_variations(Entry_of_kernel &entry, const Launch &launch, const Snapshot &before, double seconds,
                      bool cheap);

}  // namespace tm_oracle
#endif
