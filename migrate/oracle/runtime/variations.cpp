#include "variations.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sstream>

namespace tm_oracle {

Variations *current_variations = nullptr;

namespace {
constexpr uint64_t most_blocks = 200000;
constexpr unsigned most_seconds = 20;
constexpr unsigned doubtful_seconds = 6; /* for all variations in which the original may read outside of its arrays */
constexpr size_t most_leaves = 48;
constexpr double spare_seconds = 0.5; /* of the processor, for more data and scalars where all is covered already */

uint64_t random_state = 0x853c49e6748fea9bull;
uint64_t draw() {
  random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
  return random_state;
}
double uniform() { return (double)(draw() >> 11) / 9007199254740992.0; }

size_t width_of(const std::string &kind) {
  const size_t bits = std::strtoul(kind.c_str() + (kind[0] == 'b' && kind[1] == 'f' ? 2 : 1), nullptr, 10);
  return std::max<size_t>(1, bits / 8);
}

bool is_float(const std::string &kind) { return kind == "f32" || kind == "f64"; }
bool is_integer(const std::string &kind) { return kind.size() > 1 && (kind[0] == 'i' || kind[0] == 'u'); }

Array array_of(const void *parameter, const std::string &kind) {
  Array found;
  void *pointer;
  std::memcpy(&pointer, parameter, sizeof pointer);
  const Allocation *allocation = find_allocation(pointer);
  if (!allocation || kind == "-") return found;
  found.kind = kind;
  found.width = width_of(kind);
  found.start = (unsigned char *)pointer;
  found.count = (size_t)(allocation->base + allocation->size - found.start) / found.width;
  return found;
}

void put(unsigned char *at, const std::string &kind, double value) {
  const float narrow = (float)value;
  if (kind == "f64") std::memcpy(at, &value, 8);
  else std::memcpy(at, &narrow, 4);
}

double get(const unsigned char *at, const std::string &kind) {
  double wide;
  float narrow;
  if (kind == "f64") return std::memcpy(&wide, at, 8), wide;
  return std::memcpy(&narrow, at, 4), narrow;
}

void each_float(const Array &a, const std::function<double(double)> &change) {
  if (!is_float(a.kind)) return;
  for (size_t i = 0; i < a.count; ++i) put(a.start + i * a.width, a.kind, change(get(a.start + i * a.width, a.kind)));
}

double special_float(double value) {
  switch (draw() % 12) {
    case 0: return NAN;
    case 1: return INFINITY;
    case 2: return -INFINITY;
    case 3: return 0.0;
    case 4: return -0.0;
    case 5: return 1e-42;
    case 6: return 3e38;
    default: return value;
  }
}

void each_integer(const Array &a, const std::function<int64_t(int64_t)> &change) {
  if (!is_integer(a.kind)) return;
  for (size_t i = 0; i < a.count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, a.start + i * a.width, a.width);
    const unsigned unused = 64 - 8 * (unsigned)a.width;
    const bool whole = a.kind[0] == 'i' || a.width < 8 || bits >> 63 == 0; /* as int64_t, a large u64 is negative */
    const int64_t value = a.kind[0] == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)(whole ? bits : bits / 2);
    const int64_t other = change(value);
    std::memcpy(a.start + i * a.width, &other, a.width);
  }
}

/* Values that index memory stay valid: elements change places only. */
void shuffle(const Array &a) {
  if (!is_integer(a.kind) || a.count < 2) return;
  unsigned char kept[8];
  for (size_t i = a.count - 1; i > 0; --i) {
    const size_t k = draw() % (i + 1);
    std::memcpy(kept, a.start + i * a.width, a.width);
    std::memcpy(a.start + i * a.width, a.start + k * a.width, a.width);
    std::memcpy(a.start + k * a.width, kept, a.width);
  }
}

/* One more block along every axis in use, so that guards see both sides. */
dim3 ragged_grid(const Launch &l) {
  auto more = [](unsigned grid, unsigned block, bool always) {
    return grid > 1 || block > 1 || always ? grid + 1 : grid;
  };
  return dim3(more(l.grid.x, l.block.x, true), more(l.grid.y, l.block.y, false), more(l.grid.z, l.block.z, false));
}

