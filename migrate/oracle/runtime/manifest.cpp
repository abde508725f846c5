/* Reads the manifest (REPLAY.md) and loads the objects that it names. */
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "replay.h"

namespace tm_oracle {

namespace {
std::map<std::string, Object> &objects() {
  static std::map<std::string, Object> table;
  return table;
}

std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> words;
  std::string word;
  std::istringstream in(line);
  while (std::getline(in, word, '\t')) words.push_back(word);
  return words;
}

Version version(const std::vector<std::string> &words) {
  Version made;
  if (words.size() >= 3 && objects().count(words[1])) made = {&objects()[words[1]], words[2]};
  return made;
}

void read_kernel_record(ReplayEntry &kernel, const std::vector<std::string> &words) {
  const std::string &kind = words[0];
  std::vector<std::string> rest(words.begin() + 1, words.end());
  if (kind == "thread") kernel.thread = version(words);
  if (kind == "shadow") kernel.shadow = version(words);
  if (kind == "lifted") kernel.lifted = version(words);
  if (kind == "coverage") kernel.coverage_count = std::strtoul(words.at(1).c_str(), nullptr, 10);
  if (kind == "parameters") kernel.parameters = rest;
  if (kind == "pointees") kernel.pointees = rest;
  if (kind == "integers") kernel.integers = words.at(1) == "yes";
}

std::map<std::string, ReplayEntry> read_manifest(const char *path) {
  std::map<std::string, ReplayEntry> table;
  std::ifstream in(path);
  std::string line;
  ReplayEntry *kernel = nullptr;
  while (std::getline(in, line)) {
    const std::vector<std::string> words = split(line);
    if (words.size() < 2) continue;
    if (words[0] == "object" && words.size() >= 3) {
      objects()[words[1]].id = words[1];
      objects()[words[1]].path = words[2];
    } else if (words[0] == "globals") {
      objects()[words[1]].variable_names.assign(words.begin() + 2, words.end());
    } else if (words[0] == "kernel") {
      kernel = &table[words[1]];
      kernel->mangled = words[1];
    } else if (kernel) {
      read_kernel_record(*kernel, words);
    }
  }
  for (auto &entry : table) entry.second.coverage.assign(entry.second.coverage_count, 0);
  return table;
}

/* Opens an object apart from all others, and finds the addresses of the original's variables for it. */
void open_object(Object &object) {
  object.loaded = true;
  object.handle = dlopen(object.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object.handle) {
    object.fault = dlerror();
    return;
  }
  for (const std::string &name : object.variable_names) {
    Allocation *found = find_variable(name);
    if (!found) object.fault = "the program has no variable " + name;
    object.variables.push_back(found ? found->base : nullptr);
  }
}
}  // namespace

std::map<std::string, ReplayEntry> &entries() {
  static std::map<std::string, ReplayEntry> table = read_manifest(std::getenv("TMIGRATE_REPLAY"));
  return table;
}

ReplayEntry *find_entry(const std::string &mangled) {
  auto found = entries().find(mangled);
  return found == entries().end() ? nullptr : &found->second;
}

tm_kernel load(Version &version, std::string *fault) {
  if (!version.object) return nullptr;
  Object &object = *version.object;
  if (!object.loaded) open_object(object);
  *fault = object.fault;
  if (!fault->empty()) return nullptr;
  auto found = (tm_kernel)load_symbol(object, version.symbol.c_str());
  if (!found) *fault = object.id + " has no symbol " + version.symbol;
  return found;
}

void *load_symbol(Object &object, const char *name) { return object.handle ? dlsym(object.handle, name) : nullptr; }

}  // namespace tm_oracle
