// A thread decodes a group.
// SPDX-License-Identifier: MIT
#include "cuda/fused_decode/decode_groups.hpp"

#include <algorithm>

#include "cuda/check.hpp"
#include "cuda/fused_decode/group_walk.hpp"
#include "cuda/fused_decode/pair_sink.cuh"
#include "cuda/fused_decode/shared_tables.cuh"
#include "cuda/launch.hpp"

namespace zerorun {
namespace {

/// Few, so that the groups of a single frame are spread over all processors.
constexpr int kThreads = 64;

using SharedSymbols = SharedTables<kSymbolIndexBits>;

struct SymbolTables : SharedSymbols {
  __device__ void load_block_if(bool condition, SharedAddress place, BlockTables& block) const {
    uint4 words{block.dc, block.ac, block.next, block.phase};
    load_four_words_if(condition, place, words);
    block = {words.x, words.y, words.z, words.w};
  }
};

/// What a wrong index may not touch: the pairs have room for it, the list of blocks has not.
struct GroupSink : PairSink {
  std::uint32_t block_behind;

  __device__ void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition && block <= block_behind) block_pair[block] = pair;
  }
};

/// Bits counted from the first of the words.
struct SharedWords {
  SharedAddress array;
  __device__ WordPair words(std::uint32_t bit) const { return load_words_of_bit(array, bit); }
};
struct GlobalWords {
  const std::uint32_t* array;
  __device__ WordPair words(std::uint32_t bit) const {
    return {array[bit / 32], array[bit / 32 + 1]};
  }
};

extern __shared__ __align__(16) std::uint32_t dynamic_shared[];

/// Decodes the group, whose bits count from `origin`; returns whether it is as the index says.
template <typename Bits>
__device__ bool decode(const DecodeGroupsArgs& a, const SymbolTables& tables, const Bits& bits,
                       std::uint32_t origin, const Group& group) {
  RowTarget target = group.first;
  const GroupSink sink{{a.pairs, a.block_pair, (target.pair + 3) / 4 * 4}, group.behind.block};
  const GroupEnd end =
      decode_group(bits, tables, group.bit - origin, group.stop - origin, target, sink);
  return !end.fault && is_as_said(group, origin + end.bit, end.window, target);
}

__global__ void __launch_bounds__(kThreads)
    decode_groups_kernel(const __grid_constant__ DecodeGroupsArgs a) {
  __shared__ std::uint32_t first_word, last_word;
  const SymbolTables tables{load_tables<kThreads, kSymbolIndexBits>(
      a.tables->symbol, a.tables->long_codes, a.cycle, dynamic_shared)};
  std::uint32_t* const room =
      dynamic_shared + SymbolTables::words(static_cast<std::uint32_t>(a.cycle.pairs));
  wait_for_previous_kernel();
  const std::uint32_t number = blockIdx.x * kThreads + threadIdx.x;
  const bool exists = number < a.grid.groups;
  bool gives_up = a.summary->faults != 0;  // of this kernel, too: the pairs are of no use then
  Group group{};
  if (!gives_up && exists) {
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
  if (fits) copy_words<kThreads>(a.words + first_word, room, count);
  wait_for_copies();
  __syncthreads();
  if (!exists) return;
  const bool right =
      fits ? decode(a, tables, SharedWords{shared_address(room)}, first_word * 32, group)
           : decode(a, tables, GlobalWords{a.words}, 0, group);
  if (!right) atomicOr(&a.summary->faults, kFaultIndex);
}

/// So that three CTAs fit into a processor with the tables of two pairs, whatever the scan is.
constexpr std::uint32_t kMostRoomWords = 8192;

std::size_t shared_bytes(std::uint32_t room_words, std::uint32_t pairs) {
  return sizeof(std::uint32_t) * (room_words + SymbolTables::words(pairs));
}

}  // namespace

Status prepare_decode_groups() {
  ZR_CUDA_TRY(cudaFuncSetAttribute(decode_groups_kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes(kMostRoomWords, kMaxTablePairs))));
  ZR_CUDA_TRY(cudaFuncSetAttribute(decode_groups_kernel,
                                   cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  return Status::ok();
}

std::uint32_t decode_groups_room(std::uint32_t bytes, std::uint32_t groups) {
  // Twice the average; the CTAs of which that is not enough read from global memory.
  const std::uint64_t average = std::uint64_t{bytes} / 4 * kThreads / groups;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(2 * average, 512, kMostRoomWords)) /
         4 * 4;
}

Status decode_groups(const DecodeGroupsArgs& args, cudaStream_t stream) {
  const auto pairs = static_cast<std::uint32_t>(args.cycle.pairs);
  ZR_CUDA_TRY(launch_behind(decode_groups_kernel,
                            LaunchShape{grid_size(args.grid.groups, kThreads), kThreads,
                                        shared_bytes(args.room_words, pairs)},
                            stream, args));
  return Status::ok();
}

}  // namespace zerorun