/* Every axis in use covers more than the longest one: for grids that were sized for a square, or rounded down. */
dim3 covering_grid(const Launch &l) {
  const dim3 more = ragged_grid(l);
  const unsigned longest = std::max({more.x * l.block.x, more.y * l.block.y, more.z * l.block.z});
  auto cover = [&](unsigned grid, unsigned block) {
    return grid > 1 || block > 1 ? std::max(grid, (longest + block - 1) / block) : grid;
  };
  return dim3(cover(l.grid.x, l.block.x), cover(l.grid.y, l.block.y), cover(l.grid.z, l.block.z));
}

/* Half of every axis, and twice what no axis uses: what a lift assumes of a launch does not hold there, and it must
 * say so. */
dim3 smaller_grid(const Launch &l) {
  return dim3(std::max(1u, l.grid.x / 2), std::max(1u, l.grid.y / 2), std::max(1u, l.grid.z / 2));
}
dim3 deeper_grid(const Launch &l) {
  auto deeper = [](unsigned grid, unsigned block) { return grid == 1 && block == 1 ? 2 : grid; };
  return dim3(l.grid.x, deeper(l.grid.y, l.block.y), deeper(l.grid.z, l.block.z));
}

/* As many blocks of another shape as cover what the launch covers. */
dim3 grid_for(const Launch &l, const dim3 &block) {
  auto cover = [](unsigned grid, unsigned before, unsigned now) { return (grid * before + now - 1) / now; };
  return dim3(cover(l.grid.x, l.block.x, block.x), cover(l.grid.y, l.block.y, block.y), cover(l.grid.z, l.block.z, block.z));
}

bool same(const dim3 &a, const dim3 &b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
}  // namespace

Variations::Variations(Entry_of_kernel &entry, const Launch &l, const Snapshot &start, bool cheap)
    : kernel(entry), launch(l), before(start) {
  const Kernel &k = *l.kernel;
  addresses.assign(k.arguments, k.arguments + k.count);
  for (int i = 0; i < k.count; ++i) {
    const auto *bytes = (const unsigned char *)k.arguments[i];
    scalars.emplace_back(bytes, bytes + k.sizes[i]);
  }
  add_leaves();
  const bool slow = entry.slow < INFINITY; /* a smaller launch is due first */
  if (slow) add_scalars(0, 1);
  add_grids();
  if (kernel.any_block) add_blocks();
  if (cheap) needed = list.size();
  add_data();
  add_scalars(slow ? 1 : 0, 7);
  special = list.size();
  add_special_floats();
  doubtful = list.size();
  if (!kernel.watched) return;
  add_resampled();
  add_combinations();
  add_constants();
  add_negative_scalars();
}

void Variations::add_grids() {
  const std::pair<const char *, dim3> grids[] = {{"ragged grid", ragged_grid(launch)},
                                                 {"covering grid", covering_grid(launch)},
                                                 {"smaller grid", smaller_grid(launch)},
                                                 {"deeper grid", deeper_grid(launch)}};
  for (const auto &choice : grids) {
    const uint64_t blocks = (uint64_t)choice.second.x * choice.second.y * choice.second.z;
    if (same(choice.second, launch.grid) || blocks > most_blocks) continue;
    list.push_back({choice.first, choice.second, [] {}});
  }
}

/* Kernels whose threads do not work together as a block may run in blocks of another shape: square ones alone would
 * not tell blockDim.x from blockDim.y, nor a grid as long as its blocks one from the other. */
void Variations::add_blocks() {
  const dim3 b = launch.block;
  add_block("smaller block", dim3((b.x + 1) / 2, b.y, b.z));
  if (b.y % 2 == 0) add_block("wider block", dim3(b.x * 2, b.y / 2, b.z));
  else add_block("taller block", dim3((b.x + 1) / 2, b.y * 2, b.z));
}

