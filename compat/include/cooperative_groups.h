/* Cooperative groups: blocks, tiles of a warp, coalesced lanes.  Grids cannot wait for each other here. */
#ifndef TMIGRATE_COOPERATIVE_GROUPS_H
#define TMIGRATE_COOPERATIVE_GROUPS_H
#include "cuda_runtime.h"

#define TM_GROUP inline TM_GROUP_DEVICE
#ifdef TMIGRATE_EMULATED
#define TM_GROUP_DEVICE
#else
#define TM_GROUP_DEVICE __device__
#endif

namespace cooperative_groups {

struct thread_block {
  TM_GROUP_DEVICE void sync() const { __syncthreads(); }
  TM_GROUP_DEVICE unsigned int thread_rank() const {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  TM_GROUP_DEVICE unsigned int size() const { return blockDim.x * blockDim.y * blockDim.z; }
  TM_GROUP_DEVICE unsigned int num_threads() const { return size(); }
  TM_GROUP_DEVICE dim3 group_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  TM_GROUP_DEVICE dim3 thread_index() const { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  TM_GROUP_DEVICE dim3 group_dim() const { return blockDim; }
  TM_GROUP_DEVICE dim3 dim_threads() const { return blockDim; }
};
TM_GROUP thread_block this_thread_block() { return thread_block(); }

/* Lanes of one warp that a mask names; ranks count its bits. */
struct lane_group {
  unsigned int mask;
  TM_GROUP_DEVICE static unsigned int lane() { return thread_block().thread_rank() & 31u; }
  TM_GROUP_DEVICE unsigned int size() const { return (unsigned int)__popc(mask); }
  TM_GROUP_DEVICE unsigned int num_threads() const { return size(); }
  TM_GROUP_DEVICE unsigned int thread_rank() const { return (unsigned int)__popc(mask & ((1u << lane()) - 1u)); }
  TM_GROUP_DEVICE void sync() const { __syncwarp(mask); }
  TM_GROUP_DEVICE int any(int predicate) const { return __any_sync(mask, predicate); }
  TM_GROUP_DEVICE int all(int predicate) const { return __all_sync(mask, predicate); }
};

struct coalesced_group : lane_group {
  /* The lane with the given rank in the group. */
  TM_GROUP_DEVICE int lane_of(unsigned int rank) const {
    unsigned int rest = mask;
    for (unsigned int i = 0; i < rank; ++i) rest &= rest - 1u;
    return __ffs((int)rest) - 1;
  }
  TM_GROUP_DEVICE unsigned int ballot(int predicate) const {
    const unsigned int votes = __ballot_sync(mask, predicate);
    unsigned int packed = 0, rank = 0;
    for (unsigned int rest = mask; rest; rest &= rest - 1u, ++rank)
      if (votes & rest & (0u - rest)) packed |= 1u << rank;
    return packed;
  }
  template <class T> TM_GROUP_DEVICE T shfl(T value, unsigned int rank) const {
    return __shfl_sync(mask, value, lane_of(rank % size()));
  }
  template <class T> TM_GROUP_DEVICE T shfl_down(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank() + delta;
    return __shfl_sync(mask, value, lane_of(rank < size() ? rank : thread_rank()));
  }
  template <class T> TM_GROUP_DEVICE T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return __shfl_sync(mask, value, lane_of(rank >= delta ? rank - delta : rank));
  }
};
TM_GROUP coalesced_group coalesced_threads() {
  coalesced_group group;
  group.mask = __activemask();
  return group;
}

/* `Size` neighbouring lanes, a power of two up to 32. */
template <unsigned int Size, class Parent = void> struct thread_block_tile : lane_group {
  TM_GROUP_DEVICE unsigned int thread_rank() const { return lane() & (Size - 1u); }
  TM_GROUP_DEVICE unsigned int meta_group_rank() const { return thread_block().thread_rank() / Size; }
  TM_GROUP_DEVICE unsigned int meta_group_size() const { return (thread_block().size() + Size - 1u) / Size; }
  TM_GROUP_DEVICE unsigned int ballot(int predicate) const {
    return __ballot_sync(mask, predicate) >> (lane() & ~(Size - 1u)) & (Size == 32 ? ~0u : (1u << (Size & 31)) - 1u);
  }
  template <class T> TM_GROUP_DEVICE T shfl(T value, int rank) const { return __shfl_sync(mask, value, rank, Size); }
  template <class T> TM_GROUP_DEVICE T shfl_up(T value, unsigned int delta) const {
    return __shfl_up_sync(mask, value, delta, Size);
  }
  template <class T> TM_GROUP_DEVICE T shfl_down(T value, unsigned int delta) const {
    return __shfl_down_sync(mask, value, delta, Size);
  }
  template <class T> TM_GROUP_DEVICE T shfl_xor(T value, int bits) const {
    return __shfl_xor_sync(mask, value, bits, Size);
  }
};
template <unsigned int Size, class Parent> TM_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "tiles have a power of two of lanes, up to 32");
  thread_block_tile<Size, Parent> tile;
  const unsigned int first = lane_group::lane() & ~(Size - 1u), ones = Size == 32 ? ~0u : (1u << (Size & 31)) - 1u;
  tile.mask = ones << first;
  return tile;
}

TM_GROUP void sync(const thread_block &group) { group.sync(); }
template <unsigned int Size, class Parent> TM_GROUP void sync(const thread_block_tile<Size, Parent> &tile) { tile.sync(); }

template <class T> struct plus { TM_GROUP_DEVICE T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { TM_GROUP_DEVICE T operator()(T a, T b) const { return a < b ? a : b; } };
template <class T> struct greater { TM_GROUP_DEVICE T operator()(T a, T b) const { return a > b ? a : b; } };
template <unsigned int Size, class Parent, class T, class F>
TM_GROUP T reduce(const thread_block_tile<Size, Parent> &tile, T value, F combine) {
  for (unsigned int step = Size / 2; step > 0; step /= 2) value = combine(value, tile.shfl_xor(value, (int)step));
  return value;
}

}  // namespace cooperative_groups
#endif
