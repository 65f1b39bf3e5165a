// Each thread decodes a group to pairs.
// SPDX-License-Identifier: MIT
#include "cuda/decode/walk_scan.hpp"

#include "cuda/base/check.hpp"
#include "cuda/base/kept.cuh"
#include "cuda/base/launch.hpp"
#include "cuda/base/shared_access.cuh"
#include "cuda/base/shared_permission.hpp"
#include "cuda/decode/group_walk.hpp"
#include "cuda/decode/shared_memory.hpp"
#include "cuda/decode/shared_tables.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = kGroupThreads;

using SymbolTables = SharedTables<kSymbolIndexBits>;

/// Each thread has kStageBytes of its own.
struct SharedStage {
  static __device__ void store(SharedAddress at, std::uint32_t pair) {
    store_half(at, static_cast<std::uint16_t>(pair));
  }
  static __device__ EightPairs load_eight(SharedAddress at) {
    const uint4 eight = load_four_words(at);
    return {{eight.x, eight.y, eight.z, eight.w}};
  }
  static __device__ void store_eight(SharedAddress at, const EightPairs& eight) {
    const auto& words = eight.words;
    store_four_words(at, {words[0], words[1], words[2], words[3]});
  }
};

struct GlobalWords {
  using Place = const std::uint32_t*;
  Place array;
  __device__ Place place(std::uint32_t bit) const { return array + bit / 32; }
  static __device__ std::uint32_t take(Place& at) { return *at++; }
  static __device__ void shift_if(std::uint32_t condition, WordPair& words, Place& at) {
    if (condition != 0) words = {words.second, take(at)};
  }
};

extern __shared__ __align__(16) std::uint32_t dynamic_shared[];

/// Decodes the group, whose bits count from `origin`; returns whether it is as the index says. The
/// block after it is the next group's first: both groups store the same number of its first pair,
/// or the index is wrong.
template <typename Bits>
__device__ bool decode(const WalkArgs& a, const SymbolTables& tables, const Bits& bits,
                       std::uint32_t origin, const Group& group, std::uint32_t* stage) {
  const std::uint32_t blocks = group.behind.block - group.first.block;
  StagedPairs<SharedStage> sink(a.pairs, a.wide, kept(a.block_pair + group.first.block), {},
                                shared_address(stage), group.first.pair);
  const GroupSpan span{group.bit - origin, kept(group.stop - origin), blocks};
  const GroupEnd end = decode_group(bits, tables, span, sink);
  return !end.fault && end.blocks == blocks && end.pair == group.behind.pair &&
         ends_well(group, origin + end.bit, end.window);
}

__global__ void __launch_bounds__(kThreads)
    decode_groups_kernel(const __grid_constant__ WalkArgs a) {
  __shared__ std::uint32_t first_word, last_word;
  std::uint32_t* const stage = dynamic_shared + threadIdx.x * (kStageBytes / 4);
  std::uint32_t* const room = dynamic_shared + kGroupStageWords;
  const SymbolTables tables = load_symbols(a.tables, a.cycle, room + a.room_words, kThreads);
  wait_for_previous_kernel();
  const std::uint32_t number = blockIdx.x * kThreads + threadIdx.x;
  const bool exists = number < a.grid.groups;
  // Faults that this kernel has found so far count too: the pairs will not be used then.
  bool gives_up = a.summary->faults != 0;
  Group group{};
  if (exists && !gives_up) {
    gives_up = !place_group(a.grid, a.sums, a.interval_first, a.pair_capacity, number, group);
    if (gives_up) atomicOr(&a.summary->faults, kFaultIndex);
    if (threadIdx.x == 0) first_word = group.bit / 32 / 4 * 4;
    if (threadIdx.x + 1 == kThreads || number + 1 == a.grid.groups)
      last_word = words_to_read(group.stop);
  }
  if (__syncthreads_or(gives_up)) {
    wait_for_copies();
    return;
  }
  const std::uint32_t count = (last_word - first_word + 3) / 4 * 4;
  const bool fits = count <= a.room_words;
  if (fits) copy_words(a.words + first_word, room, count, kThreads);
  wait_for_copies();
  __syncthreads();
  if (!exists) return;
  const bool right = fits ? decode(a, tables, SharedWords(room), first_word * 32, group, stage)
                          : decode(a, tables, GlobalWords{a.words}, 0, group, stage);
  if (!right) atomicOr(&a.summary->faults, kFaultIndex);
  if (right && number + 1 == a.grid.groups)
    for (std::uint32_t i = 0; i < kPairsReadBehind; ++i) a.pairs[group.behind.pair + i] = 0;
}

static_assert(kStagedSteps <= kMostWalkPairs, "blocks that are not the scan's");
static_assert(3 * (group_shared_bytes(2, kMostRoomWords) + 1040) <= 228 * 1024,
              "three CTAs in a processor of Hopper");

SharedPermission& permission() {
  static SharedPermission of_kernel(reinterpret_cast<const void*>(decode_groups_kernel));
  return of_kernel;
}

}  // namespace

Status prepare_decode_groups() { return permission().prepare(); }

Status decode_groups(const WalkArgs& args, std::size_t shared_bytes, LaunchChain& chain) {
  const LaunchShape shape{grid_size(args.grid.groups, kThreads), kThreads, shared_bytes};
  ZR_TRY(permission().raise(shared_bytes));
  ZR_CUDA_TRY(chain.add(decode_groups_kernel, shape, args));
  return Status::ok();
}

}  // namespace zerorun
