/* Shadow memory for step (b): the double-double value and error bound of each float that a kernel stored. */
#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "compare.h"

namespace tm_oracle {

struct ShadowMemory::State {
  struct Cell {
    tm_shadow value;
    int bytes;
  };
  std::unordered_map<const void *, Cell> stored;
  std::unordered_map<const void *, int> loaded; /* floats read before anything was stored there */
  std::vector<std::string> unstable;
  tm_shadow_memory interface;
};

namespace {
using State = ShadowMemory::State;

int load(void *context, const void *address, int bytes, tm_shadow *out) {
  State &state = *static_cast<State *>(context);
  auto found = state.stored.find(address);
  if (found == state.stored.end() || found->second.bytes != bytes) {
    if (found == state.stored.end()) state.loaded.emplace(address, bytes);
    return 0;
  }
  *out = found->second.value;
  return 1;
}

void store(void *context, void *address, int bytes, const tm_shadow *value) {
  static_cast<State *>(context)->stored[address] = State::Cell{*value, bytes};
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
}
ShadowMemory::~ShadowMemory() = default;

void ShadowMemory::attach(Object &object) {
  auto set = (void (*)(const tm_shadow_memory *))dlsym(object.handle, "tm_set_shadow_memory");
  if (set) set(&state->interface);
}

bool ShadowMemory::has(const void *address) const { return state->stored.count(address) != 0; }

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
      auto found = state->stored.find(a.base + at);
      const size_t bytes = found == state->stored.end() ? 1 : (size_t)found->second.bytes;
      Format format;
      if (bytes > 1 && at + bytes <= a.size) format = format_of((int)bytes, before + at, found->second.value.native);
      /* An integer stored over a float leaves a stale shadow: memory then does not hold its native value. */
      if (format.read && same(format.read(before + at), found->second.value.native) && !mask.has(part, at)) {
        const double actual = format.read(a.base + at);
        const bool equal = std::memcmp(a.base + at, before + at, bytes) == 0;
        const Verdict v = judge_float(found->second.value, actual, format);
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
                        found->second.value.value + found->second.value.low, actual, v.allowance);
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
  for (auto &entry : state->loaded) {
    auto *address = (unsigned char *)const_cast<void *>(entry.first);
    Allocation *found = find_allocation(address);
    if (!found) continue;
    const float value = small_integer((size_t)(address - found->base) / (size_t)entry.second + found->number);
    if (entry.second == 4) std::memcpy(address, &value, 4);
    else if (entry.second == 8) { const double wide = value; std::memcpy(address, &wide, 8); }
    else return false;
  }
  return true;
}

}  // namespace tm_oracle
