#include <cmath>
#include "compare.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tm_oracle {

Snapshot Snapshot::take() {
  Snapshot made;
  for (Allocation *a : allocations()) {
    Part part{a, std::unique_ptr<unsigned char[]>(new unsigned char[a->size ? a->size : 1])};
    std::memcpy(part.bytes.get(), a->base, a->size);
    made.parts.push_back(std::move(part));
  }
  return made;
}

void Snapshot::restore() const {
  constexpr size_t chunk = 4096;
  for (const Part &part : parts)
    for (size_t at = 0; at < part.allocation->size; at += chunk) {
      const size_t size = std::min(chunk, part.allocation->size - at);
      if (std::memcmp(part.allocation->base + at, part.bytes.get() + at, size) != 0)
        std::memcpy(part.allocation->base + at, part.bytes.get() + at, size);
    }
}

const unsigned char *Snapshot::at(const void *address) const {
  for (const Part &part : parts) {
    const unsigned char *base = part.allocation->base;
    if (address >= base && address < base + part.allocation->size)
      return part.bytes.get() + ((const unsigned char *)address - base);
  }
  return nullptr;
}

namespace {
/* Calls found(part, offset) for every byte in which memory differs from the snapshot. */
template <class F> void each_difference(const Snapshot &expected, F found) {
  constexpr size_t chunk = 4096;
  for (size_t i = 0; i < expected.count(); ++i) {
    const Allocation &a = expected.allocation(i);
    for (size_t at = 0; at < a.size; at += chunk) {
      const size_t size = std::min(chunk, a.size - at);
      if (std::memcmp(a.base + at, expected.bytes(i) + at, size) == 0) continue;
      for (size_t k = at; k < at + size; ++k)
        if (a.base[k] != expected.bytes(i)[k]) found(i, k);
    }
  }
}

std::string hex(const unsigned char *bytes, size_t size) {
  std::string text;
  char pair[4];
  for (size_t i = 0; i < size; ++i) std::snprintf(pair, sizeof pair, "%02x", bytes[i]), text += pair;
  return text;
}
}  // namespace

void Mask::add_differences(const Snapshot &expected) {
  bytes.resize(expected.count());
  each_difference(expected, [&](size_t part, size_t offset) {
    if (bytes[part].empty()) bytes[part].resize(expected.allocation(part).size);
    if (!bytes[part][offset]) ++count;
    bytes[part][offset] = true;
  });
}

FloatArrays::FloatArrays(const Entry_of_kernel &entry, const Launch &launch) {
  std::vector<const Allocation *> others; /* seen as something else too: bytes count there */
  for (int i = 0; i < launch.kernel->count && (size_t)i < entry.pointees.size(); ++i) {
    void *pointer;
    if (launch.kernel->sizes[i] != sizeof pointer || entry.pointees[i] == "-") continue;
    std::memcpy(&pointer, launch.kernel->arguments[i], sizeof pointer);
    const Allocation *found = find_allocation(pointer);
    if (!found) continue;
    const size_t width = entry.pointees[i] == "f32" ? 4 : entry.pointees[i] == "f64" ? 8 : 0;
    if (width) arrays.push_back({(const unsigned char *)pointer, found->base + found->size, width});
    else others.push_back(found);
  }
  auto mixed = [&](const Array &a) {
    return std::find(others.begin(), others.end(), find_allocation(a.start)) != others.end();
  };
  arrays.erase(std::remove_if(arrays.begin(), arrays.end(), mixed), arrays.end());
}

bool FloatArrays::both_nan(const Snapshot &expected, size_t part, size_t offset) const {
  const unsigned char *base = expected.allocation(part).base;
  for (const Array &a : arrays) {
    if (base + offset < a.start || base + offset >= a.end) continue;
    const unsigned char *word = a.start + (size_t)(base + offset - a.start) / a.width * a.width;
    if (word + a.width > a.end) continue;
    const unsigned char *before = expected.bytes(part) + (word - base);
    float narrow[2];
    double wide[2];
    if (a.width == 4) {
      std::memcpy(&narrow[0], word, 4), std::memcpy(&narrow[1], before, 4);
      return std::isnan(narrow[0]) && std::isnan(narrow[1]);
    }
    std::memcpy(&wide[0], word, 8), std::memcpy(&wide[1], before, 8);
    return std::isnan(wide[0]) && std::isnan(wide[1]);
  }
  return false;
}

Mismatch compare_exactly(const Snapshot &expected, const Mask &mask, const FloatArrays &floats) {
  Mismatch first;
  each_difference(expected, [&](size_t part, size_t offset) {
    if (mask.has(part, offset) || floats.both_nan(expected, part, offset)) return;
    if (first.bytes++ == 0) first.part = part, first.offset = offset;
  });
  return first;
}

std::string mismatch_text(const Snapshot &expected, const Mismatch &m, const std::string &extra) {
  const Allocation &a = expected.allocation(m.part);
  const size_t start = m.offset / 8 * 8, size = std::min<size_t>(8, a.size - start);
  const std::string name = a.kind == VARIABLE ? json_text(a.name) : std::to_string(a.number);
  return "{\"allocation\": " + name + ", \"kind\": \"" + kind_name(a.kind) + "\", \"offset\": " +
         std::to_string(m.offset) + ", \"size\": " + std::to_string(a.size) + ", \"expected\": \"" +
         hex(expected.bytes(m.part) + start, size) + "\", \"actual\": \"" + hex(a.base + start, size) +
         "\", \"bytes\": " + std::to_string(m.bytes) + extra + "}";
}

size_t count_changes(const Snapshot &before) {
  size_t changes = 0;
  each_difference(before, [&](size_t, size_t) { ++changes; });
  return changes;
}

const char *compare_printed(const std::string &expected, const std::string &actual) {
  if (expected == actual) return "equal";
  auto lines = [](const std::string &text) {
    std::vector<std::string> all(1);
    for (char c : text)
      if (c == '\n') all.emplace_back();
      else all.back() += c;
    std::sort(all.begin(), all.end());
    return all;
  };
  return lines(expected) == lines(actual) ? "reordered" : "differs";
}

}  // namespace tm_oracle
