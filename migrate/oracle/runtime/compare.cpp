/* Memory after a converted version against memory after the original. */
#include <algorithm>
#include <cmath>
#include <cstring>

#include "replay.h"

namespace tm_oracle {

namespace {
bool masked(const std::vector<bool> *mask, size_t offset, size_t width) {
  if (!mask) return false;
  for (size_t k = offset; k < offset + width && k < mask->size(); ++k)
    if ((*mask)[k]) return true;
  return false;
}

/* The float stored by the shadow run that holds the byte, if any. */
const ShadowCell *cell_at(const ShadowMap *shadow, const unsigned char *byte, const unsigned char **start) {
  if (!shadow) return nullptr;
  for (int back = 0; back < 8; ++back) {
    auto found = shadow->stored.find(byte - back);
    if (found == shadow->stored.end() || found->second.bytes <= back) continue;
    *start = byte - back;
    return &found->second;
  }
  return nullptr;
}

/* Whether a float may stand for the shadow's value; notes how far it is away. */
bool within(const ShadowCell &cell, double actual, Comparison &result) {
  const tm_shadow &s = cell.value;
  const double value = s.value + s.low;
  result.expected_value = value;
  result.actual_value = actual;
  const double native = s.native;
  if (std::isnan(native) || std::isnan(value)) return std::isnan(actual) && std::isnan(native);
  if (std::isinf(native) || std::isinf(value)) return actual == native;
  const double ulp = unit_in_last_place(value, cell.bytes);
  const double distance = std::fabs((actual - s.value) - s.low);
  result.allowance = s.error + ulp;
  result.max_ulp = std::max(result.max_ulp, distance / ulp);
  result.max_ratio = std::max(result.max_ratio, distance / result.allowance);
  return distance <= result.allowance;
}

void note_mismatch(Comparison &result, const Block &block, size_t offset, size_t width) {
  result.allocation = block.allocation;
  result.offset = offset;
  result.width = std::min<size_t>(width, 8);
  std::memcpy(result.expected, block.bytes.data() + offset, result.width);
  std::memcpy(result.actual, block.allocation->base + offset, result.width);
}

void compare_block(const Block &block, const std::vector<bool> *mask, const ShadowMap *shadow, Comparison &result) {
  const unsigned char *base = block.allocation->base;
  for (size_t k = 0; k < block.bytes.size(); ++k) {
    if (base[k] == block.bytes[k]) continue;
    const unsigned char *start = base + k;
    const ShadowCell *cell = cell_at(shadow, base + k, &start);
    const size_t first = start - base, width = cell ? (size_t)cell->bytes : 1;
    if (masked(mask, first, width)) {
      k = first + width - 1;
      continue;
    }
    result.equal = false;
    Comparison trial = result;
    const bool fine = cell && within(*cell, read_float(start, cell->bytes), trial);
    if (!result.agrees) { /* the first mismatch is kept whole */
      trial.expected_value = result.expected_value, trial.actual_value = result.actual_value;
      trial.allowance = result.allowance;
    }
    if (fine || result.agrees) result = trial;
    if (!fine) {
      if (result.agrees) {
        result.is_float = cell != nullptr;
        note_mismatch(result, block, first, std::min(width, block.bytes.size() - first));
      }
      result.agrees = false;
      result.bytes += width;
    }
    k = first + width - 1;
  }
}
}  // namespace

Comparison compare(const Snapshot &expected, const Mask &mask, const ShadowMap *shadow) {
  Comparison result;
  if (shadow) result.floats = shadow->stored.size();
  for (const Block &block : expected) {
    result.exact_bytes += block.bytes.size();
    if (block.bytes.empty() || std::memcmp(block.allocation->base, block.bytes.data(), block.bytes.size()) == 0)
      continue;
    auto found = mask.find(block.allocation);
    compare_block(block, found == mask.end() ? nullptr : &found->second, shadow, result);
  }
  return result;
}

}  // namespace tm_oracle
