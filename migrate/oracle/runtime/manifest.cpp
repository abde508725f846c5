#include "manifest.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace tm_oracle {

namespace {
std::vector<std::string> fields(const std::string &line) {
  std::vector<std::string> result(1);
  for (char c : line)
    if (c == '\t') result.emplace_back();
    else if (c != '\r') result.back() += c;
  return result;
}

Version version_of(Manifest &m, const std::vector<std::string> &f) {
  Version v;
  if (f.size() == 3 && m.objects.count(f[1])) {
    v.object = &m.objects[f[1]];
    v.symbol = f[2];
  } else {
    m.fault = "a version names no object: " + (f.size() > 1 ? f[1] : std::string());
  }
  return v;
}

void read_record(Manifest &m, const std::vector<std::string> &f, Entry_of_kernel *&kernel) {
  const std::string &kind = f[0];
  if (kind == "object" && f.size() == 3) m.objects[f[1]].path = f[2];
  else if (kind == "globals" && f.size() >= 2) m.objects[f[1]].globals.assign(f.begin() + 2, f.end());
  else if (kind == "kernel" && f.size() == 2) kernel = &m.kernels[without_linkage(f[1])], kernel->name = f[1];
  else if (!kernel) m.fault = "record outside a kernel: " + kind;
  else if (kind == "thread") kernel->thread = version_of(m, f);
  else if (kind == "shadow") kernel->shadow = version_of(m, f);
  else if (kind == "lifted") kernel->lifted = version_of(m, f);
  else if (kind == "coverage" && f.size() == 2) kernel->coverage_points = std::strtoul(f[1].c_str(), nullptr, 10);
  else if (kind == "parameters") kernel->parameters.assign(f.begin() + 1, f.end());
  else if (kind == "pointees") kernel->pointees.assign(f.begin() + 1, f.end());
  else if (kind == "integers" && f.size() == 2) kernel->integers = f[1] == "yes";
  else if (kind == "noted" && f.size() == 2) kernel->noted = f[1];
  else if (kind == "blocks" && f.size() == 2) kernel->any_block = f[1] == "any";
  else if (kind == "watched" && f.size() == 2) kernel->watched = f[1] == "yes";
  else if (kind == "exhaustive" && f.size() == 2) kernel->exhaustive = f[1] == "yes";
  else if (kind == "constants") for (size_t i = 1; i < f.size(); ++i) kernel->constants.push_back(std::strtoll(f[i].c_str(), nullptr, 10));
  else if (kind == "thresholds") for (size_t i = 1; i < f.size(); ++i) kernel->thresholds.push_back(std::strtod(f[i].c_str(), nullptr));
  else m.fault = "unknown record: " + kind;
}

void open_object(Object &object) {
  object.opened = true;
  object.handle = dlopen(object.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object.handle) {
    const char *message = dlerror();
    object.fault = message ? message : "dlopen failed";
    return;
  }
  for (const std::string &name : object.globals) {
    if (name.empty()) continue;
    Allocation *variable = find_variable(name);
    if (!variable) object.fault = "the program has no variable " + name;
    else if (variables_called(name) > 1) object.fault = "several files of the program have a static variable " + name;
    object.addresses.push_back(variable ? variable->base : nullptr);
  }
}

/* Services */

int print(void *context, const char *format, ...) {
  Call &call = *static_cast<Call *>(context);
  va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size > 0) {
    std::string text((size_t)size + 1, '\0');
    std::vsnprintf(&text[0], text.size(), format, values);
    text.resize((size_t)size);
    if (call.to_stdout) std::fputs(text.c_str(), stdout);
    else call.printed += text;
  }
  va_end(values);
  return size;
}

size_t extent(void *, const void *pointer) {
  Allocation *found = find_allocation(pointer);
  return found ? (size_t)(found->base + found->size - (const unsigned char *)pointer) : SIZE_MAX;
}

