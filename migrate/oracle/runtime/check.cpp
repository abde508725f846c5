/* Check mode: what each access touches, by whom and when.
 *
 * The program is compiled with -fsanitize=thread; the calls that the compiler places (tsan_entries.h) come here.
 * Each granule of memory has a cell with its last writer and first reader since then:
 *
 *   RACE    two threads of one launch touch a granule, one writes, not both atomically, and nothing orders them:
 *           no barrier of their block, no warp operation that both took part in, and, across blocks, no fence and
 *           atomic by the first followed by an atomic of the second
 *   BOUNDS  the address lies in no allocation, shared variable or stack
 *   INIT    a load of bytes that nothing wrote
 */
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "scheduler.h"

extern "C" const char __start_tm_indices, __stop_tm_indices;

namespace tm_oracle {
namespace checker {

enum Access { READ, WRITE, ATOMIC };

namespace {
struct Mark {
  unsigned long long block; /* its serial number; 0: none */
  const void *site;
  uint32_t epoch, clock;
  uint16_t thread;
  bool atomic, several; /* several: other threads read too */
};
struct Cell {
  Mark write, read;
  uint8_t written; /* bytes of the granule that hold a value */
};

struct Region {
  unsigned char *begin, *end;
  const char *what;
  bool initialised;
  unsigned shift; /* granules of 4 bytes (2) or, after a narrow access, of one (0) */
  Cell *cells;
  size_t mapped;
  size_t granules() const { return ((size_t)(end - begin) >> shift) + 1; }
};

/* By address; made at first use, which is before this file's own initialisation. */
std::vector<Region *> &all_regions() {
  static auto *list = new std::vector<Region *>;
  return *list;
}
Region *recent = nullptr;
Region dynamic_region{nullptr, nullptr, "dynamic shared memory", false, 2, nullptr, 0};
unsigned long long first_block = 0;
const char *closure = nullptr; /* of the running kernel: each thread copies it from the host's stack */
size_t closure_size = 0;
uint32_t epoch = 1;
bool acquired = false;
std::unordered_map<unsigned long long, uint32_t> released; /* block -> epoch of its last fence and atomic */
bool fenced[1024];
uint32_t clocks[32][32][32]; /* warp, lane, other lane: the latest of its clocks that the lane knows */
bool clocks_used[32];

Cell *map_cells(size_t count, size_t *mapped) {
  *mapped = count * sizeof(Cell);
  void *got = mmap(nullptr, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    std::fprintf(stderr, "tmigrate: no memory to check an allocation\n");
    std::exit(125);
  }
  return (Cell *)got;
}

Region *make_region(void *begin, size_t size, const char *what, bool initialised) {
  auto *made = new Region{(unsigned char *)begin, (unsigned char *)begin + size, what, initialised, 2, nullptr, 0};
  made->cells = map_cells(made->granules(), &made->mapped);
  auto &regions = all_regions();
  regions.insert(std::upper_bound(regions.begin(), regions.end(), made,
                                  [](const Region *a, const Region *b) { return a->begin < b->begin; }), made);
  return made;
}

Region *find_region(const void *address) {
  const auto *p = (const unsigned char *)address;
  if (recent && p >= recent->begin && p < recent->end) return recent;
  if (p >= dynamic_region.begin && p < dynamic_region.end) return &dynamic_region;
  auto &regions = all_regions();
  auto after = std::upper_bound(regions.begin(), regions.end(), p,
                                [](const unsigned char *q, const Region *r) { return q < r->begin; });
  if (after == regions.begin()) return nullptr;
  Region *found = *(after - 1);
  return p < found->end ? recent = found : nullptr;
}

void clear(Region &r) { std::memset(r.cells, 0, r.granules() * sizeof(Cell)); }

/* From now on one cell per byte. */
void refine(Region &r) {
  size_t mapped;
  const size_t coarse = r.granules();
  Region fine = r;
  fine.shift = 0;
  fine.cells = map_cells(fine.granules() + 4, &mapped);
  for (size_t i = 0; i < coarse; ++i) {
    if (!r.cells[i].written && !r.cells[i].write.block && !r.cells[i].read.block) continue;
    for (size_t k = 0; k < 4 && i * 4 + k < fine.granules(); ++k) {
      fine.cells[i * 4 + k] = r.cells[i];
      fine.cells[i * 4 + k].written = r.cells[i].written >> k & 1;
    }
  }
  munmap(r.cells, r.mapped);
  fine.mapped = mapped;
  r = fine;
}

uint32_t own_clock() { return clocks[current_thread / 32][current_thread & 31][current_thread & 31]; }

/* Whether the access in `mark` happened before the one of the running thread. */
bool ordered(const Mark &mark) {
  if (mark.block < first_block) return true; /* an earlier launch */
  if (mark.block != block_serial) {
    auto found = released.find(mark.block);
    return acquired && found != released.end() && mark.epoch <= found->second;
  }
  if (mark.epoch < epoch || mark.thread == current_thread) return true;
  const unsigned w = current_thread / 32;
  return mark.thread / 32 == w && clocks[w][current_thread & 31][mark.thread & 31] >= mark.clock;
}

Place place_of(const Mark &mark) {
  Place place;
  place.site = mark.site;
  /* Blocks of a schedule other than the natural one are not renumbered: only this block's index is exact. */
  const dim3 block = block_of(mark.block == block_serial ? current_block : (unsigned)(mark.block - first_block));
  place.block = uint3{block.x, block.y, block.z};
  place.thread = thread_of(mark.thread);
  return place;
}

void race(const char *first, const char *second, const Mark &mark, const Region &r, size_t offset, const void *site) {
  const Place other = place_of(mark);
  report("race", std::string("data race: a ") + second + " and an earlier " + first + " at offset " +
                     std::to_string(offset) + " of " + r.what +
                     (mark.block == block_serial ? " by two threads of one block" : " by two blocks"),
         here(site), &other);
}

Mark mark_now(Access kind, const void *site) {
  return Mark{block_serial, site, epoch, own_clock(), (uint16_t)current_thread, kind == ATOMIC, false};
}

void touch(Region &r, size_t granule, uint8_t bytes, Access kind, const void *site) {
  Cell &c = r.cells[granule];
  const size_t offset = granule << r.shift;
  if (c.write.block && !ordered(c.write) && !(kind == ATOMIC && c.write.atomic))
    race(c.write.atomic ? "atomic" : "write", kind == READ ? "read" : kind == WRITE ? "write" : "atomic", c.write, r,
         offset, site);
  if (kind == READ) {
    if (!r.initialised && (c.written & bytes) != bytes) {
      report("uninitialised", "a load of bytes that nothing has written, at offset " + std::to_string(offset) +
                                  " of " + r.what, here(site));
      c.written |= bytes;
    }
    if (!c.read.block || ordered(c.read)) c.read = mark_now(kind, site);
    else c.read.several = true;
    return;
  }
  if (c.read.block && c.read.block >= first_block) {
    const bool own = c.read.block == block_serial && c.read.thread == current_thread;
    if (!ordered(c.read) || (own && c.read.several && c.read.epoch == epoch))
      race("read", kind == WRITE ? "write" : "atomic", c.read, r, offset, site);
  }
  c.write = mark_now(kind, site);
  c.read.block = 0;
  c.written |= bytes;
}

/* Reads that are no device memory: the executable's constants and code. */
bool in_image(const void *address, bool *writable) {
  struct Query {
    uintptr_t address;
    bool found, writable;
  } query{(uintptr_t)address, false, false};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        Query &q = *static_cast<Query *>(data);
        bool relro = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto &h = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + h.p_vaddr;
          if (q.address < begin || q.address >= begin + h.p_memsz) continue;
          if (h.p_type == PT_GNU_RELRO) relro = true;
          if (h.p_type == PT_LOAD) q.found = true, q.writable = (h.p_flags & PF_W) != 0;
        }
        if (relro) q.writable = false;
        return q.found ? 1 : 0;
      },
      &query);
  *writable = query.writable;
  return query.found;
}

