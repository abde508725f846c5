/* Replay: at a launch, the original and its converted versions run from the same memory and are compared.
 * The files in and out are described in REPLAY.md. */
#include <signal.h>
#include <sys/time.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "compare.h"
#include "variations.h"

namespace tm_oracle {

namespace {
struct Replay {
  bool active = false;
  Manifest manifest;
  FILE *report = nullptr;
  double seconds = INFINITY;
  unsigned schedules = 3;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

void line(const std::string &text);
void finish();

Replay &replay() {
  static Replay *state = [] {
    auto *made = new Replay;
    const char *manifest = std::getenv("TMIGRATE_REPLAY"), *report = std::getenv("TMIGRATE_REPLAY_REPORT");
    if (!manifest) return made;
    made->active = true;
    made->report = report ? std::fopen(report, "a") : nullptr;
    if (const char *text = std::getenv("TMIGRATE_REPLAY_SECONDS")) made->seconds = std::atof(text);
    if (const char *text = std::getenv("TMIGRATE_REPLAY_SCHEDULES"))
      made->schedules = (unsigned)std::min(3, std::max(1, std::atoi(text)));
    made->manifest = read_manifest(manifest);
    std::atexit(finish);
    return made;
  }();
  return *state;
}

/* Seconds since the program began, and how many of its budget are left. */
double age() { return std::chrono::duration<double>(std::chrono::steady_clock::now() - replay().start).count(); }
double time_left() { return std::isfinite(replay().seconds) ? replay().seconds - age() : 60; }

void line(const std::string &text) {
  if (!replay().report) return;
  std::fprintf(replay().report, "%s\n", text.c_str());
  std::fflush(replay().report);
}

std::string coverage_text(const Entry_of_kernel &entry) {
  std::string text;
  for (unsigned char passed : entry.coverage) text += passed ? '1' : '0';
  return text;
}

void finish() {
  for (auto &pair : replay().manifest.kernels) {
    const Entry_of_kernel &entry = pair.second;
    if (entry.launches)
      line("{\"event\": \"kernel\", \"kernel\": " + json_text(entry.name) + ", \"launches\": " +
           std::to_string(entry.launches) + ", \"compared\": " + std::to_string(entry.compared) +
           ", \"coverage\": \"" + coverage_text(entry) + "\"}");
  }
}

std::string triple(dim3 v) {
  return "[" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + "]";
}

void skip(Entry_of_kernel *entry, const std::string &name, const char *reason) {
  static std::set<std::string> unlisted;
  if (!(entry ? entry->skipped.insert(reason) : unlisted.insert(name)).second) return;
  line("{\"event\": \"skip\", \"kernel\": " + json_text(name) + ", \"ordinal\": " +
       std::to_string(entry ? entry->launches - 1 : 0) + ", \"reason\": \"" + reason + "\"}");
}

/* The first three launches of a configuration, then those numbered by powers of two. */
bool sampled(Entry_of_kernel &entry, const Launch &launch, bool *first) {
  const unsigned number = ++entry.configurations[triple(launch.grid) + triple(launch.block) + std::to_string(launch.shared)];
  *first = number == 1;
  return number <= 3 || (number & (number - 1)) == 0;
}

/* About how many times what the original takes its shadow takes: smaller launches are due first where time is short. */
constexpr double shadow_cost = 100;

constexpr unsigned more_schedules = 6;

/* One comparison in progress. */
class Comparison {
 public:
  /* `thorough`: the first launch of its configuration, on which step (a) is also run backwards, and watched.
   * `doubtful`: it counts for nothing where the original may read outside of its arrays. */
  Comparison(Entry_of_kernel &entry, const Launch &launch, bool thorough, const char *variation = "",
             bool doubtful = false)
      : entry(entry), launch(launch), before(Snapshot::take()), thorough(thorough), variation(variation),
        doubtful(doubtful) {}

  const Snapshot &start() const { return before; }