void note(void *context, int kind, const char *message, const char *file, int line, const uint32_t block[3],
          const uint32_t thread[3]) {
  Call &call = *static_cast<Call *>(context);
  auto triple = [](const uint32_t v[3]) {
    if (!v) return std::string("[0, 0, 0]");
    return "[" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + ", " + std::to_string(v[2]) + "]";
  };
  if (call.to_stdout)
    std::fprintf(stderr, "%s:%d: block %s, thread %s: %s\n", file ? file : "?", line, triple(block).c_str(),
                 triple(thread).c_str(), message ? message : "");
  if (call.reports.size() >= 20) return;
  call.reports.push_back("{\"kind\": " + std::to_string(kind) + ", \"message\": " + json_text(message ? message : "") +
                         ", \"file\": " + json_text(file ? file : "") + ", \"line\": " + std::to_string(line) +
                         ", \"block\": " + triple(block) + ", \"thread\": " + triple(thread) + "}");
}

void count_barrier(void *context) { ++static_cast<Call *>(context)->barriers; }
}  // namespace

std::string without_linkage(const std::string &mangled) {
  std::string kept;
  for (size_t i = 0; i < mangled.size(); ++i) {
    const bool number = mangled[i] >= '0' && mangled[i] <= '9', last = i + 1 == mangled.size();
    if (number) { /* `7counter`: an identifier is copied whole */
      size_t digits = i;
      while (digits < mangled.size() && mangled[digits] >= '0' && mangled[digits] <= '9') ++digits;
      const size_t end = std::min(mangled.size(), digits + std::strtoul(mangled.c_str() + i, nullptr, 10));
      kept += mangled.substr(i, end - i);
      i = end - 1;
    } else if (mangled[i] == 'L' && !last && mangled[i + 1] >= 'a' && mangled[i + 1] <= 'z') { /* `Li3E` */
      const size_t end = std::min(mangled.find('E', i), mangled.size() - 1);
      kept += mangled.substr(i, end - i + 1);
      i = end;
    } else if (mangled[i] != 'L' || last || mangled[i + 1] < '0' || mangled[i + 1] > '9') {
      kept += mangled[i];
    }
  }
  return kept;
}

Entry_of_kernel *find_kernel(Manifest &manifest, const Launch &launch) {
  const std::string name = without_linkage(launch.name);
  auto found = manifest.kernels.find(name + "@" + std::to_string(launch.kernel->unit));
  if (found == manifest.kernels.end()) found = manifest.kernels.find(name);
  return found == manifest.kernels.end() ? nullptr : &found->second;
}

Manifest read_manifest(const char *path) {
  Manifest m;
  std::ifstream file(path);
  if (!file) m.fault = std::string("cannot read ") + path;
  std::string line;
  Entry_of_kernel *kernel = nullptr;
  bool first = true;
  while (std::getline(file, line)) {
    if (line.empty()) continue;
    const std::vector<std::string> f = fields(line);
    if (first) {
      if (f.size() != 2 || f[0] != "tmigrate-manifest" || f[1] != "1") m.fault = "not a manifest of version 1";
      first = false;
      continue;
    }
    read_record(m, f, kernel);
  }
  if (first && m.fault.empty()) m.fault = "the manifest is empty";
  for (auto &entry : m.kernels) entry.second.coverage.assign(entry.second.coverage_points, 0);
  return m;
}

std::string Version::resolve() {
  if (!object) return "not listed";
  if (!object->opened) open_object(*object);
  if (!object->fault.empty()) return object->fault;
  if (!function) function = (tm_kernel)dlsym(object->handle, symbol.c_str());
  return function ? "" : "the object has no symbol " + symbol;
}

int call_version(const Version &version, const Launch &launch, void *const *arguments, unsigned char *coverage,
                 Call &call, unsigned modes) {
  tm_services services = {&call, print, extent, nullptr, note, count_barrier};
  tm_launch described = {{launch.grid.x, launch.grid.y, launch.grid.z},
                         {launch.block.x, launch.block.y, launch.block.z},
                         launch.shared,
                         version.object->addresses.data(),
                         coverage,
                         &services,
                         (uint32_t)launch.kernel->count,
                         modes};
  return version.function(&described, arguments);
}

}  // namespace tm_oracle
