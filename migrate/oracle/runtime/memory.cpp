/* Allocations, and the part of the runtime API that makes, frees and copies them.
 *
 * Every allocation has pages of its own: it is followed by a page that cannot be touched, so that an overrun
 * faults; the rest of its last page holds a pattern.  Freed mappings stay reserved and untouchable. */
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace tm_oracle {

namespace {
constexpr size_t page = 4096;
constexpr size_t alignment = 256;
constexpr unsigned char padding_byte = 0xfb;
#ifdef __TMIGRATE_CHECK__
/* What fresh device memory holds in check mode; else zeros, as on a GPU whose driver has cleared its pages. */
constexpr unsigned char fresh_byte = 0xcb;
constexpr size_t most_patterned = (size_t)64 << 20;
#endif
constexpr size_t reserve_size = (size_t)1 << 40;

std::vector<Allocation *> freed_list;
unsigned next_number = 0;
unsigned char *next_address = nullptr;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* Address space for device memory: fixed where the system allows, so that runs repeat exactly. */
unsigned char *reserve(size_t size) {
  if (!next_address) next_address = (unsigned char *)0x200000000000;
  void *got = mmap(next_address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  next_address = (unsigned char *)got + size;
  return (unsigned char *)got;
}

void insert_sorted(Allocation *made) {
  auto &list = allocations();
  list.insert(std::upper_bound(list.begin(), list.end(), made,
                               [](const Allocation *a, const Allocation *b) { return a->base < b->base; }),
              made);
}

Allocation *allocate(size_t size, Kind kind) {
  const size_t usable = round_up(size ? size : 1, alignment), bytes = round_up(usable, page);
  unsigned char *mapping = reserve(bytes + page);
  if (!mapping) return nullptr;
  if (mprotect(mapping, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, bytes + page);
    return nullptr;
  }
  auto *made = new Allocation{mapping + bytes - usable, size, kind, next_number++, "", mapping, bytes + page};
#ifdef __TMIGRATE_CHECK__
  if (kind == DEVICE && size <= most_patterned) std::memset(made->base, fresh_byte, size);
#endif
  std::memset(made->base + size, padding_byte, usable - size);
  if (made->base != mapping) std::memset(mapping, padding_byte, made->base - mapping);
  insert_sorted(made);
  checker::allocated(*made, kind != DEVICE);
  return made;
}

cudaError_t make(void **pointer, size_t size, Kind kind) {
  std::lock_guard<std::recursive_mutex> guard(host_lock());
  if (!pointer) return set_error(cudaErrorInvalidValue), cudaErrorInvalidValue;
  if (size == 0) return *pointer = nullptr, cudaSuccess;
  Allocation *made = size > reserve_size ? nullptr : allocate(size, kind);
  if (!made) return set_error(cudaErrorMemoryAllocation), cudaErrorMemoryAllocation;
  *pointer = made->base;
  return cudaSuccess;
}

cudaError_t release(void *pointer) {
  std::lock_guard<std::recursive_mutex> guard(host_lock());
  if (!pointer) return cudaSuccess;
  Allocation *found = find_allocation(pointer);
  if (!found || found->base != pointer || !found->mapping)
    return set_error(cudaErrorInvalidValue), cudaErrorInvalidValue;
  check_padding(*found, "when it was freed");
  checker::freed(*found);
  auto &list = allocations();
  list.erase(std::find(list.begin(), list.end(), found));
  mmap(found->mapping, found->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  freed_list.push_back(found);
  return cudaSuccess;
}

/* A copy that leaves an allocation on either side is refused as CUDA does. */
bool fits(const void *pointer, size_t count) {
  Allocation *found = find_allocation(pointer);
  if (found) return (const unsigned char *)pointer + count <= found->base + found->size;
  bool freed;
  return find_mapping(pointer, &freed) == nullptr;
}

cudaError_t copy(void *target, const void *source, size_t count) {
  std::lock_guard<std::recursive_mutex> guard(host_lock());
  if (current_error() >= cudaErrorIllegalAddress && current_error() < cudaErrorNotPermitted) return current_error();
  if (count == 0) return cudaSuccess;
  if (!target || !source || !fits(target, count) || !fits(source, count))
    return set_error(cudaErrorInvalidValue), cudaErrorInvalidValue;
  std::memmove(target, source, count);
  checker::host_wrote(target, count);
  return cudaSuccess;
}

cudaError_t fill(void *pointer, int value, size_t count) {
  std::lock_guard<std::recursive_mutex> guard(host_lock());
  if (count == 0) return cudaSuccess;
  if (!find_allocation(pointer) || !fits(pointer, count))
    return set_error(cudaErrorInvalidValue), cudaErrorInvalidValue;
  std::memset(pointer, value, count);
  checker::host_wrote(pointer, count);
  return cudaSuccess;
}

/* N2tm5namedIXadL_ZN2ns5valueEEEE -> _ZN2ns5valueE;  ...XadL_Z7counterEEE -> counter */
std::string variable_name(const char *type_name) {
  std::string name(type_name + (type_name[0] == '*'));
  const size_t start = name.find("XadL_Z");
  if (start == std::string::npos) return name;
  name = name.substr(start + 6);
  if (name.size() > 3) name.resize(name.size() - 3 - (name.size() > 4 && name.compare(name.size() - 4, 4, "EEEE") == 0));
  size_t digits = 0;
  while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9') ++digits;
  if (digits && name.size() - digits == std::strtoul(name.c_str(), nullptr, 10)) return name.substr(digits);
  return "_Z" + name;
}
}  // namespace

const char *kind_name(Kind kind) {
  static const char *const names[] = {"device", "managed", "pinned", "registered", "variable"};
  return names[kind];
}

std::vector<Allocation *> &allocations() {
  static std::vector<Allocation *> list;
  return list;
}

Allocation *find_allocation(const void *pointer) {
  auto &list = allocations();
  auto after = std::upper_bound(list.begin(), list.end(), (const unsigned char *)pointer,
                                [](const unsigned char *p, const Allocation *a) { return p < a->base; });
  if (after == list.begin()) return nullptr;
  Allocation *found = *(after - 1);
  return (const unsigned char *)pointer < found->base + std::max<size_t>(found->size, 1) ? found : nullptr;
}

Allocation *find_variable(const std::string &mangled) {
  for (Allocation *a : allocations())
    if (a->kind == VARIABLE && a->name == mangled) return a;
  return nullptr;
}

unsigned variables_called(const std::string &mangled) {
  unsigned count = 0;
  for (Allocation *a : allocations()) count += a->kind == VARIABLE && a->name == mangled;
  return count;
}

const Allocation *find_mapping(const void *pointer, bool *freed) {
  auto inside = [&](const Allocation *a) {
    return a->mapping && pointer >= a->mapping && pointer < a->mapping + a->mapped;
  };
  *freed = false;
  for (const Allocation *a : allocations())
    if (inside(a)) return a;
  *freed = true;
  for (const Allocation *a : freed_list)
    if (inside(a)) return a;
  return nullptr;
}

bool mend_padding(const Allocation &a, long *offset) {
  if (!a.mapping) return false;
  auto bad = [&](const unsigned char *from, const unsigned char *to) -> const unsigned char * {
    for (; from < to; ++from)
      if (*from != padding_byte) return from;
    return nullptr;
  };
  const unsigned char *found = bad(a.base + a.size, a.mapping + a.mapped - page);
  if (!found) found = bad(a.mapping, a.base);
  if (!found) return false;
  *offset = found - a.base;
  std::memset(a.base + a.size, padding_byte, a.mapping + a.mapped - page - (a.base + a.size));
  std::memset(a.mapping, padding_byte, a.base - a.mapping);
  return true;
}

void check_padding(const Allocation &a, const char *when) {
  long offset;
  if (mend_padding(a, &offset))
    report("bounds", "a byte at offset " + std::to_string(offset) + " of an allocation of " + std::to_string(a.size) +
                         " bytes was written (found " + when + ")", Place());
}

void check_all_padding(const char *when) {
  for (const Allocation *a : allocations()) check_padding(*a, when);
}

Variable::Variable(unsigned unit, const void *address, size_t size, const char *type_name, const char *kind) {
  auto *made = new Allocation{(unsigned char *)const_cast<void *>(address), size,
                              VARIABLE, 0, name_in_unit(variable_name(type_name), unit)};
  (void)kind;
  insert_sorted(made);
  checker::allocated(*made, true);
}

}  // namespace tm_oracle

using namespace tm_oracle;

extern "C" {
cudaError_t cudaMalloc(void **p, size_t n) { return make(p, n, DEVICE); }
cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t) { return make(p, n, DEVICE); }
cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t, cudaStream_t) { return make(p, n, DEVICE); }
cudaError_t cudaMallocHost(void **p, size_t n) { return make(p, n, PINNED); }
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned) { return make(p, n, PINNED); }
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned) { return make(p, n, MANAGED); }
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return make(p, *pitch * height, DEVICE);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent e) {
  p->pitch = (e.width + 511) / 512 * 512;
  p->xsize = e.width;
  p->ysize = e.height;
  return make(&p->ptr, p->pitch * e.height * e.depth, DEVICE);
}
cudaError_t cudaFree(void *p) { return release(p); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return release(p); }
cudaError_t cudaFreeHost(void *p) { return release(p); }

