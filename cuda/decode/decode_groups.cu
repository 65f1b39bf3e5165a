// Each thread decodes a group to pairs.
// SPDX-License-Identifier: MIT
#include "cuda/decode/walk_scan.hpp"

#include "cuda/base/check.hpp"
#include "cuda/base/kept.cuh"
#include "cuda/base/launch.hpp"
#include "cuda/base/shared_permission.hpp"
#include "cuda/decode/group_walk.hpp"
#include "cuda/decode/pair_sink.hpp"
#include "cuda/decode/shared_memory.hpp"
#include "cuda/decode/shared_tables.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = kGroupThreads;

using SharedSymbols = SharedTables<kSymbolIndexBits>;
static_assert(kGroupListWords % 4 == 0 && sizeof(CodeTables) == 8);

struct SymbolTables : SharedSymbols {
  SharedAddress list;

  /// Behind the list's last block lies other shared memory, which may be read ahead.
  __device__ CodeTables tables_of(std::uint32_t block) const {
    const uint2 words = load_two_words(list + 8 * block);
    return {words.x, words.y};
  }
};

/// Pairs count from the last multiple of eight before the group's first, blocks from the group's
/// first. The block after the group is the next group's first: both groups store the same number,
/// or the index is wrong.
struct GroupSink : PairSink {
  std::uint32_t first_pair;

  __device__ void block_starts(std::uint32_t block, std::uint32_t pair) const {
    block_pair[block] = first_pair + pair;
  }
  __device__ void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) block_pair[block] = first_pair + pair;
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

/// Decodes the group, whose bits count from `origin`; returns whether it is as the index says.
template <typename Bits>
__device__ bool decode(const WalkArgs& a, const SymbolTables& tables, const Bits& bits,
                       std::uint32_t origin, const Group& group) {
  const std::uint32_t lead = group.first.pair % 8, first_pair = group.first.pair - lead;
  const std::uint32_t blocks = group.behind.block - group.first.block;
  GroupSink sink{{kept(a.pairs + first_pair), kept(a.wide + first_pair),
                  kept(a.block_pair + group.first.block), lead},
                 first_pair};
  const GroupSpan span{group.bit - origin, kept(group.stop - origin), blocks};
  const GroupEnd end = decode_group(bits, tables, span, lead, sink);
  return !end.fault && end.blocks == blocks && first_pair + end.pair == group.behind.pair &&
         ends_well(group, origin + end.bit, end.window);
}

/// Lays out shared memory and starts copies: the list of the blocks' tables, room for bits, the
/// tables. The first two have addresses that the loop need not compute.
__device__ SymbolTables load_group_tables(const WalkArgs& a, std::uint32_t* to) {
  const auto period = static_cast<std::uint32_t>(a.cycle.period);
  const SharedSymbols tables =
      load_symbols(a.tables, a.cycle, to + kGroupListWords + a.room_words, kThreads);
  for (std::uint32_t i = threadIdx.x; i < kGroupListWords / 2; i += kThreads) {
    const std::uint32_t dc = tables.entries + a.cycle.pair[i % period] * SharedSymbols::kTableBytes;
    reinterpret_cast<CodeTables*>(to)[i] = {dc, tables.ac_of(dc)};
  }
  return {tables, shared_address(to)};
}

__global__ void __launch_bounds__(kThreads)
    decode_groups_kernel(const __grid_constant__ WalkArgs a) {
  __shared__ std::uint32_t first_word, last_word;
  const SymbolTables tables = load_group_tables(a, dynamic_shared);
  std::uint32_t* const room = dynamic_shared + kGroupListWords;
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
  const bool right = fits ? decode(a, tables, SharedWords(room), first_word * 32, group)
                          : decode(a, tables, GlobalWords{a.words}, 0, group);
  if (!right) atomicOr(&a.summary->faults, kFaultIndex);
  if (right && number + 1 == a.grid.groups)
    for (std::uint32_t i = 0; i < kPairsReadBehind; ++i) a.pairs[group.behind.pair + i] = 0;
}

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
