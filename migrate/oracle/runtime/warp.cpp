/* Warp operations: lanes wait in groups until all that the mask names have come. */
#include <cstring>

#include "scheduler.h"

namespace tm_oracle {
namespace {

Thread *lane_thread(unsigned w, int lane) { return &the_block.threads[w * 32 + lane]; }

/* The lane that a shuffle reads; the lane itself where the source lies outside its segment. */
int source_lane(const Thread &t, int lane) {
  const int width = t.width, base = lane & ~(width - 1);
  int source;
  switch (t.kind) {
    case SHUFFLE_INDEX: return base + (int)(t.operand & (unsigned)(width - 1));
    case SHUFFLE_UP: source = lane - (int)t.operand; return t.operand > 31 || source < base ? lane : source;
    case SHUFFLE_DOWN: source = lane + (int)t.operand; return t.operand > 31 || source >= base + width ? lane : source;
    default: source = lane ^ (int)t.operand; return t.operand > 31 || source >= base + width ? lane : source;
  }
}

void complete_shuffle(unsigned w, uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    Thread *t = lane_thread(w, lane);
    int source = source_lane(*t, lane);
    if (!(lanes >> source & 1)) {
      Place place = here(t->site);
      place.thread = t->index;
      report("lane", "a shuffle reads lane " + std::to_string(source) + ", which takes no part in it", place);
      source = lane;
    }
    std::memcpy(t->out, lane_thread(w, source)->in, t->size);
  }
}

uint32_t lanes_with(unsigned w, uint32_t lanes, const Thread &value) {
  uint32_t same = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (std::memcmp(lane_thread(w, lane)->in, value.in, value.size) == 0) same |= 1u << lane;
  }
  return same;
}

unsigned reduce_two(int kind, unsigned a, unsigned b) {
  switch (kind) {
    case 0: case 8: return a + b;
    case 1: return a < b ? a : b;
    case 2: return a > b ? a : b;
    case 3: return a & b;
    case 4: return a | b;
    case 5: return a ^ b;
    case 9: return (int)a < (int)b ? a : b;
    default: return (int)a > (int)b ? a : b;
  }
}

void complete_vote(unsigned w, uint32_t lanes, int kind) {
  uint32_t votes = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (lane_thread(w, lane)->operand) votes |= 1u << lane;
  }
  unsigned result = votes;
  if (kind == ANY) result = votes != 0;
  if (kind == ALL) result = votes == lanes;
  if (kind == UNIFORM) result = votes == lanes || votes == 0;
  if (kind == SYNC || kind == ACTIVE) result = lanes;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) lane_thread(w, __builtin_ctz(rest))->result = result;
}

void complete_reduce(unsigned w, uint32_t lanes) {
  const Thread *first = lane_thread(w, __builtin_ctz(lanes));
  unsigned result = first->operand;
  for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1)
    result = reduce_two(first->width, result, lane_thread(w, __builtin_ctz(rest))->operand);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) lane_thread(w, __builtin_ctz(rest))->result = result;
}

void complete(unsigned w, const Group &group) {
  const uint32_t lanes = group.arrived;
  switch (group.kind) {
    case SHUFFLE_INDEX: case SHUFFLE_UP: case SHUFFLE_DOWN: case SHUFFLE_XOR: complete_shuffle(w, lanes); break;
    case MATCH_ANY: case MATCH_ALL:
      for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        Thread *t = lane_thread(w, __builtin_ctz(rest));
        const uint32_t same = lanes_with(w, lanes, *t);
        t->result = group.kind == MATCH_ANY ? same : same == lanes ? lanes : 0;
      }
      break;
    case REDUCE: complete_reduce(w, lanes); break;
    default: complete_vote(w, lanes, group.kind);
  }
  checker::warp_sync(lanes, w);
  make_ready(w, lanes);
}

void finish_group(unsigned w, int index) {
  Warp &warp = the_block.warps[w];
  const Group group = warp.groups[index];
  warp.groups[index] = warp.groups[--warp.group_count];
  complete(w, group);
}

