// CUDA twin of codec/decode/huffman_sync.cpp: self-synchronising subsequences, after Weissenberger
// and Schmidt, "Accelerating JPEG Decompression on GPUs" (2021).
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_sync.hpp"

#include <cub/device/device_scan.cuh>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/huffman_decode.cuh"
#include "cuda/stages/huffman_sync.cuh"

namespace zerorun {
namespace {

/// Subsequences that one CTA synchronises with each other, a thread each.
constexpr int kSubsequences = 256;
/// Rounds in which every CTA takes over what its left neighbour found, before one CTA mends what
/// is left over.
constexpr int kRounds = 2;
/// Threads of a CTA that writes points.
constexpr int kThreads = 256;
constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

/// `entry` is the state from which a subsequence was last decoded, `exit` the state at its end,
/// both kUnknown at first. If each entry is the exit of the subsequence before, and each cursor's
/// first entry is the cursor's own start, then all of them are right, by induction.
struct Chain {
  HuffmanSyncArgs a;
  PairCycle cycle;
  std::int64_t chunks;
  std::uint64_t* entry = nullptr;  ///< [sync_count]
  ChainSums* sums = nullptr;       ///< [sync_count]
  std::uint64_t* exit = nullptr;   ///< [sync_count]
};

/// A subsequence of a cursor.
struct SubsequencePlace {
  std::int64_t cursor;
  std::uint64_t start, boundary;  ///< bits where this subsequence and the next one begin
  std::uint64_t end_bit;          ///< of the cursor
  bool head;                      ///< the cursor's first
};

__device__ SubsequencePlace place_subsequence(const HuffmanSyncArgs& a, std::int64_t sub) {
  SubsequencePlace place;
  place.cursor = cursor_of_subsequence(a.cursor_first_sync, a.cursor_count, sub);
  const std::int64_t index = sub - a.cursor_first_sync[place.cursor];
  const BitCursor& cursor = a.cursors[place.cursor];
  const auto bits = static_cast<std::uint64_t>(a.subsequence_bits);
  place.start = cursor.bit + static_cast<std::uint64_t>(index) * bits;
  place.boundary = place.start + bits;
  place.end_bit = cursor.end_bit;
  place.head = index == 0;
  return place;
}

/// A CTA takes chunks of subsequences, from left to right. It decodes each subsequence from the
/// exit of the one before it, or from a guess as long as that is unknown: that the first codeword
/// of an MCU starts where the subsequence does, as it does at a cursor's head. It goes on until no
/// exit changes; subsequence r of the chunk is final after at most r rounds.
__global__ void __launch_bounds__(kSubsequences) sync_kernel(Chain chain) {
  __shared__ std::uint64_t exits[kSubsequences];
  const HuffmanSyncArgs& a = chain.a;
  const int lane = static_cast<int>(threadIdx.x);
  for (std::int64_t chunk = blockIdx.x; chunk < chain.chunks; chunk += gridDim.x) {
    const std::int64_t sub = chunk * kSubsequences + lane;
    const bool valid = sub < a.sync_count;
    const SubsequencePlace place = valid ? place_subsequence(a, sub) : SubsequencePlace{};
    std::uint64_t entry = valid ? chain.entry[sub] : kUnknown;
    std::uint64_t exit = valid ? chain.exit[sub] : kUnknown;
    std::uint64_t before = kUnknown;
    if (valid && lane == 0 && !place.head) before = chain.exit[sub - 1];
    bool changes;
    do {
      exits[lane] = exit;
      __syncthreads();
      if (lane > 0 && !place.head) before = exits[lane - 1];
      changes = valid && (before == kUnknown ? entry == kUnknown : entry != before);
      if (changes) {
        entry = before == kUnknown ? pack({min(place.start, place.end_bit), 0, 0}) : before;
        ChainSums sums;
        exit = pack(run_subsequence(a.bytes, a.byte_count, *a.tables, chain.cycle,
                                    unpack_state(entry), place.boundary, place.end_bit, sums));
        chain.sums[sub] = {sums.packed | (place.head ? kChainHead : 0)};
      }
    } while (__syncthreads_or(changes));
    if (valid) {
      chain.entry[sub] = entry;
      chain.exit[sub] = exit;
    }
    __syncthreads();  // the chunk's last exit is read next
  }
}

/// `through[sub]`: blocks and pairs of the cursor up to the end of the subsequence.
__global__ void __launch_bounds__(kThreads)
    write_points_kernel(Chain chain, const ChainSums* through) {
  const std::int64_t sub = grid_thread();
  const HuffmanSyncArgs& a = chain.a;
  if (sub >= a.sync_count) return;
  const SubsequencePlace place = place_subsequence(a, sub);
  const ChainSums sums = place.head ? ChainSums{} : through[sub - 1];
  const ChainState state = unpack_state(chain.entry[sub]);
  const auto block = static_cast<std::int64_t>(blocks_of(sums));
  SyncPoint point{};
  if ((sums.packed & kChainFault) == 0 && block < a.cursors[place.cursor].blocks &&
      state.bit >= place.start)
    point = {state.bit, block, static_cast<std::uint8_t>(state.k), pairs_of(sums), 1};
  a.sync[sub] = point;
}

}  // namespace

Status huffman_sync_cuda(const HuffmanSyncArgs& a, Exec& exec) {
  if (a.sync_count == 0) return Status::ok();
  const cudaStream_t stream = stream_of(exec);
  Chain chain{a, make_pair_cycle(a.layout), grid_size(a.sync_count, kSubsequences)};
  const auto scan = [&](void* temp, std::size_t& temp_bytes, ChainSums* through) {
    return cub::DeviceScan::InclusiveScan(temp, temp_bytes, chain.sums, through, JoinSums{},
                                          a.sync_count, stream);
  };
  std::size_t temp_bytes = 0;
  ZR_CUDA_TRY(scan(nullptr, temp_bytes, nullptr));
  ChainSums* through = nullptr;
  std::byte* temp = nullptr;
  ZR_TRY(scratch_of(exec).carve(
      scratch_array(chain.entry, a.sync_count), scratch_array(chain.sums, a.sync_count),
      scratch_array(chain.exit, a.sync_count), scratch_array(through, a.sync_count),
      scratch_array(temp, static_cast<std::int64_t>(temp_bytes))));
  const std::size_t state_bytes = static_cast<std::size_t>(a.sync_count) * sizeof *chain.entry;
  ZR_CUDA_TRY(cudaMemsetAsync(chain.entry, 0xFF, state_bytes, stream));
  ZR_CUDA_TRY(cudaMemsetAsync(chain.exit, 0xFF, state_bytes, stream));
  for (int round = 0; round <= kRounds; ++round)
    ZR_LAUNCH(sync_kernel, static_cast<unsigned>(chain.chunks), kSubsequences, stream, chain);
  // One CTA alone leaves no entry that is not the exit before it. Streams of encoders leave it
  // nothing to do; bits that are made not to synchronise take as long as decoding them one after
  // another.
  ZR_LAUNCH(sync_kernel, 1, kSubsequences, stream, chain);
  ZR_CUDA_TRY(scan(temp, temp_bytes, through));
  ZR_LAUNCH(write_points_kernel, grid_size(a.sync_count, kThreads), kThreads, stream, chain,
            through);
  return Status::ok();
}

}  // namespace zerorun