void Variations::add_block(const char *name, dim3 block) {
  const dim3 grid = grid_for(launch, block);
  const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z, threads = (uint64_t)block.x * block.y * block.z;
  if (same(block, launch.block) || threads > 1024 || blocks > most_blocks) return;
  list.push_back({name, grid, [] {}, block});
}

std::vector<Array> Variations::arrays() const {
  std::vector<Array> found;
  for (size_t i = 0; i < addresses.size() && i < kernel.pointees.size(); ++i)
    found.push_back(array_of(addresses[i], kernel.pointees[i]));
  return found;
}

void Variations::add_floats(const char *name, std::function<double(double)> change) {
  const std::vector<Array> found = arrays();
  if (std::none_of(found.begin(), found.end(), [](const Array &a) { return is_float(a.kind); })) return;
  std::vector<Array> scalars; /* each an array of one: a * x rounds only where both have many digits */
  for (size_t i = 0; i < addresses.size() && i < kernel.parameters.size(); ++i)
    if (is_float(kernel.parameters[i]) && !launch.kernel->fixed[i])
      scalars.push_back({(unsigned char *)addresses[i], 1, width_of(kernel.parameters[i]), kernel.parameters[i]});
  list.push_back({name, dim3(0, 0, 0), [found, scalars, change] {
                    for (const Array &a : found) each_float(a, change);
                    for (const Array &s : scalars) each_float(s, change);
                  }});
}

/* Only while something is left to find: where two different NaNs meet, which one comes out is the compiler's choice. */
void Variations::add_special_floats() { add_floats("special floats", special_float); }

void Variations::add_data() {
  add_floats("random floats", [](double) { return 4 * uniform() - 2; });
  add_floats("negated floats", [](double x) { return -x; });
  add_floats("zero floats", [](double) { return 0.0; });
  const std::vector<Array> arrays = this->arrays();
  if (std::any_of(arrays.begin(), arrays.end(), [](const Array &a) { return is_integer(a.kind); }))
    list.push_back({"shuffled integers", dim3(0, 0, 0), [arrays] {
                      for (const Array &a : arrays) shuffle(a);
                    }});
}

/* `0:i32 4:f32` are the numbers in a struct. */
void Variations::add_leaves() {
  for (size_t i = 0; i < addresses.size() && i < kernel.parameters.size(); ++i) {
    if (launch.kernel->fixed[i]) continue;
    const std::string &kind = kernel.parameters[i];
    std::istringstream members(kind);
    for (std::string member; members >> member && leaves.size() < most_leaves;) {
      const size_t colon = member.find(':');
      if (colon == std::string::npos) leaves.push_back({i, 0, kind});
      else leaves.push_back({i, std::strtoul(member.c_str(), nullptr, 10), member.substr(colon + 1)});
    }
  }
}

/* Every scalar takes its first other value, the half, before any takes its second. */
void Variations::add_scalars(unsigned first, unsigned end) {
  for (unsigned choice = first; choice < end; ++choice)
    for (const Leaf &leaf : leaves)
      if (kernel.parameters[leaf.parameter] == leaf.kind || choice < 2) add_scalar(leaf, choice);
}

static std::string name_of(const Leaf &leaf) {
  return "parameter " + std::to_string(leaf.parameter) + (leaf.offset ? "+" + std::to_string(leaf.offset) : "") + " = ";
}

void Variations::add_scalar(const Leaf &leaf, unsigned choice) {
  unsigned char *place = place_of(leaf);
  const std::string &kind = leaf.kind, name = name_of(leaf);
  if (is_integer(kind)) {
    const int64_t value = integer(leaf), others[] = {value / 2, value - 1, 1, 0, 2, value + 1, 3};
    if (others[choice] >= 0) add_integer(leaf, others[choice], false);
  } else if (kind == "b1" && choice == 0) {
    const unsigned char other = !*place;
    list.push_back({name + (other ? "true" : "false"), dim3(0, 0, 0), [place, other] { *place = other; }});
  } else if (is_float(kind)) {
    const double value = get(place, kind), others[] = {1.1234567 * value + 0.3456789, -value, 0.0};
    if (choice >= 3) return;
    const double other = others[choice];
    list.push_back({name + std::to_string(other), dim3(0, 0, 0), [place, kind, other] { put(place, kind, other); }});
  }
}

