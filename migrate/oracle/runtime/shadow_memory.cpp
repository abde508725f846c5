/* The map from the address of a float to its shadow (tm_abi.h, tm_shadow_memory). */
#include <cmath>
#include <cstring>

#include "replay.h"

namespace tm_oracle {

namespace {
int load_shadow(void *context, const void *address, int bytes, tm_shadow *out) {
  auto &map = *static_cast<ShadowMap *>(context);
  auto found = map.stored.find(address);
  if (found != map.stored.end() && found->second.bytes == bytes) {
    *out = found->second.value;
    return 1;
  }
  /* Only what lives in the program's memory is an input; locals and shared arrays are the kernel's own. */
  if (find_allocation(address)) map.loaded.emplace(address, bytes);
  return 0;
}

void store_shadow(void *context, void *address, int bytes, const tm_shadow *value) {
  static_cast<ShadowMap *>(context)->stored[address] = {*value, bytes};
}

void note_unstable(void *context, const char *file, int line) {
  auto &list = static_cast<ShadowMap *>(context)->unstable;
  const std::string made = "{\"file\": " + json_text(file ? file : "") + ", \"line\": " + std::to_string(line) + "}";
  for (const std::string &known : list)
    if (known == made) return;
  if (list.size() < 16) list.push_back(made);
}

double from_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return exponent ? sign * std::ldexp(1024 + fraction, exponent - 25) : sign * std::ldexp(fraction, -24);
}
}  // namespace

tm_shadow_memory shadow_services(ShadowMap &map) { return {&map, load_shadow, store_shadow, note_unstable}; }

double read_float(const void *address, int bytes) {
  if (bytes == 8) {
    double value;
    std::memcpy(&value, address, 8);
    return value;
  }
  if (bytes == 4) {
    float value;
    std::memcpy(&value, address, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, address, 2);
  return from_half(bits);
}

double unit_in_last_place(double value, int bytes) {
  const int digits = bytes == 8 ? 53 : bytes == 4 ? 24 : 11;
  const int least = bytes == 8 ? -1074 : bytes == 4 ? -149 : -24;
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, least);
  int exponent;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - digits, least));
}

}  // namespace tm_oracle
