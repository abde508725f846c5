/* Memory as bytes: taken, put back, and what differs. */
#include <algorithm>
#include <cstring>

#include "replay.h"

namespace tm_oracle {

Snapshot take_snapshot() {
  Snapshot made;
  for (const Allocation *a : allocations())
    made.push_back({a, std::vector<unsigned char>(a->base, a->base + a->size)});
  return made;
}

void restore(const Snapshot &snapshot) {
  for (const Block &block : snapshot)
    if (!block.bytes.empty()) std::memcpy(block.allocation->base, block.bytes.data(), block.bytes.size());
}

size_t differing_bytes(const Snapshot &a, const Snapshot &b) {
  size_t count = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const auto &x = a[i].bytes, &y = b[i].bytes;
    if (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0) continue;
    for (size_t k = 0; k < x.size(); ++k) count += x[k] != y[k];
  }
  return count;
}

size_t mark_differences(const Snapshot &expected, Mask &mask) {
  size_t count = 0;
  for (const Block &block : expected) {
    const unsigned char *now = block.allocation->base;
    if (block.bytes.empty() || std::memcmp(now, block.bytes.data(), block.bytes.size()) == 0) continue;
    std::vector<bool> &marked = mask[block.allocation];
    marked.resize(block.bytes.size());
    for (size_t k = 0; k < block.bytes.size(); ++k) {
      if (now[k] == block.bytes[k] || marked[k]) continue;
      marked[k] = true;
      ++count;
    }
  }
  return count;
}

}  // namespace tm_oracle