int64_t Variations::integer(const Leaf &leaf) const {
  const size_t width = width_of(leaf.kind);
  int64_t value = 0;
  std::memcpy(&value, scalars[leaf.parameter].data() + leaf.offset, width);
  if (leaf.kind[0] == 'i' && width < 8) value = (int64_t)((uint64_t)value << (64 - 8 * width)) >> (64 - 8 * width);
  return value;
}

void Variations::add_integer(const Leaf &leaf, int64_t other, bool doubtful) {
  if (other == integer(leaf)) return;
  unsigned char *place = place_of(leaf);
  const size_t width = width_of(leaf.kind);
  list.push_back({name_of(leaf) + std::to_string(other), dim3(0, 0, 0),
                  [place, width, other] { std::memcpy(place, &other, width); }, dim3(0, 0, 0), doubtful});
}

/* `if (mode == 77)`: what the kernel compares with. */
void Variations::add_constants() {
  for (long long constant : kernel.constants)
    for (const Leaf &leaf : leaves)
      if (is_integer(leaf.kind)) add_integer(leaf, constant, true);
  const std::vector<double> thresholds = kernel.thresholds;
  if (thresholds.empty()) return;
  add_floats("floats around constants", [thresholds](double x) {
    const double near = thresholds[draw() % thresholds.size()], sign = draw() % 4 ? 1 : -1;
    switch (draw() % 6) {
      case 0: return sign * near;
      case 1: return sign * (near + uniform());
      case 2: return sign * near * uniform();
      case 3: return sign * near * (1 + 2 * uniform());
      case 4: return sign * (near - uniform());
      default: return x;
    }
  });
  list.back().doubtful = true;
}

/* What an integer or a flag may be besides what it is. */
std::vector<int64_t> Variations::choices(const Leaf &leaf) const {
  if (leaf.kind == "b1") return {0, 1};
  if (!is_integer(leaf.kind)) return {};
  const int64_t value = integer(leaf);
  std::vector<int64_t> found = {value / 2, value - 1, value + 1, 0, 1, 2, 3};
  found.insert(found.end(), kernel.constants.begin(), kernel.constants.end());
  found.erase(std::remove_if(found.begin(), found.end(), [](int64_t v) { return v < 0; }), found.end());
  return found;
}

/* Several numbers at once: `if (last && count == 1)`. */
void Variations::add_combinations() {
  for (unsigned round = 0; round < 96; ++round) {
    std::string name;
    std::vector<std::pair<Leaf, int64_t>> changes;
    for (const Leaf &leaf : leaves) {
      const std::vector<int64_t> others = choices(leaf);
      if (others.empty() || draw() % 2) continue;
      changes.push_back({leaf, others[draw() % others.size()]});
      name += (name.empty() ? "" : ", ") + name_of(leaf) + std::to_string(changes.back().second);
    }
    if (changes.size() < 2) continue;
    list.push_back({name, dim3(0, 0, 0), [this, changes] {
                      for (const auto &c : changes) std::memcpy(place_of(c.first), &c.second, c.first.kind == "b1" ? 1 : width_of(c.first.kind));
                    }, dim3(0, 0, 0), true});
  }
}

/* Integers in arrays: nearer to zero, any of those between the least and the greatest, any at all for bytes, and what
 * the kernel compares with. */
