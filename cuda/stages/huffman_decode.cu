// CUDA twin of codec/decode/huffman_decode.cpp. A thread decodes a cursor or, with sync points, a
// subsequence.
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_decode.hpp"

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/huffman_decode.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = 128;

/// A thread for each cursor; with sync points only for the cursors that have none.
__global__ void __launch_bounds__(kThreads) decode_cursors_kernel(HuffmanDecodeArgs a) {
  const std::int64_t c = grid_thread();
  if (c >= a.cursor_count) return;
  // The next kernel decodes cursors with sync points.
  if (a.sync != nullptr && a.cursor_first_sync[c] < a.cursor_first_sync[c + 1] &&
      a.sync[a.cursor_first_sync[c]].reached != 0)
    return;
  decode_stretch(a, a.cursors[c], whole_cursor(a.cursors[c]));
}

__global__ void __launch_bounds__(kThreads) decode_subsequences_kernel(HuffmanDecodeArgs a) {
  const std::int64_t sub = grid_thread();
  if (sub >= a.sync_count || a.sync[sub].reached == 0) return;
  const std::int64_t c = cursor_of_subsequence(a.cursor_first_sync, a.cursor_count, sub);
  decode_stretch(a, a.cursors[c], stretch_from(a.sync, sub, a.cursor_first_sync[c + 1]));
}

}  // namespace

Status huffman_decode_cuda(const HuffmanDecodeArgs& a, Exec& exec) {
  if (a.cursor_count == 0) return Status::ok();
  const cudaStream_t stream = stream_of(exec);
  ZR_LAUNCH(decode_cursors_kernel, grid_size(a.cursor_count, kThreads), kThreads, stream, a);
  if (a.sync != nullptr && a.sync_count > 0)
    ZR_LAUNCH(decode_subsequences_kernel, grid_size(a.sync_count, kThreads), kThreads, stream, a);
  return Status::ok();
}

}  // namespace zerorun
