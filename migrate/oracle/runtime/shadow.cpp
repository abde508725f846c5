/* Shadow memory for step (b): the double-double value and error bound of each float that a kernel stored. */
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "compare.h"

namespace tm_oracle {

/* Cells lie in tables as large as the allocations, a page at a time, so that finding one is an index; what lies
 * elsewhere (shared memory, locals) is kept by address. */
struct ShadowMemory::State {
  struct Cell {
    tm_shadow value;
    int bytes = 0; /* 0: nothing stored */
  };
  struct Table {
    static constexpr size_t unit = 2, page = 512; /* bytes a cell at least has; cells of a page */
    unsigned char *base;
    size_t size;
    unsigned number;
    std::vector<unsigned char> loaded; /* by unit: bytes of a float that was read before anything was stored */
    std::vector<std::unique_ptr<Cell[]>> pages;
    Cell *find(size_t offset) {
      const size_t index = offset / unit;
      Cell *cells = pages[index / page].get();
      return offset % unit || !cells || !cells[index % page].bytes ? nullptr : &cells[index % page];
    }
    Cell &make(size_t offset) {
      const size_t index = offset / unit;
      if (!pages[index / page]) pages[index / page].reset(new Cell[page]);
      return pages[index / page][index % page];
    }
  };
  std::vector<Table> tables; /* by address */
  Table *last = nullptr;
  std::unordered_map<const void *, Cell> elsewhere;
  std::vector<std::string> unstable;
  tm_shadow_memory interface;