void Variations::add_resampled() {
  const std::vector<Array> arrays = this->arrays();
  if (std::none_of(arrays.begin(), arrays.end(), [](const Array &a) { return is_integer(a.kind); })) return;
  auto each = [&](const char *name, std::function<void(const Array &)> change) {
    list.push_back({name, dim3(0, 0, 0), [arrays, change] {
                      for (const Array &a : arrays)
                        if (is_integer(a.kind) && a.count) change(a);
                    }, dim3(0, 0, 0), true});
  };
  each("zero integers", [](const Array &a) { each_integer(a, [](int64_t) { return 0; }); });
  for (const Array &a : arrays) /* and one array alone: zeros in all say little of what is computed */
    if (is_integer(a.kind) && arrays.size() > 1)
      list.push_back({"zeros in one array", dim3(0, 0, 0), [a] { each_integer(a, [](int64_t) { return 0; }); }, dim3(0, 0, 0), true});
  each("halved integers", [](const Array &a) { each_integer(a, [](int64_t x) { return x / 2; }); });
  each("other integers", [](const Array &a) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    each_integer(a, [&](int64_t x) { return least = std::min(least, x), most = std::max(most, x), x; });
    if (a.width == 1) least = a.kind[0] == 'i' ? -128 : 0, most = a.kind[0] == 'i' ? 127 : 255;
    const uint64_t range = (uint64_t)most - (uint64_t)least + 1;
    each_integer(a, [=](int64_t) { return (int64_t)((uint64_t)least + (range ? draw() % range : draw())); });
  });
  std::vector<long long> constants = {0, 1, 2, 3};
  constants.insert(constants.end(), kernel.constants.begin(), kernel.constants.end());
  each("compared integers", [constants](const Array &a) {
    each_integer(a, [&](int64_t x) { return draw() % 2 ? x : (int64_t)constants[draw() % constants.size()]; });
  });
}

/* `if (n < 0) return`: -1 and the value's own negative. */
void Variations::add_negative_scalars() {
  for (unsigned choice = 0; choice < 2; ++choice)
    for (const Leaf &leaf : leaves) {
      if (!is_integer(leaf.kind) || leaf.kind[0] == 'u') continue;
      const int64_t value = integer(leaf), other = choice ? -value : -1;
      if (other < 0 && (other != -1 || !choice)) add_integer(leaf, other, true);
    }
}

/* Whether nothing is left that must be found: every required point passed, and the lift was compared at least once. */
bool Variations::complete() const {
  for (size_t i = 0; i < kernel.coverage.size(); ++i)
    if (!kernel.coverage[i] && !(i < kernel.noted.size() && kernel.noted[i] == '1')) return false;
  return kernel.lift_compared || !kernel.lifted.listed();
}

/* Whether the variation at hand runs: all that must, and more where there is time to spare. */
bool Variations::is_due() const {
  if (at < needed || !complete()) return true;
  if (at >= special && at < doubtful) return false;
  const double used = (double)std::clock() / CLOCKS_PER_SEC;
  return kernel.exhaustive || used + used / (double)std::max<size_t>(at, 1) <= spare_seconds;
}

bool Variations::next() {
  before.restore();
  for (size_t i = 0; i < addresses.size(); ++i) std::memcpy(addresses[i], scalars[i].data(), scalars[i].size());
  set_sticky_error(cudaSuccess); /* the original may have failed in the variation before */
  do
    if (++at >= list.size()) return false;
  while (!is_due());
  list[at].apply();
  if (list[at].doubtful && !hurried) {
    hurried = true;
    const unsigned left = alarm(0); /* loops may take 2^32 turns: nothing but such variations is lost */
    alarm(std::max(1u, std::min(left, doubtful_seconds)));
  }
  return true;
}

bool begin_variations(Entry_of_kernel &entry, const Launch &launch, const Snapshot &before, double seconds,
                      bool cheap) {
  static Launch kept;
  static Kernel kept_kernel;
  static Snapshot const *kept_before;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) {
    int status;
    if (child > 0) waitpid(child, &status, 0);
    return false;
  }
  signal(SIGALRM, SIG_DFL);
  const double share = entry.lift_compared || !entry.lifted.listed() ? 0 : 0.75 * seconds; /* a lift is due a comparison */
  alarm(std::max(1u, (unsigned)std::min(std::max<double>(most_seconds, share), std::min(seconds, 600.0))));
  kept = launch;
  kept_kernel = *launch.kernel;
  kept.kernel = &kept_kernel;
  before.restore(); /* the comparison that took this snapshot ends before the kernel is entered again */
  kept_before = new Snapshot(Snapshot::take());
  current_variations = new Variations(entry, kept, *kept_before, cheap);
  if (!current_variations->next()) _exit(0);
  return true;
}

}  // namespace tm_oracle