  void run() {
    begin("original");
    const unsigned reports_before = report_count();
    captured_output = &printed;
    const std::clock_t began = std::clock();
    barriers = barriers_passed;
    const bool ended = emulate(launch, 0);
    barriers = barriers_passed - barriers;
    seconds = (double)(std::clock() - began) / CLOCKS_PER_SEC;
    const double share = !*variation ? 2 : entry.lift_compared ? 4 : 1.4; /* a lift is due one comparison */
    if (shadow_cost * seconds > time_left() / share) entry.slow = std::min(entry.slow, seconds);
    captured_output = nullptr;
    if (!*variation) std::fputs(printed.c_str(), stdout);
    violations = report_count() - reports_before;
    after = Snapshot::take();
    if (doubtful && (!ended || violations || !stays_inside())) return;
    changed = count_changes(before);
    std::string text = ", \"original\": \"" + std::string(ended ? "ok" : "failed") + "\", \"violations\": " +
                       std::to_string(violations) + ", \"changed_bytes\": " + std::to_string(changed);
    std::string thread = "null", lifted = "null", integers = "null";
    if (ended) {
      run_schedules();
      bool agrees = false;
      thread = run_thread(&agrees);
      const std::string backwards = agrees && thorough ? run_backwards() : "";
      if (!backwards.empty()) thread = backwards, agrees = false;
      if (agrees && entry.lifted.listed()) lifted = run_lifted();
      if (agrees && entry.lifted.listed() && entry.integers && inputs) integers = run_integers();
      after.restore();
      ++entry.compared;
    }
    line("{\"event\": \"launch\", \"kernel\": " + json_text(entry.name) + ", \"ordinal\": " +
         std::to_string(entry.launches - 1) + ", \"grid\": " + triple(launch.grid) + ", \"block\": " +
         triple(launch.block) + ", \"shared\": " + std::to_string(launch.shared) + text + ", \"schedules\": " +
         std::to_string(ended ? replay().schedules : 1) + ", \"schedule_bytes\": " + std::to_string(mask.count) +
         ", \"thread\": " + thread + ", \"lifted\": " + lifted + ", \"integers\": " + integers +
         (*variation ? ", \"variation\": \"" + std::string(variation) + "\"}" : "}"));
    if (entry.coverage_points)
      line("{\"event\": \"coverage\", \"kernel\": " + json_text(entry.name) + ", \"coverage\": \"" +
           coverage_text(entry) + "\"}");
  }

 private:
  Entry_of_kernel &entry;
  const Launch &launch;
  Snapshot before, after;
  const bool thorough;
  const char *variation;
  const bool doubtful;
  Mask mask;
  std::string printed;
  unsigned seeds = 0; /* of the schedules that the original was run under, so far */
  bool prints_vary = false; /* the original's lines depend on the schedule */
  unsigned long long barriers = 0; /* that the original's blocks passed */
  double seconds = 0; /* of the processor, for the original */
  size_t changed = 0; /* bytes, by the original */
  unsigned violations = 0; /* of the original */
  std::unique_ptr<ShadowMemory> inputs;

  struct Outcome {
    int result = TM_OK, signal = 0;
    void *address = nullptr;
    std::string fault, overrun;
    Call call;
  };

  void begin(const char *step) const {
    line("{\"event\": \"begin\", \"kernel\": " + json_text(entry.name) + ", \"ordinal\": " +
         std::to_string(entry.launches - 1) + ", \"step\": \"" + step + "\", \"at\": " + std::to_string(age()) + "}");
  }

  /* Whether the converted version, watched, keeps inside of arrays.  What it reads elsewhere the original may read as
   * well, unseen: emulation knows of writes beside an allocation, but not of reads, and nothing of shared arrays. */
  bool stays_inside() {
    before.restore();
    const Outcome o = call(entry.thread, launch.kernel->arguments, nullptr, 2 + 50 * seconds, TM_WATCH);
    return o.call.reports.empty();
  }

  void run_schedules() {
    while (++seeds < replay().schedules) run_schedule(seeds);
  }

  /* A mismatch counts only where `more_schedules` of the original agree: two threads may meet in one order in the
   * first three, and in the other only in a fourth.  The memory is afterwards as it was. */
  bool run_more_schedules() {
    const Snapshot found = Snapshot::take();
    bool ended = true;
    for (; ended && seeds < more_schedules; ++seeds) ended = run_schedule(seeds);
    found.restore();
    return ended;
  }

  /* The original under another schedule: what differs is left out of comparisons.  False where it ended early. */
  bool run_schedule(unsigned seed) {
    begin("schedule");
    before.restore();
    std::string lines;
    captured_output = &lines;
    const bool ended = emulate(launch, seed);
    captured_output = nullptr;
    mask.add_differences(after);
    prints_vary |= std::strcmp(compare_printed(printed, lines), "differs") == 0;
    return ended;
  }

  Outcome call(Version &version, void *const *arguments, unsigned char *coverage) const {
    return call(version, arguments, coverage, 2 + 50 * seconds);
  }