void outside(const void *address, size_t size, Access kind, const void *site) {
  if (on_thread_stack(address)) return;
  const std::string verb = std::string(kind == READ ? "read" : kind == WRITE ? "write" : "atomic") + " of " +
                           std::to_string(size) + " bytes ";
  bool freed = false, writable = false;
  if (const Allocation *a = find_mapping(address, &freed)) {
    const long offset = (const unsigned char *)address - a->base;
    report("bounds", verb + (freed ? "in freed memory" : "out of bounds") + ": offset " + std::to_string(offset) +
                         " of an allocation of " + std::to_string(a->size) + " bytes", here(site));
    return;
  }
  const auto *p = (const unsigned char *)address;
  if (p >= tm_dynamic_shared && p < tm_dynamic_shared + 228 * 1024) {
    report("bounds", verb + "out of bounds: offset " + std::to_string(p - tm_dynamic_shared) +
                         " of dynamic shared memory of " + std::to_string(dynamic_region.end - dynamic_region.begin) +
                         " bytes", here(site));
    return;
  }
  if (in_image(address, &writable) && !writable && kind == READ) return;
  report("bounds", verb + "outside all device memory", here(site));
}
}  // namespace

void access(const void *address, size_t size, Access kind, const void *site) {
  if (!in_device() || size == 0) return;
  const char *p = (const char *)address;
  if (p >= &__start_tm_indices && p < &__stop_tm_indices) return;
  const long distance = p - (const char *)__builtin_frame_address(0);
  if (distance >= 0 && distance < 1 << 16) return; /* this thread's stack */
  if (p >= closure && p < closure + closure_size) return;
  Region *r = find_region(address);
  if (!r) return outside(address, size, kind, site);
  size_t offset = (size_t)((const unsigned char *)address - r->begin);
  if (offset + size > (size_t)(r->end - r->begin)) return outside(r->end, size, kind, site);
  if (kind == ATOMIC) {
    acquired = true;
    if (fenced[current_thread]) released[block_serial] = epoch;
  }
  if (r->shift == 2 && ((offset | size) & 3)) refine(*r);
  const size_t step = (size_t)1 << r->shift;
  for (const size_t stop = offset + size; offset < stop; offset += step)
    touch(*r, offset >> r->shift, r->shift ? 15 : 1, kind, site);
}