cudaError_t cudaHostRegister(void *p, size_t n, unsigned) {
  std::lock_guard<std::recursive_mutex> guard(host_lock());
  if (!p || !n) return set_error(cudaErrorInvalidValue), cudaErrorInvalidValue;
  if (find_allocation(p)) return set_error(cudaErrorHostMemoryAlreadyRegistered), cudaErrorHostMemoryAlreadyRegistered;
  auto *made = new Allocation{(unsigned char *)p, n, REGISTERED, next_number++, ""};
  insert_sorted(made);
  checker::allocated(*made, true);
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *p) {
  std::lock_guard<std::recursive_mutex> guard(host_lock());
  Allocation *found = find_allocation(p);
  if (!found || found->kind != REGISTERED)
    return set_error(cudaErrorHostMemoryNotRegistered), cudaErrorHostMemoryNotRegistered;
  checker::freed(*found);
  auto &list = allocations();
  list.erase(std::find(list.begin(), list.end(), found));
  return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
  if (!find_allocation(host)) return set_error(cudaErrorInvalidValue), cudaErrorInvalidValue;
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaHostGetFlags(unsigned *flags, void *) { return *flags = cudaHostAllocMapped, cudaSuccess; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p) {
  std::memset(a, 0, sizeof *a);
  Allocation *found = find_allocation(p);
  void *q = const_cast<void *>(p);
  a->hostPointer = q;
  if (!found) return cudaSuccess;
  a->type = found->kind == MANAGED ? cudaMemoryTypeManaged
            : found->kind == DEVICE || found->kind == VARIABLE ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  a->devicePointer = q;
  if (a->type == cudaMemoryTypeDevice) a->hostPointer = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  size_t used = 0;
  for (Allocation *a : allocations()) used += a->kind == DEVICE ? a->size : 0;
  *total = (size_t)16 << 30;
  *free = *total > used ? *total - used : 0;
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *t, const void *s, size_t n, cudaMemcpyKind) { return copy(t, s, n); }
cudaError_t cudaMemcpyAsync(void *t, const void *s, size_t n, cudaMemcpyKind, cudaStream_t) { return copy(t, s, n); }
cudaError_t cudaMemcpyPeer(void *t, int, const void *s, int, size_t n) { return copy(t, s, n); }
cudaError_t cudaMemcpyPeerAsync(void *t, int, const void *s, int, size_t n, cudaStream_t) { return copy(t, s, n); }
cudaError_t cudaMemcpy2D(void *t, size_t tp, const void *s, size_t sp, size_t width, size_t height, cudaMemcpyKind) {
  for (size_t row = 0; row < height; ++row) {
    cudaError_t error = copy((char *)t + row * tp, (const char *)s + row * sp, width);
    if (error) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *t, size_t tp, const void *s, size_t sp, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy2D(t, tp, s, sp, width, height, kind);
}
cudaError_t cudaMemset(void *p, int value, size_t n) { return fill(p, value, n); }
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t) { return fill(p, value, n); }
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) {
    cudaError_t error = fill((char *)p + row * pitch, value, width);
    if (error) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t) {
  return cudaMemset2D(p, pitch, value, width, height);
}

cudaError_t tm_symbol_copy(const void *symbol, size_t size, const void *other, size_t count, size_t offset, int to) {
  if (offset + count > size) return set_error(cudaErrorInvalidValue), cudaErrorInvalidValue;
  if (!find_allocation(symbol)) { /* an instance of a variable template: it has no registrar */
    auto *made = new Allocation{(unsigned char *)const_cast<void *>(symbol), size, VARIABLE, 0, ""};
    insert_sorted(made);
    checker::allocated(*made, true);
  }
  void *inside = (char *)const_cast<void *>(symbol) + offset;
  return to ? copy(inside, other, count) : copy(const_cast<void *>(other), inside, count);
}
}

cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