  /* At most `limit` seconds of the processor. */
  Outcome call(Version &version, void *const *arguments, unsigned char *coverage, double limit,
               unsigned modes = 0) const {
    Outcome outcome;
    outcome.fault = version.resolve();
    if (!outcome.fault.empty()) return outcome;
    struct Work {
      Version &version;
      const Launch &launch;
      void *const *arguments;
      unsigned char *coverage;
      unsigned modes;
      Outcome &outcome;
    } work{version, launch, arguments, coverage, modes, outcome};
    limit_time(limit);
    outcome.signal = guarded(
        [](void *data) {
          Work &w = *static_cast<Work *>(data);
          w.outcome.result = call_version(w.version, w.launch, w.arguments, w.coverage, w.outcome.call, w.modes);
        },
        &work, &outcome.address);
    limit_time(0);
    outcome.overrun = overrun();
    return outcome;
  }

  /* SIGVTALRM after so many seconds of the processor; 0: never. */
  static void limit_time(double seconds) {
    itimerval timer = {};
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - std::floor(seconds)) * 1e6);
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
  }

  /* What a converted version wrote beyond an allocation's end: no snapshot holds it, so it is looked for apart. */
  static std::string overrun() {
    std::string found;
    for (const Allocation *a : allocations()) {
      long offset;
      if (mend_padding(*a, &offset) && found.empty())
        found = "it wrote a byte at offset " + std::to_string(offset) + " of an allocation of " +
                std::to_string(a->size) + " bytes";
    }
    return found;
  }

  /* The verdict of a call that did not end normally; empty where it did. */
  static std::string failure(const Outcome &o) {
    if (!o.fault.empty()) return "\"verdict\": \"missing\", \"reason\": " + json_text(o.fault);
    if (o.signal == SIGVTALRM) return "\"verdict\": \"hangs\", \"reason\": \"it does not end where the original does\"";
    if (o.signal) {
      char address[32];
      std::snprintf(address, sizeof address, "%p", o.address);
      return "\"verdict\": \"crashed\", \"signal\": " + std::to_string(o.signal) + ", \"address\": \"" + address + "\"";
    }
    if (!o.overrun.empty()) return "\"verdict\": \"overran\", \"reason\": " + json_text(o.overrun);
    if (o.result == TM_ASSUMPTION_FAILED) return "\"verdict\": \"assumption\"";
    if (o.result != TM_OK) return "\"verdict\": \"trapped\"";
    return "";
  }

  static std::string reports_text(const Outcome &o) {
    std::string text = ", \"reports\": [";
    for (size_t i = 0; i < o.call.reports.size(); ++i) text += (i ? ", " : "") + o.call.reports[i];
    return text + "]}";
  }

  std::string run_thread(bool *agrees) {
    begin("thread");
    before.restore();
    const bool counts = violations == 0 && (!*variation || mask.count == 0);
    unsigned char *coverage = entry.coverage.empty() || !counts ? nullptr : entry.coverage.data();
    /* What full checking knows of the original are the program's own launches: others are not watched. */
    const bool watched = thorough && !*variation;
    /* Watched, each access may cost a search of the allocations. */
    const double limit = 2 + (watched ? 500 : 50) * seconds;
    Outcome o = call(entry.thread, launch.kernel->arguments, coverage, limit, watched ? TM_WATCH : 0);
    if (watched) compare_barriers(o);
    const std::string failed = failure(o);
    if (!failed.empty()) return "{" + failed + reports_text(o);
    Mismatch mismatch = compare_exactly(after, mask, FloatArrays(entry, launch));
    if (mismatch.found() && run_more_schedules()) mismatch = compare_exactly(after, mask, FloatArrays(entry, launch));
    const char *lines = compare_printed(printed, o.call.printed);
    *agrees = !mismatch.found() && std::strcmp(lines, "differs") != 0;
    std::string text = std::string("{\"verdict\": \"") + (*agrees ? "equal" : "differs") + "\", \"printed\": \"" + lines + "\"";
    if (mismatch.found()) text += ", \"mismatch\": " + mismatch_text(after, mismatch);
    return text + reports_text(o);
  }

