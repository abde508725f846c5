/* Replay: what happens at each launch, and the report about it (REPLAY.md). */
#include "replay.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace tm_oracle {

namespace {
using Clock = std::chrono::steady_clock;
const Clock::time_point process_start = Clock::now();

double environment_number(const char *name, double otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atof(text) : otherwise;
}

double seconds_left() {
  static const double limit = environment_number("TMIGRATE_REPLAY_SECONDS", 1e18);
  return limit - std::chrono::duration<double>(Clock::now() - process_start).count();
}

int schedule_count() {
  static const int count = (int)environment_number("TMIGRATE_REPLAY_SCHEDULES", 3);
  return std::max(1, std::min(count, 3));
}

/* ---- the report ---- */

void write_line(const std::string &line) {
  static FILE *out = [] {
    const char *path = std::getenv("TMIGRATE_REPLAY_REPORT");
    return path ? std::fopen(path, "a") : nullptr;
  }();
  if (!out) return;
  const std::string text = line + "\n";
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

std::string sizes(const dim3 &d) {
  return "[" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + "]";
}

std::string number(double value) {
  if (!(value == value)) return "\"nan\"";
  if (value > 1e300 || value < -1e300) return value > 0 ? "\"inf\"" : "\"-inf\"";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string hexadecimal(const unsigned char *bytes, size_t count) {
  std::string text = "\"";
  char digits[3];
  for (size_t k = 0; k < count; ++k) std::snprintf(digits, sizeof digits, "%02x", bytes[k]), text += digits;
  return text + "\"";
}

void begin(const ReplayEntry &entry, const char *step) {
  write_line("{\"event\": \"begin\", \"kernel\": " + json_text(entry.mangled) +
             ", \"ordinal\": " + std::to_string(entry.launches) + ", \"step\": \"" + step + "\"}");
}

void skip(ReplayEntry &entry, const char *reason) {
  if (entry.skips[reason]) return;
  entry.skips[reason] = true;
  write_line("{\"event\": \"skip\", \"kernel\": " + json_text(entry.mangled) +
             ", \"ordinal\": " + std::to_string(entry.launches) + ", \"reason\": \"" + reason + "\"}");
}

/* One line per kernel met; variations append to what the first process wrote. */
void write_coverage(const ReplayEntry &entry) {
  std::string bits;
  for (unsigned char byte : entry.coverage) bits += byte ? '1' : '0';
  write_line("{\"event\": \"kernel\", \"kernel\": " + json_text(entry.mangled) +
             ", \"launches\": " + std::to_string(entry.launches) +
             ", \"compared\": " + std::to_string(entry.compared) + ", \"coverage\": \"" + bits + "\"}");
}

void write_summary() {
  for (auto &entry : entries())
    if (entry.second.launches) write_coverage(entry.second);
}

/* ---- running a converted version ---- */

struct Services {
  std::string printed;
  std::vector<std::string> reports; /* JSON objects */
};

int print_service(void *context, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  if (length > 0) {
    std::vector<char> text((size_t)length + 1);
    std::vsnprintf(text.data(), text.size(), format, again);
    static_cast<Services *>(context)->printed.append(text.data(), (size_t)length);
  }
  va_end(again);
  va_end(arguments);
  return length;
}

size_t extent_service(void *, const void *pointer) {
  const Allocation *found = find_allocation(pointer);
  return found ? (size_t)(found->base + found->size - (const unsigned char *)pointer) : SIZE_MAX;
}

void report_service(void *context, int kind, const char *message, const char *file, int line,
                    const uint32_t block[3], const uint32_t thread[3]) {
  auto &list = static_cast<Services *>(context)->reports;
  if (list.size() >= 16) return;
  auto triple = [](const uint32_t *v) {
    return v ? sizes(dim3(v[0], v[1], v[2])) : std::string("null");
  };
  list.push_back("{\"kind\": " + std::to_string(kind) + ", \"message\": " + json_text(message ? message : "") +
                 ", \"file\": " + json_text(file ? file : "") + ", \"line\": " + std::to_string(line) +
                 ", \"block\": " + triple(block) + ", \"thread\": " + triple(thread) + "}");
}

struct Run {
  tm_kernel function = nullptr;
  tm_launch launch{};
  void **arguments = nullptr;
  int result = 0;
};

void call(void *data) {
  auto *run = static_cast<Run *>(data);
  run->result = run->function(&run->launch, run->arguments);
}

/* How a version ended: "" where it ran through. */
struct Ending {
  std::string verdict, detail;
  Services services;
};

Ending run_version(Version &version, const Launch &launch, void **arguments, unsigned char *coverage) {
  Ending ending;
  std::string fault;
  Run run;
  run.function = load(version, &fault);
  if (!run.function) {
    ending.verdict = "missing";
    ending.detail = ", \"reason\": " + json_text(fault);
    return ending;
  }
  const tm_services services = {&ending.services, print_service, extent_service, nullptr, report_service};
  run.launch = {{launch.grid.x, launch.grid.y, launch.grid.z},
                {launch.block.x, launch.block.y, launch.block.z},
                launch.shared,
                version.object->variables.data(),
                coverage,
                &services};
  run.arguments = arguments;
  void *address = nullptr;
  const int signal = guarded(call, &run, &address);
  if (signal) {
    char text[64];
    std::snprintf(text, sizeof text, ", \"signal\": %d, \"address\": \"%p\"", signal, address);
    ending.verdict = "crashed";
    ending.detail = text;
  } else if (run.result == TM_ASSUMPTION_FAILED) {
    ending.verdict = "assumption";
  } else if (run.result == TM_TRAPPED) {
    ending.verdict = "trapped";
  }
  return ending;
}

/* The same lines, perhaps in another order (blocks have none). */
const char *printed_verdict(const std::string &a, const std::string &b) {
  if (a == b) return "equal";
  auto lines = [](const std::string &text) {
    std::vector<std::string> list;
    std::string line;
    std::istringstream in(text);
    while (std::getline(in, line)) list.push_back(line);
    std::sort(list.begin(), list.end());
    return list;
  };
  return lines(a) == lines(b) ? "reordered" : "differs";
}

std::string reports_text(const Services &services) {
  std::string text = ", \"reports\": [";
  for (size_t i = 0; i < services.reports.size(); ++i) text += (i ? ", " : "") + services.reports[i];
  return text + "]";
}

std::string mismatch_text(const Comparison &c) {
  const Allocation &a = *c.allocation;
  std::string text = ", \"mismatch\": {\"allocation\": ";
  text += a.kind == VARIABLE ? json_text(a.name) : std::to_string(a.number);
  text += ", \"kind\": \"" + std::string(kind_name(a.kind)) + "\", \"offset\": " + std::to_string(c.offset) +
          ", \"size\": " + std::to_string(a.size) + ", \"expected\": " + hexadecimal(c.expected, c.width) +
          ", \"actual\": " + hexadecimal(c.actual, c.width) + ", \"bytes\": " + std::to_string(c.bytes);
  if (c.is_float)
    text += ", \"expected_value\": " + number(c.expected_value) + ", \"actual_value\": " + number(c.actual_value) +
            ", \"allowance\": " + number(c.allowance);
  return text + "}";
}

std::string step_text(const char *verdict, const char *printed, const std::string &rest) {
  return "{\"verdict\": \"" + std::string(verdict) + "\", \"printed\": \"" + printed + "\"" + rest + "}";
}

std::string ended_early(const Ending &ending) {
  return step_text(ending.verdict.c_str(), "equal", ending.detail + reports_text(ending.services));
}

/* ---- one launch ---- */

struct Comparing {
  const Launch &launch;
  ReplayEntry &entry;
  Snapshot before, after;
  Mask mask;
  std::string printed;
  std::string thread = "null", lifted = "null", integers = "null";
  size_t schedule_bytes = 0;
  int schedules = 1;
  bool thread_agrees = false;
  std::vector<void *> arguments;

  Comparing(const Launch &l, ReplayEntry &e) : launch(l), entry(e) {
    arguments.assign(l.kernel->arguments, l.kernel->arguments + l.kernel->count);
    arguments.push_back(nullptr);
  }
  bool run_original();
  void run_schedules();
  void run_thread();
  void run_lifted();
  void run_integers(const ShadowMap &shadow);
};

bool Comparing::run_original() {
  before = take_snapshot();
  begin(entry, "original");
  captured_output = &printed;
  const bool ended_well = emulate(launch, 0);
  captured_output = nullptr;
  check_all_padding("after the launch");
  after = take_snapshot();
  return ended_well;
}

/* Bytes on which other orders of blocks and threads disagree are nobody's to compare. */
void Comparing::run_schedules() {
  for (int seed = 1; seed < schedule_count() && seconds_left() > 0; ++seed) {
    restore(before);
    begin(entry, "schedule");
    std::string ignored;
    captured_output = &ignored;
    emulate(launch, (unsigned)seed);
    captured_output = nullptr;
    schedule_bytes += mark_differences(after, mask);
    ++schedules;
  }
}

void Comparing::run_thread() {
  restore(before);
  begin(entry, "thread");
  std::vector<unsigned char> passed(entry.coverage.size());
  Ending ending = run_version(entry.thread, launch, arguments.data(), passed.empty() ? nullptr : passed.data());
  if (!ending.verdict.empty()) {
    thread = ended_early(ending);
    return;
  }
  const Comparison found = compare(after, mask, nullptr);
  const char *lines = printed_verdict(printed, ending.services.printed);
  thread_agrees = found.agrees && std::strcmp(lines, "differs") != 0;
  thread = step_text(found.agrees ? "equal" : "differs", lines,
                     (found.agrees ? "" : mismatch_text(found)) + reports_text(ending.services));
  if (!thread_agrees) return;
  ++entry.compared;
  for (size_t i = 0; i < passed.size(); ++i) entry.coverage[i] |= passed[i];
}

/* The shadow of a launch: which floats it stored, with what error. */
bool run_shadow(Comparing &c, ShadowMap &map, void **arguments) {
  std::string fault;
  if (!load(c.entry.shadow, &fault)) return false;
  static tm_shadow_memory services;
  services = shadow_services(map);
  using Setter = void (*)(const tm_shadow_memory *);
  auto set = (Setter)load_symbol(*c.entry.shadow.object, "tm_set_shadow_memory");
  if (!set) return false;
  set(&services);
  begin(c.entry, "shadow");
  return run_version(c.entry.shadow, c.launch, arguments, nullptr).verdict.empty();
}

void Comparing::run_lifted() {
  if (!entry.lifted.object) return;
  restore(before);
  ShadowMap map;
  const bool shadowed = run_shadow(*this, map, arguments.data());
  restore(before);
  begin(entry, "lifted");
  Ending ending = run_version(entry.lifted, launch, arguments.data(), nullptr);
  if (!ending.verdict.empty()) {
    lifted = ended_early(ending);
    return;
  }
  const Comparison found = compare(after, mask, shadowed ? &map : nullptr);
  const char *lines = printed_verdict(printed, ending.services.printed);
  std::string rest = found.agrees ? "" : mismatch_text(found);
  rest += ", \"max_ulp\": " + number(found.max_ulp) + ", \"max_error_ratio\": " + number(found.max_ratio) +
          ", \"floats\": " + std::to_string(found.floats) + ", \"exact_bytes\": " + std::to_string(found.exact_bytes);
  rest += ", \"unstable\": [";
  for (size_t i = 0; i < map.unstable.size(); ++i) rest += (i ? ", " : "") + map.unstable[i];
  rest += "]" + reports_text(ending.services);
  lifted = step_text(found.equal ? "equal" : found.agrees ? "within" : "differs", lines, rest);
  entry.lift_compared = true;
  if (found.agrees && entry.integers && shadowed) run_integers(map);
}

void put_float(void *address, int bytes, int value) {
  if (bytes == 8) {
    const double wide = value;
    std::memcpy(address, &wide, 8);
  } else if (bytes == 4) {
    const float single = (float)value;
    std::memcpy(address, &single, 4);
  }
}

/* A small integer for a place: the same one whenever asked, between -3 and 3. */
int small_integer(size_t key) {
  uint64_t x = key * 0x9e3779b97f4a7c15ull + 0x1234567;
  x ^= x >> 29, x *= 0xbf58476d1ce4e5b9ull, x ^= x >> 32;
  return (int)(x % 7) - 3;
}

/* The float inputs replaced by small integers: sums are exact in any order, so every bit must agree. */
void Comparing::run_integers(const ShadowMap &shadow) {
  restore(before);
  for (const auto &input : shadow.loaded)
    put_float(const_cast<void *>(input.first), input.second, small_integer((size_t)input.first / 2));
  const Snapshot start = take_snapshot();
  std::vector<double> scalars(entry.parameters.size());
  std::vector<void *> replaced = arguments;
  for (size_t i = 0; i < entry.parameters.size() && i + 1 < replaced.size(); ++i) {
    const int bytes = entry.parameters[i] == "f64" ? 8 : entry.parameters[i] == "f32" ? 4 : 0;
    if (!bytes) continue;
    put_float(&scalars[i], bytes, 1 + (int)(i % 3));
    replaced[i] = &scalars[i];
  }
  begin(entry, "integers");
  if (!run_version(entry.thread, launch, replaced.data(), nullptr).verdict.empty()) return;
  const Snapshot expected = take_snapshot();
  restore(start);
  Ending ending = run_version(entry.lifted, launch, replaced.data(), nullptr);
  if (!ending.verdict.empty()) {
    integers = ended_early(ending);
    return;
  }
  const Comparison found = compare(expected, mask, nullptr);
  if (found.agrees) {
    integers = step_text("equal", "equal", "");
    return;
  }
  restore(start);
  ShadowMap map;
  bool exact = run_shadow(*this, map, replaced.data());
  for (const auto &cell : map.stored)
    exact = exact && cell.second.value.magnitude < (cell.second.bytes == 8 ? 9.0e15 : 1.6e7);
  integers = step_text(exact ? "differs" : "inexact", "equal", mismatch_text(found));
}

/* Compares one launch, writes its line, and leaves memory as the original left it. */
void compare_launch(const Launch &launch, ReplayEntry &entry, const char *variation) {
  Comparing c(launch, entry);
  const unsigned reports_before = report_count();
  const bool ended_well = c.run_original();
  const unsigned violations = report_count() - reports_before;
  if (!*variation) std::fwrite(c.printed.data(), 1, c.printed.size(), stdout);
  if (ended_well && violations == 0) {
    if (entry.thread.object) c.run_schedules();
    if (entry.thread.object) c.run_thread();
    if (c.thread_agrees) c.run_lifted();
    restore(c.after);
  }
  std::string line = "{\"event\": \"launch\", \"kernel\": " + json_text(entry.mangled) +
                     ", \"ordinal\": " + std::to_string(entry.launches) + ", \"grid\": " + sizes(launch.grid) +
                     ", \"block\": " + sizes(launch.block) + ", \"shared\": " + std::to_string(launch.shared) +
                     ", \"original\": \"" + (ended_well ? "ok" : "failed") +
                     "\", \"violations\": " + std::to_string(violations) +
                     ", \"schedule_bytes\": " + std::to_string(c.schedule_bytes) +
                     ", \"schedules\": " + std::to_string(c.schedules) +
                     ", \"changed_bytes\": " + std::to_string(differing_bytes(c.before, c.after)) +
                     ", \"thread\": " + c.thread + ", \"lifted\": " + c.lifted + ", \"integers\": " + c.integers;
  if (*variation) line += ", \"variation\": \"" + std::string(variation) + "\"";
  write_line(line + "}");
}

/* ---- variations: launches that the program might have made ---- */

/* One more block along every axis in use, so that guards see both sides. */
dim3 ragged_grid(const Launch &l) {
  auto more = [](unsigned grid, unsigned block, bool first) { return grid > 1 || block > 1 || first ? grid + 1 : grid; };
  return dim3(more(l.grid.x, l.block.x, true), more(l.grid.y, l.block.y, false), more(l.grid.z, l.block.z, false));
}

/* A grid that covers the longest axis along every axis in use: for grids that were sized for a square. */
dim3 covering_grid(const Launch &l) {
  const unsigned longest = std::max({l.grid.x * l.block.x, l.grid.y * l.block.y, l.grid.z * l.block.z});
  auto cover = [&](unsigned grid, unsigned block) {
    return grid > 1 || block > 1 ? std::max(grid, (longest + block - 1) / block) : grid;
  };
  return dim3(cover(l.grid.x, l.block.x), cover(l.grid.y, l.block.y), cover(l.grid.z, l.block.z));
}

bool same(const dim3 &a, const dim3 &b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* In a child process, from the memory before the launch: nothing that happens there reaches the program. */
void vary(const Launch &launch, ReplayEntry &entry, const Snapshot &before) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return;
  if (child > 0) {
    int status;
    waitpid(child, &status, 0);
    return;
  }
  alarm((unsigned)std::min(20.0, std::max(1.0, seconds_left())));
  std::signal(SIGALRM, SIG_DFL);
  const std::pair<const char *, dim3> grids[] = {{"ragged grid", ragged_grid(launch)},
                                                 {"covering grid", covering_grid(launch)}};
  for (const auto &choice : grids) {
    if (same(choice.second, launch.grid) || (uint64_t)choice.second.x * choice.second.y * choice.second.z > 100000)
      continue;
    restore(before);
    Launch other = launch;
    other.grid = choice.second;
    compare_launch(other, entry, choice.first);
  }
  write_coverage(entry);
  _exit(0);
}

bool sampled(ReplayEntry &entry, const Launch &launch) {
  const std::string key = sizes(launch.grid) + sizes(launch.block) + std::to_string(launch.shared);
  const unsigned long seen = entry.configurations[key]++;
  return seen < 3 || (seen & (seen - 1)) == 0;
}
}  // namespace

bool replay_wanted() {
  static const bool wanted = std::getenv("TMIGRATE_REPLAY") != nullptr;
  return wanted;
}

void replay(const Launch &launch) {
  static const bool registered = std::atexit(write_summary) == 0;
  (void)registered;
  ReplayEntry *entry = find_entry(launch.name);
  if (!entry) {
    static std::map<std::string, ReplayEntry> unlisted;
    unlisted[launch.name].mangled = launch.name;
    skip(unlisted[launch.name], "unlisted");
    emulate(launch, 0);
    return;
  }
  const bool wanted = sampled(*entry, launch);
  if (!wanted || seconds_left() <= 0) {
    skip(*entry, wanted ? "budget" : "sampling");
    emulate(launch, 0);
  } else {
    const bool varies = entry->varied < 2 && entry->thread.object;
    Snapshot before;
    if (varies) before = take_snapshot();
    compare_launch(launch, *entry, "");
    if (varies && seconds_left() > 0) {
      ++entry->varied;
      vary(launch, *entry, before);
    }
  }
  ++entry->launches;
}

void dispatch(const Launch &launch) {
  if (replay_wanted()) return replay(launch);
  static const unsigned seed = (unsigned)environment_number("TMIGRATE_SCHEDULE", 0);
  emulate(launch, seed);
}

}  // namespace tm_oracle
