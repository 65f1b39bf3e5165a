// CUDA twin of codec/encode/dc_diff.cpp. A thread does a block.
// SPDX-License-Identifier: MIT
#include "codec/encode/dc_diff.hpp"

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    dc_diff_kernel(const __grid_constant__ DcDiffArgs a, std::int64_t blocks) {
  const std::int32_t per_mcu = a.layout.blocks_per_mcu;
  for (std::int64_t b = grid_thread(); b < blocks; b += grid_threads()) {
    const std::int64_t m = b / per_mcu;
    const auto index = static_cast<std::int32_t>(b % per_mcu);
    const bool interval_starts = (a.first_mcu + m) % a.layout.interval_mcus() == 0;
    const PreviousBlock previous = previous_block(a.layout, index);
    const std::int64_t before = (m - previous.wraps) * per_mcu + previous.index;
    const int prediction = previous.wraps && interval_starts ? 0 : a.zz[before * kBlockSize];
    a.diff[b] = static_cast<std::int16_t>(a.zz[b * kBlockSize] - prediction);
  }
}

}  // namespace

Status dc_diff_cuda(const DcDiffArgs& a, Exec& exec) {
  const std::int64_t blocks = a.mcu_count * a.layout.blocks_per_mcu;
  if (blocks == 0) return Status::ok();
  ZR_LAUNCH(dc_diff_kernel, grid_size(blocks, kThreads), kThreads, stream_of(exec), a, blocks);
  return Status::ok();
}

}  // namespace zerorun