  /* Step (a) with blocks and threads in descending order, by the same rules: a barrier that the conversion lost, or
   * two threads that it lets write one place, may show only then.  Empty where nothing contradicts; else the result.
   * That it waits or traps does not count: threads may wait for those that come earlier. */
  std::string run_backwards() {
    begin("thread");
    before.restore();
    Outcome o = call(entry.thread, launch.kernel->arguments, nullptr, 2 + 50 * seconds, TM_DESCENDING);
    const std::string failed = failure(o);
    if (o.signal == SIGVTALRM || (!o.signal && o.result != TM_OK)) return "";
    if (!failed.empty()) return "{" + failed + ", \"order\": \"descending\"" + reports_text(o);
    if (agrees_backwards(o)) return "";
    if (!run_more_schedules() || agrees_backwards(o)) return "";
    const Mismatch mismatch = compare_exactly(after, mask, FloatArrays(entry, launch));
    std::string text = "{\"verdict\": \"differs\", \"order\": \"descending\"";
    text += ", \"printed\": \"" + std::string(prints_vary ? "equal" : compare_printed(printed, o.call.printed)) + "\"";
    if (mismatch.found()) text += ", \"mismatch\": " + mismatch_text(after, mismatch);
    return text + reports_text(o);
  }

  bool agrees_backwards(const Outcome &o) const {
    const bool prints = prints_vary || std::strcmp(compare_printed(printed, o.call.printed), "differs") != 0;
    return prints && !compare_exactly(after, mask, FloatArrays(entry, launch)).found();
  }

  /* A barrier may be missing without a trace in the results, as before a loop with barriers of its own. */
  void compare_barriers(Outcome &o) const {
    if (o.call.barriers == barriers) return;
    const std::string text = "blocks pass " + std::to_string(o.call.barriers) + " barriers, the original's " + std::to_string(barriers);
    o.call.reports.push_back("{\"kind\": " + std::to_string((int)TM_REPORT_BARRIER) + ", \"message\": " + json_text(text) +
                             ", \"file\": \"\", \"line\": 0, \"block\": [0, 0, 0], \"thread\": [0, 0, 0]}");
  }

  /* The lifted version first: where its assumptions fail there is nothing to judge, and its shadow costs far more. */
  std::string run_lifted() {
    begin("lifted");
    before.restore();
    Outcome o = call(entry.lifted, launch.kernel->arguments, nullptr);
    const std::string failed = failure(o);
    if (!failed.empty()) return "{" + failed + reports_text(o);
    auto shadows = std::make_unique<ShadowMemory>();
    if (entry.shadow.listed()) {
      const Snapshot result = Snapshot::take();
      const std::string fault = run_shadow(*shadows);
      if (!fault.empty()) return fault;
      result.restore();
    }
    bool agrees = false;
    const std::string text = shadows->judge(after, mask, &agrees);
    const char *lines = compare_printed(printed, o.call.printed);
    entry.lift_compared |= changed != 0;
    inputs = std::move(shadows);
    if (std::strcmp(lines, "differs") == 0)
      return "{\"verdict\": \"differs\", \"printed\": \"differs\"" + reports_text(o);
    return "{" + text + ", \"printed\": \"" + lines + "\"" + reports_text(o);
  }

  /* The thread-level version with shadows; what kept it from ending as the original did, empty where nothing did. */
  std::string run_shadow(ShadowMemory &shadows) {
    static const char *slow = "{\"step\": \"shadow\", \"verdict\": \"slow\", \"reason\": "
                              "\"time: its shadow takes longer than is left\", \"reports\": []}";
    if (seconds >= entry.slow) return slow;
    begin("shadow");
    before.restore();
    const std::string fault = entry.shadow.resolve();
    if (!fault.empty()) return "{\"verdict\": \"missing\", \"reason\": " + json_text(fault) + ", \"reports\": []}";
    shadows.attach(*entry.shadow.object);
    Outcome shadow = call(entry.shadow, launch.kernel->arguments, nullptr, std::max(2 + 50 * seconds, time_left() / 2));
    if (shadow.signal == SIGVTALRM) return entry.slow = seconds, slow;
    const std::string failed = failure(shadow);
    if (!failed.empty()) return "{\"step\": \"shadow\", " + failed + reports_text(shadow);
    const Mismatch mismatch = compare_exactly(after, mask, FloatArrays(entry, launch));
    if (!mismatch.found()) return "";
    return "{\"step\": \"shadow\", \"verdict\": \"differs\", \"mismatch\": " + mismatch_text(after, mismatch) +
           reports_text(shadow);
  }

