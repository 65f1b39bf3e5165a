// CUDA twin of codec/decode/huffman_sync.cpp: self-synchronising subsequences, after Weissenberger
// and Schmidt, "Accelerating JPEG Decompression on GPUs" (2021).
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_sync.hpp"

#include <cub/device/device_scan.cuh>

#include "codec/decode/huffman_decode.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/tuning.hpp"
#include "cuda/stages/decode_tables.cuh"
#include "cuda/stages/huffman_sync.cuh"

namespace zerorun {
namespace {

constexpr int kSubsequences = tuning::kSyncChunkSubsequences;
static_assert(kSubsequences % 32 == 0);

/// `entry` is the state from which a subsequence was last decoded, `exit` the state at its end. If
/// each entry is the exit of the subsequence before, and each cursor's first entry is the cursor's
/// own start, then all of them are right, by induction.
struct Chain {
  HuffmanSyncArgs a;
  PairCycle cycle;
  std::int64_t chunks;
  std::uint64_t* entry;  ///< [sync_count]
  ChainSums* sums;       ///< [sync_count]
  std::uint64_t* exit;   ///< [sync_count]
};

/// A subsequence's cursor and its place in it.
struct SubsequencePlace {
  std::int64_t cursor, index;
  std::uint64_t start, boundary;  ///< bits where this subsequence and the next one begin
  std::uint64_t end_bit;
  bool head;
};

__device__ SubsequencePlace place_subsequence(const HuffmanSyncArgs& a, std::int64_t sub) {
  SubsequencePlace place;
  place.cursor = cursor_of_subsequence(a.cursor_first_sync, a.cursor_count, sub);
  place.index = sub - a.cursor_first_sync[place.cursor];
  const BitCursor& cursor = a.cursors[place.cursor];
  const auto bits = static_cast<std::uint64_t>(a.subsequence_bits);
  place.start = cursor.bit + static_cast<std::uint64_t>(place.index) * bits;
  place.boundary = place.start + bits;
  place.end_bit = cursor.end_bit;
  place.head = place.index == 0;
  return place;
}

/// A state in which the subsequence may begin; the right one takes its place in the end. The first
/// codeword of an MCU starts here. For a cursor's head that is true.
__device__ ChainState guess_start(const SubsequencePlace& place) {
  return {place.head ? place.start : min(place.start, place.end_bit), 0, 0};
}

/// Decodes the subsequences of a chunk, each from the exit of the one before it, until nothing
/// changes that counts. Subsequence r is final after at most r rounds, so the loop ends. `fresh`:
/// none was decoded yet; otherwise only `first_entry`, the entry of the chunk's first subsequence,
/// is new.
__device__ void run_chunk(const Chain& chain, const SharedDecodeTables& tables, std::int64_t chunk,
                          bool fresh, std::uint64_t first_entry) {
  __shared__ std::uint64_t exits[kSubsequences];
  const HuffmanSyncArgs& a = chain.a;
  const int lane = static_cast<int>(threadIdx.x);
  const std::int64_t sub = chunk * kSubsequences + lane;
  const bool valid = sub < a.sync_count;
  SubsequencePlace place{};
  std::uint64_t entry = 0, exit = 0;
  ChainSums sums{};
  bool changed = valid;
  if (valid) {
    place = place_subsequence(a, sub);
    if (fresh) {
      entry = pack(guess_start(place));
    } else {
      changed = lane == 0 && !place.head;
      entry = changed ? first_entry : chain.entry[sub];
      sums = chain.sums[sub];
      exit = chain.exit[sub];
    }
  }
  do {
    if (changed) {
      exit = pack(run_subsequence(a.bytes, a.byte_count, tables, chain.cycle, unpack_state(entry),
                                  place.boundary, place.end_bit, sums));
    }
    exits[lane] = exit;
    __syncthreads();
    changed = false;
    if (valid && !place.head && lane > 0 && exits[lane - 1] != entry) {
      entry = exits[lane - 1];
      changed = true;
    }
  } while (__syncthreads_or(changed));
  if (!valid) return;
  chain.entry[sub] = entry;
  chain.exit[sub] = exit;
  chain.sums[sub] = {sums.packed | (place.head ? kChainHead : 0)};
}

/// The state in which the chunk before ends.
__device__ std::uint64_t exit_before(const Chain& chain, std::int64_t chunk) {
  return chain.exit[chunk * kSubsequences - 1];
}

/// Whether the chunk's first subsequence was decoded from another state than the one in which the
/// chunk before ends now.
__device__ bool is_stale(const Chain& chain, std::int64_t chunk) {
  if (chunk == 0) return false;
  const std::int64_t sub = chunk * kSubsequences;
  if (exit_before(chain, chunk) == chain.entry[sub]) return false;
  return !place_subsequence(chain.a, sub).head;
}

/// Runs every chunk on its own (`fresh`), or every stale chunk again.
__global__ void __launch_bounds__(kSubsequences) sync_kernel(Chain chain, bool fresh) {
  __shared__ SharedDecodeTables tables;
  __shared__ std::uint64_t first_entry;
  const std::int64_t chunk = blockIdx.x;
  bool stale = fresh;
  if (!fresh && threadIdx.x == 0 && is_stale(chain, chunk)) {
    stale = true;
    first_entry = exit_before(chain, chunk);
  }
  if (!__syncthreads_or(stale)) return;
  load_decode_tables(chain.a.layout, chain.a.tables, tables);
  __syncthreads();
  run_chunk(chain, tables, chunk, fresh, fresh ? 0 : first_entry);
}

/// One CTA runs the stale chunks again, from left to right. Streams of encoders leave nothing to do
/// here; bits that are made not to synchronise take as long as decoding them one after another.
__global__ void __launch_bounds__(kSubsequences) mend_kernel(Chain chain) {
  __shared__ SharedDecodeTables tables;
  for (std::int64_t first = 0; first < chain.chunks; first += kSubsequences) {
    const std::int64_t end = min(first + kSubsequences, chain.chunks), own = first + threadIdx.x;
    if (!__syncthreads_or(own < end && is_stale(chain, own))) continue;
    load_decode_tables(chain.a.layout, chain.a.tables, tables);
    for (std::int64_t chunk = first; chunk < end; ++chunk) {
      if (__syncthreads_or(is_stale(chain, chunk)))
        run_chunk(chain, tables, chunk, false, exit_before(chain, chunk));
      __syncthreads();  // the chunk's exit and entries are read next
    }
  }
}

/// `through[sub]`: blocks and pairs of the cursor up to the end of the subsequence.
__global__ void __launch_bounds__(tuning::kThreads)
    write_points_kernel(Chain chain, const ChainSums* through) {
  const std::int64_t sub = std::int64_t{blockIdx.x} * tuning::kThreads + threadIdx.x;
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
  Chain chain{
      a,      make_pair_cycle(a.layout), grid_size(a.sync_count, kSubsequences), nullptr, nullptr,
      nullptr};
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
  const auto chunks = static_cast<unsigned>(chain.chunks);
  ZR_LAUNCH(sync_kernel, chunks, kSubsequences, stream, chain, true);
  if (chunks > 1) {
    for (int round = 0; round < tuning::kSyncRounds; ++round)
      ZR_LAUNCH(sync_kernel, chunks, kSubsequences, stream, chain, false);
    ZR_LAUNCH(mend_kernel, 1, kSubsequences, stream, chain);
  }
  ZR_CUDA_TRY(scan(temp, temp_bytes, through));
  ZR_LAUNCH(write_points_kernel, grid_size(a.sync_count, tuning::kThreads), tuning::kThreads,
            stream, chain, through);
  return Status::ok();
}

}  // namespace zerorun
