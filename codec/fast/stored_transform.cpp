// Blocks of a progressive frame -> samples.
// SPDX-License-Identifier: MIT
#include "codec/fast/stored_transform.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/integer.hpp"

namespace zerorun::fast {
namespace {

/// Blocks that are transformed together: they stay in the first-level cache.
constexpr std::int32_t kRunBlocks = 64;

}  // namespace

void StoredTransform::begin(int workers) {
  while (runs_.size() < static_cast<std::size_t>(workers))
    runs_.push_back(std::make_unique<CoefficientRun>());
}

void StoredTransform::transform_row(const StoredBlocks& blocks, std::int32_t row,
                                    const DequantRows& dequant, const SamplePlane& plane,
                                    int worker) {
  CoefficientRun& run = *runs_[static_cast<std::size_t>(worker)];
  const std::int32_t group = kernels_.group_blocks;
  const PlaneView& view = plane.view;
  const std::int32_t edge = kBlockEdge >> view.shrink;
  const std::int64_t y0 = std::int64_t{row} * edge;
  const std::int32_t wide = ceil_div(view.width, edge);
  for (std::int32_t x = 0; x < wide; x += kRunBlocks) {
    const std::int32_t count = std::min(kRunBlocks, wide - x);
    const std::int64_t first =
        std::int64_t{row + view.block_y} * blocks.blocks_wide + view.block_x + x;
    for (std::int32_t b = 0; b < count; ++b) {
      const std::int64_t block = first + b;
      std::int16_t* const out =
          run.coefficient + std::ptrdiff_t{b / group * group} * kBlockSize + b % group * kBlockEdge;
      const std::uint64_t nonzero = blocks.nonzero[block];
      const std::int16_t* const in = blocks.ac + block * kBlockSize;
      for (int y = 0; y < kBlockEdge; ++y)
        if (nonzero == 0)
          std::memset(out + y * group * kBlockEdge, 0, kBlockEdge * sizeof *out);
        else
          std::memcpy(out + y * group * kBlockEdge, in + y * kBlockEdge, kBlockEdge * sizeof *out);
      out[0] = blocks.dc[block];
      run.extent[b] = static_cast<std::uint8_t>(64 - __builtin_clzll(nonzero | 1));
    }
    const std::int64_t x0 = std::int64_t{x} * edge;
    kernels_.transform_row({&run, 0, count, &dequant, view.data + y0 * view.stride_bytes + x0,
                            view.stride_bytes, plane.columns - static_cast<std::int32_t>(x0),
                            plane.rows - static_cast<std::int32_t>(y0), view.shrink});
  }
}

}  // namespace zerorun::fast