  /* Both versions on small integers, where every order of additions gives the same bits. */
  std::string run_integers() {
    begin("integers");
    std::vector<void *> arguments(launch.kernel->arguments, launch.kernel->arguments + launch.kernel->count);
    std::vector<double> scalars(arguments.size());
    for (size_t i = 0; i < arguments.size() && i < entry.parameters.size(); ++i) {
      const std::string &kind = entry.parameters[i];
      const float value = small_integer(i + 1000);
      if (kind == "f32") std::memcpy(&scalars[i], &value, 4);
      else if (kind == "f64") scalars[i] = value;
      else continue;
      arguments[i] = &scalars[i];
    }
    before.restore();
    if (!inputs->write_integers()) return "null";
    const Snapshot start = Snapshot::take();
    Outcome thread = call(entry.thread, arguments.data(), nullptr);
    std::string failed = failure(thread);
    if (!failed.empty()) return "{\"step\": \"thread\", " + failed + reports_text(thread);
    const Snapshot expected = Snapshot::take();
    start.restore();
    Outcome lifted = call(entry.lifted, arguments.data(), nullptr);
    failed = failure(lifted);
    if (!failed.empty()) return "{" + failed + reports_text(lifted);
    const Mismatch mismatch = compare_exactly(expected, mask, FloatArrays(entry, launch));
    if (!mismatch.found()) return "{\"verdict\": \"equal\"" + reports_text(lifted);
    const bool large = left_exact_range(expected, mismatch);
    return std::string("{\"verdict\": \"") + (large ? "inexact" : "differs") + "\", \"mismatch\": " +
           mismatch_text(expected, mismatch) + reports_text(lifted);
  }

  /* Whether the float at the mismatch is too large for integers of its format to be exact. */
  static bool left_exact_range(const Snapshot &expected, const Mismatch &m) {
    const Allocation &a = expected.allocation(m.part);
    const size_t narrow = m.offset / 4 * 4, wide = m.offset / 8 * 8;
    float f = 0;
    double d = 0;
    if (narrow + 4 <= a.size) std::memcpy(&f, expected.bytes(m.part) + narrow, 4);
    if (wide + 8 <= a.size) std::memcpy(&d, expected.bytes(m.part) + wide, 8);
    const bool is_float = std::fabs(f) < 1e30f && std::fabs(f) >= 16777216.0f && f == std::rint(f);
    const bool is_double = std::fabs(d) < 1e60 && std::fabs(d) >= 9007199254740992.0 && d == std::rint(d);
    return is_float || is_double;
  }
};
}  // namespace

/* In a child: compares the variation that the kernel was entered again with, then begins the next one. */
static bool dispatch_variation(const Launch &launch) {
  Variations &variations = *current_variations;
  Launch varied = launch;
  varied.grid = variations.grid(launch);
  varied.block = variations.block(launch);
  Comparison(variations.entry(), varied, variations.is_thorough(), variations.name(),
             variations.is_doubtful()).run();
  if (variations.next()) return true;
  _exit(0);
}

/* The original's launch, the comparison, and in a child what else the launch might have been. */
static bool compare(Entry_of_kernel &entry, const Launch &launch, bool thorough) {
  const auto began = std::chrono::steady_clock::now();
  Comparison comparison(entry, launch, thorough);
  comparison.run();
  if (entry.varied >= 2) return false;
  ++entry.varied;
  const bool cheap = std::chrono::steady_clock::now() - began < std::chrono::milliseconds(300);
  const double left = replay().seconds - age();
  if (left < 0) return false;
  const bool in_child = begin_variations(entry, launch, comparison.start(), left, cheap);
  if (!in_child)
    line("{\"event\": \"varied\", \"kernel\": " + json_text(entry.name) + "}");
  return in_child;
}

bool dispatch(const Launch &launch) {
  if (current_variations) return dispatch_variation(launch);
  Replay &state = replay();
  if (!state.active) {
    static const char *text = std::getenv("TMIGRATE_SCHEDULE");
    emulate(launch, text ? (unsigned)std::atoi(text) : 0);
    return false;
  }
  if (!state.manifest.fault.empty()) {
    line("{\"event\": \"error\", \"message\": " + json_text(state.manifest.fault) + "}");
    state.manifest.fault.clear();
  }
  Entry_of_kernel *found = find_kernel(state.manifest, launch);
  if (!found || !found->thread.listed()) {
    skip(nullptr, launch.name, "unlisted");
    emulate(launch, 0);
    return false;
  }
  Entry_of_kernel &entry = *found;
  if (!entry.original) entry.original = (const void *)launch.kernel->run;
  if (entry.original != (const void *)launch.kernel->run) {
    skip(nullptr, launch.name, "namesake");
    emulate(launch, 0);
    return false;
  }
  ++entry.launches;
  bool first = false;
  const char *reason = age() > state.seconds ? "budget" : !sampled(entry, launch, &first) ? "sampling" : nullptr;
  if (reason) {
    skip(&entry, launch.name, reason);
    emulate(launch, 0);
    return false;
  }
  return compare(entry, launch, first);
}

}  // namespace tm_oracle