  Table *table_of(const void *address) {
    const auto *place = (const unsigned char *)address;
    if (last && place >= last->base && place < last->base + last->size) return last;
    auto after = std::upper_bound(tables.begin(), tables.end(), place,
                                  [](const unsigned char *p, const Table &t) { return p < t.base; });
    if (after == tables.begin() || place >= (after - 1)->base + (after - 1)->size) return nullptr;
    return last = &*(after - 1);
  }
  const Cell *find(const void *address) {
    if (Table *table = table_of(address)) return table->find((size_t)((const unsigned char *)address - table->base));
    auto found = elsewhere.find(address);
    return found == elsewhere.end() ? nullptr : &found->second;
  }
};

namespace {
using State = ShadowMemory::State;

int load(void *context, const void *address, int bytes, tm_shadow *out) {
  State &state = *static_cast<State *>(context);
  const State::Cell *found = state.find(address);
  if (found && found->bytes == bytes) return *out = found->value, 1;
  State::Table *table = found ? nullptr : state.table_of(address);
  if (table) table->loaded[(size_t)((const unsigned char *)address - table->base) / State::Table::unit] = (unsigned char)bytes;
  return 0;
}

void store(void *context, void *address, int bytes, const tm_shadow *value) {
  State &state = *static_cast<State *>(context);
  State::Table *table = state.table_of(address);
  const size_t offset = table ? (size_t)((unsigned char *)address - table->base) : 1;
  State::Cell &cell = offset % State::Table::unit == 0 ? table->make(offset) : state.elsewhere[address];
  cell = State::Cell{*value, bytes};
}

void unstable(void *context, const char *file, int line) {
  State &state = *static_cast<State *>(context);
  const std::string text = "{\"file\": " + json_text(file ? file : "") + ", \"line\": " + std::to_string(line) + "}";
  for (const std::string &known : state.unstable)
    if (known == text) return;
  if (state.unstable.size() < 20) state.unstable.push_back(text);
}

double from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? (fraction ? std::nan("") : INFINITY)
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

double from_bfloat(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

bool same(double a, double b) { return a == b || (a != a && b != b); }

/* A format of `bytes` bytes: how to read it, its precision and least exponent. */
struct Format {
  int precision = 0, least = 0; /* 0: not known */
  double (*read)(const unsigned char *) = nullptr;
};
Format format_of(int bytes, const unsigned char *memory, double native) {
  if (bytes == 4) return {24, -149, [](const unsigned char *p) { float v; std::memcpy(&v, p, 4); return (double)v; }};
  if (bytes == 8) return {53, -1074, [](const unsigned char *p) { double v; std::memcpy(&v, p, 8); return v; }};
  uint16_t bits;
  std::memcpy(&bits, memory, 2);
  if (same(from_half(bits), native))
    return {11, -24, [](const unsigned char *p) { uint16_t b; std::memcpy(&b, p, 2); return from_half(b); }};
  if (same(from_bfloat(bits), native))
    return {8, -133, [](const unsigned char *p) { uint16_t b; std::memcpy(&b, p, 2); return from_bfloat(b); }};
  return {};
}

/* One unit in the last place of `value` in the format. */
double ulp(double value, const Format &format) {
  if (!std::isfinite(value) || value == 0) return std::ldexp(1.0, format.least);
  return std::ldexp(1.0, std::max(std::ilogb(value) - format.precision + 1, format.least));
}

struct Verdict {
  bool agrees, finite;
  double difference, allowance, ulps;
};

Verdict judge_float(const tm_shadow &shadow, double actual, const Format &format) {
  const double exact = shadow.value + shadow.low;
  if (std::isnan(shadow.native) || std::isnan(actual)) {
    const bool both = std::isnan(shadow.native) && std::isnan(actual);
    return {both, false, 0, 0, 0};
  }
  if (std::isinf(shadow.native) || std::isinf(actual)) return {shadow.native == actual, false, 0, 0, 0};
  const double unit = ulp(exact, format);
  const double difference = std::fabs((actual - shadow.value) - shadow.low), allowance = shadow.error + unit;
  return {difference <= allowance, true, difference, allowance, difference / unit};
}
}  // namespace

float small_integer(size_t number) {
  const uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15ULL;
  return (float)((int)(mixed >> 40) % 9 - 4);
}

ShadowMemory::ShadowMemory() : state(new State) {
  state->interface = tm_shadow_memory{state.get(), load, store, unstable};
  for (const Allocation *a : allocations()) {
    const size_t units = (a->size + State::Table::unit - 1) / State::Table::unit;
    State::Table made{a->base, a->size, a->number, std::vector<unsigned char>(units), {}};
    made.pages.resize(units / State::Table::page + 1);
    state->tables.push_back(std::move(made));
  }
}
ShadowMemory::~ShadowMemory() = default;

void ShadowMemory::attach(Object &object) {
  auto set = (void (*)(const tm_shadow_memory *))dlsym(object.handle, "tm_set_shadow_memory");
  if (set) set(&state->interface);
}

bool ShadowMemory::has(const void *address) const { return state->find(address) != nullptr; }

std::string ShadowMemory::judge(const Snapshot &expected, const Mask &mask, bool *agrees) const {
  Mismatch first;
  std::string extra;
  double worst_ulp = 0, worst_ratio = 0;
  size_t floats = 0, exact_bytes = 0;
  bool all_equal = true;
  for (size_t part = 0; part < expected.count(); ++part) {
    const Allocation &a = expected.allocation(part);
    const unsigned char *before = expected.bytes(part);
    for (size_t at = 0; at < a.size;) {
      const State::Cell *found = state->find(a.base + at);
      const size_t bytes = found ? (size_t)found->bytes : 1;
      Format format;
      if (bytes > 1 && at + bytes <= a.size) format = format_of((int)bytes, before + at, found->value.native);
      /* An integer stored over a float leaves a stale shadow: memory then does not hold its native value. */
      if (format.read && same(format.read(before + at), found->value.native) && !mask.has(part, at)) {
        const double actual = format.read(a.base + at);
        const bool equal = std::memcmp(a.base + at, before + at, bytes) == 0;
        const Verdict v = judge_float(found->value, actual, format);
        ++floats;
        if (!equal) all_equal = false;
        if (v.finite) {
          worst_ulp = std::fmax(worst_ulp, v.ulps);
          worst_ratio = std::fmax(worst_ratio, v.difference / v.allowance);
        }
        if (!equal && !v.agrees && (first.bytes += bytes) == bytes) {
          first.part = part, first.offset = at;
          char text[160];
          std::snprintf(text, sizeof text,
                        ", \"expected_value\": \"%.17g\", \"actual_value\": \"%.17g\", \"allowance\": \"%.3g\"",
                        found->value.value + found->value.low, actual, v.allowance);
          extra = text;
        }
        at += bytes;
        continue;
      }
      ++exact_bytes;
      if (a.base[at] != before[at] && !mask.has(part, at) && first.bytes++ == 0) first.part = part, first.offset = at;
      ++at;
    }
  }
  *agrees = !first.found();
  char numbers[200];
  std::snprintf(numbers, sizeof numbers,
                "\"max_ulp\": %.6g, \"max_error_ratio\": %.6g, \"floats\": %zu, \"exact_bytes\": %zu", worst_ulp,
                worst_ratio, floats, exact_bytes);
  std::string result = std::string("\"verdict\": \"") +
                       (first.found() ? "differs" : all_equal ? "equal" : "within") + "\", " + numbers;
  if (first.found()) result += ", \"mismatch\": " + mismatch_text(expected, first, extra);
  result += ", \"unstable\": [";
  for (size_t i = 0; i < state->unstable.size(); ++i) result += (i ? ", " : "") + state->unstable[i];
  return result + "]";
}

bool ShadowMemory::write_integers() const {
  for (const State::Table &table : state->tables) {
    for (size_t unit = 0; unit < table.loaded.size(); ++unit) {
      const size_t bytes = table.loaded[unit], offset = unit * State::Table::unit;
      if (!bytes) continue;
      const float value = small_integer(offset / bytes + table.number);
      const double wide = value;
      if (bytes == 4) std::memcpy(table.base + offset, &value, 4);
      else if (bytes == 8) std::memcpy(table.base + offset, &wide, 8);
      else return false;
    }
  }
  return true;
}

}  // namespace tm_oracle