int find_group(Warp &warp, uint32_t mask, int kind, const void *site) {
  for (int i = 0; i < warp.group_count; ++i) {
    const Group &g = warp.groups[i];
    if (g.mask == mask && (mask != 0 || (g.kind == kind && g.site == site))) return i;
  }
  warp.groups[warp.group_count] = Group{mask, 0, kind, site};
  return warp.group_count++;
}

/* The running lane joins an operation and waits for its result. */
unsigned join(uint32_t mask, bool masked, int kind, const void *site) {
  Thread *t = the_thread;
  const unsigned w = t->linear / 32;
  Warp &warp = the_block.warps[w];
  const uint32_t self = 1u << (t->linear & 31);
  t->site = site;
  t->kind = kind;
  the_block.yields = 0;
  if (masked && !(mask & self)) {
    report("mask", "a lane calls a warp operation whose mask does not name it", here(site));
    mask |= self;
  }
  const int index = find_group(warp, masked ? mask : 0, kind, site);
  Group &group = warp.groups[index];
  if (group.kind != kind) report("mask", "lanes of one mask call different warp operations", here(site));
  group.arrived |= self;
  if (masked && (group.arrived | warp.exited) >= mask && ((group.arrived | warp.exited) & mask) == mask) {
    finish_group(w, index);
    warp.ready &= ~self; /* this lane goes on at once */
    return t->result;
  }
  suspend();
  return t->result;
}
}  // namespace

bool complete_groups(unsigned w) {
  Warp &warp = the_block.warps[w];
  for (int i = 0; i < warp.group_count; ++i) {
    const Group &g = warp.groups[i];
    if (g.mask && ((g.arrived | warp.exited) & g.mask) == g.mask) {
      finish_group(w, i);
      return true;
    }
  }
  return false;
}

bool force_group(unsigned w, bool with_mask) {
  Warp &warp = the_block.warps[w];
  for (int i = 0; i < warp.group_count; ++i) {
    const Group &g = warp.groups[i];
    if ((g.mask != 0) != with_mask) continue;
    if (with_mask) {
      Place place = here(g.site);
      place.thread = the_block.threads[w * 32 + __builtin_ctz(g.arrived)].index;
      report("mask", "a warp operation's mask names lanes that do not take part in it", place);
    }
    finish_group(w, i);
    return true;
  }
  return false;
}

}  // namespace tm_oracle

using namespace tm_oracle;

extern "C" {
void tm_shuffle(unsigned mask, int kind, unsigned operand, int width, const void *in, void *out, size_t size,
                const void *site) {
  if (!in_device()) return (void)std::memcpy(out, in, size);
  Thread *t = the_thread;
  if (width < 1 || width > 32 || (width & (width - 1))) {
    report("lane", "a shuffle's width, " + std::to_string(width) + ", is no power of two up to 32", here(site));
    width = 32;
  }
  t->operand = operand;
  t->width = width;
  t->in = in;
  t->out = out;
  t->size = size;
  join(mask, mask != 0, kind, site);
}
unsigned tm_vote(unsigned mask, int kind, int predicate, const void *site) {
  if (!in_device()) return predicate != 0;
  the_thread->operand = predicate != 0;
  return join(mask, mask != 0, BALLOT + kind, site);
}
unsigned tm_match(unsigned mask, int all, const void *value, size_t size, int *predicate, const void *site) {
  the_thread->in = value;
  the_thread->size = size;
  const unsigned result = join(mask, true, all ? MATCH_ALL : MATCH_ANY, site);
  *predicate = result != 0;
  return result;
}
unsigned tm_reduce(unsigned mask, int kind, unsigned value, const void *site) {
  the_thread->operand = value;
  the_thread->width = kind;
  return join(mask, true, REDUCE, site);
}
void __syncwarp(unsigned mask) {
  if (in_device()) join(mask, true, SYNC, __builtin_return_address(0));
}
unsigned __activemask(void) { return in_device() ? join(0, false, ACTIVE, __builtin_return_address(0)) : 1; }
}
