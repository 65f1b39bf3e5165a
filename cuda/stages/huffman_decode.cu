// CUDA twin of codec/decode/huffman_decode.cpp. A thread decodes a cursor or, with sync points, a
// subsequence.
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_decode.hpp"

#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/tuning.hpp"
#include "cuda/stages/cursor_lookup.cuh"
#include "cuda/stages/decode_tables.cuh"
#include "cuda/stages/stretch.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = tuning::kDecodeThreads;
/// CTAs that share the blocks of one damaged cursor.
constexpr unsigned kConcealSlices = 16;

__device__ void store_end(BitCursor& cursor, const StretchEnd& end) {
  cursor.bit = end.bit;
  cursor.good_blocks = end.block;
  cursor.fault = end.fault;
}

/// A thread for each cursor; with sync points only for the cursors that have none.
__global__ void __launch_bounds__(kThreads) decode_cursors_kernel(HuffmanDecodeArgs a) {
  __shared__ SharedDecodeTables tables;
  load_decode_tables(a.layout, a.tables, tables);
  __syncthreads();
  const std::int64_t c = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (c >= a.cursor_count) return;
  BitCursor& cursor = a.cursors[c];
  StretchEnd end{0, cursor.bit, Errc::ok};
  if (a.sync != nullptr && a.cursor_first_sync[c] < a.cursor_first_sync[c + 1]) {
    if (a.sync[a.cursor_first_sync[c]].reached != 0)
      return;  // decode_subsequences_kernel decodes it
  } else {
    (void)decode_stretch(a, tables, cursor, {{cursor.bit, 0, 0, 0, 1}, 0, true}, end);
  }
  store_end(cursor, end);
}

__global__ void __launch_bounds__(kThreads) decode_subsequences_kernel(HuffmanDecodeArgs a) {
  __shared__ SharedDecodeTables tables;
  load_decode_tables(a.layout, a.tables, tables);
  __syncthreads();
  const std::int64_t sub = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (sub >= a.sync_count) return;
  const SyncPoint from = a.sync[sub];
  if (from.reached == 0) return;
  const std::int64_t c = cursor_of_subsequence(a.cursor_first_sync, a.cursor_count, sub);
  BitCursor& cursor = a.cursors[c];
  Stretch stretch{from, 0, true};
  if (sub + 1 < a.cursor_first_sync[c + 1] && a.sync[sub + 1].reached != 0) {
    stretch.stop_bit = a.sync[sub + 1].bit;
    stretch.last = false;
  }
  StretchEnd end;
  if (!decode_stretch(a, tables, cursor, stretch, end)) return;
  if (end.bit == kElsewhere)
    end.bit = open_block_start(a, tables, sub, a.cursor_first_sync[c], cursor.end_bit);
  store_end(cursor, end);
}

/// Replaces the block with the fault and those after it: DIFF 0 and no AC.
__global__ void __launch_bounds__(kThreads) conceal_kernel(HuffmanDecodeArgs a) {
  for (std::int64_t c = blockIdx.x; c < a.cursor_count; c += gridDim.x) {
    const BitCursor& cursor = a.cursors[c];
    const std::int64_t step = std::int64_t{gridDim.y} * kThreads;
    for (std::int64_t b = cursor.good_blocks + blockIdx.y * kThreads + threadIdx.x;
         b < cursor.blocks; b += step) {
      a.pairs[(cursor.first_block + b) * kBlockSize] = {};
      a.pair_count[cursor.first_block + b] = 1;
    }
  }
}

}  // namespace

Status huffman_decode_cuda(const HuffmanDecodeArgs& a, Exec& exec) {
  if (a.cursor_count == 0) return Status::ok();
  const cudaStream_t stream = stream_of(exec);
  ZR_LAUNCH(decode_cursors_kernel, grid_size(a.cursor_count, kThreads), kThreads, stream, a);
  if (a.sync != nullptr && a.sync_count > 0)
    ZR_LAUNCH(decode_subsequences_kernel, grid_size(a.sync_count, kThreads), kThreads, stream, a);
  const dim3 grid(grid_size(a.cursor_count, 1), a.cursor_count < 256 ? kConcealSlices : 1);
  ZR_LAUNCH(conceal_kernel, grid, kThreads, stream, a);
  return Status::ok();
}

}  // namespace zerorun