/* Struct copies move padding, which nothing wrote: they are not asked for initialisation. */
void range(const void *address, size_t size, Access kind, const void *site) {
  Region *r = kind == READ && in_device() ? find_region(address) : nullptr;
  const bool saved = r && r->initialised;
  if (r) r->initialised = true;
  access(address, size, kind, site);
  if (r) r->initialised = saved;
}

void launch_begins(const Launch &launch) {
  first_block = block_serial + 1;
  closure = (const char *)launch.kernel->closure;
  closure_size = launch.kernel->closure_size;
  released.clear();
  if (!dynamic_region.cells) {
    dynamic_region.begin = tm_dynamic_shared;
    dynamic_region.end = tm_dynamic_shared + 228 * 1024;
    dynamic_region.cells = map_cells(dynamic_region.granules() * 4 + 4, &dynamic_region.mapped);
  }
  dynamic_region.end = tm_dynamic_shared + launch.shared;
}

void block_begins() {
  epoch = 1;
  acquired = false;
  std::memset(fenced, 0, sizeof fenced);
  for (unsigned w = 0; w < the_block.warp_count; ++w) {
    if (clocks_used[w]) std::memset(clocks[w], 0, sizeof clocks[w]);
    clocks_used[w] = false;
    for (unsigned lane = 0; lane < 32; ++lane) clocks[w][lane][lane] = 1;
  }
  if (dynamic_region.end > dynamic_region.begin) clear(dynamic_region);
}

void barrier() { ++epoch; }

void warp_sync(uint32_t lanes, unsigned w) {
  clocks_used[w] = true;
  uint32_t joined[32] = {0};
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    for (int other = 0; other < 32; ++other)
      joined[other] = std::max(joined[other], clocks[w][__builtin_ctz(rest)][other]);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    std::memcpy(clocks[w][lane], joined, sizeof joined);
    ++clocks[w][lane][lane];
  }
}

void fence() { fenced[current_thread] = true; }

void allocated(Allocation &a, bool initialised) {
  a.shadow = make_region(a.base, a.size, a.kind == VARIABLE ? "a variable" : "an allocation", initialised);
}

void freed(Allocation &a) {
  auto *r = (Region *)a.shadow;
  if (!r) return;
  auto &regions = all_regions();
  regions.erase(std::find(regions.begin(), regions.end(), r));
  if (recent == r) recent = nullptr;
  munmap(r->cells, r->mapped);
  delete r;
  a.shadow = nullptr;
}

void host_wrote(const void *pointer, size_t size) {
  Region *r = find_region(pointer);
  if (!r || r->initialised) return;
  if (pointer == r->begin && size == (size_t)(r->end - r->begin)) {
    r->initialised = true;
    return;
  }
  if (r->shift == 2 && (((uintptr_t)pointer | size) & 3)) refine(*r);
  const size_t offset = (size_t)((const unsigned char *)pointer - r->begin);
  for (size_t at = offset; at < offset + size; at += (size_t)1 << r->shift)
    r->cells[at >> r->shift].written = r->shift ? 15 : 1;
}

void shared_entered(void *address, size_t size) {
  Region *r = find_region(address);
  if (!r) r = make_region(address, size, "a shared variable", false);
  clear(*r);
}

}  // namespace checker
}  // namespace tm_oracle

extern "C" void tm_check_access(const void *address, size_t size, int kind, const void *site) {
  tm_oracle::checker::access(address, size, (tm_oracle::checker::Access)kind, site);
}

#include "tsan_entries.h"
