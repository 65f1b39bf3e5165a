// The part of a damaged scan that has no data.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/flat_mcus.hpp"

#include <algorithm>
#include <cstring>

#include "codec/decode/dequant_idct.hpp"

namespace zerorun {
namespace {

/// The value of all samples of a block that has a coefficient DC alone.
std::uint8_t flat_sample(std::int16_t dc, std::uint16_t quant) {
  DequantTables tables{};
  tables.table[0][0] = quant;
  const ComponentSpec spec;
  const int first = 0;
  std::int16_t block[kBlockSize] = {dc};
  std::uint8_t samples[kBlockSize];
  const PlaneView plane{samples, kBlockEdge, kBlockEdge, kBlockEdge};
  Exec exec;
  (void)dequant_idct_cpu({make_scan_layout(kBlockEdge, kBlockEdge, &spec, 1, &first, 1, 0),
                          &tables,
                          0,
                          1,
                          block,
                          {plane}},
                         exec);
  return samples[0];
}

}  // namespace

void FlatComponents::begin() {
  for (Component& component : components_) component.runs.clear();
}

void FlatComponents::set(const ScanHeader& scan, std::span<const FlatMcus> flat) {
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    Component& component = components_[scan.components[i]];
    component.layout = scan.layout;
    component.index = static_cast<int>(i);
    component.quant = scan.quant[i][0];
    component.runs.clear();
    for (const FlatMcus& mcus : flat) component.runs.push_back({mcus.first, mcus.end, mcus.dc[i]});
  }
}

template <typename Fill>
void FlatComponents::fill_mcu_row(const Component& component, std::int64_t row, const Fill& fill) {
  const ScanLayout& layout = component.layout;
  const ScanLayout::Component& shape = layout.component[component.index];
  const std::int64_t start = row * layout.mcus_wide, stop = start + layout.mcus_wide;
  const auto y = static_cast<std::int32_t>(row * shape.v);
  auto run = std::ranges::upper_bound(component.runs, start, {}, &Run::end);
  for (; run != component.runs.end() && run->first < stop; ++run) {
    const auto x = static_cast<std::int32_t>((std::max(run->first, start) - start) * shape.h);
    const auto x_end = static_cast<std::int32_t>((std::min(run->end, stop) - start) * shape.h);
    fill(Blocks{x, std::min(x_end, shape.blocks_wide), y, std::min(y + shape.v, shape.blocks_high),
                run->dc});
  }
}

template <typename Fill>
void FlatComponents::for_each(ThreadPool& pool, const Fill& fill) const {
  for (int c = 0; c < kMaxDecodedComponents; ++c) {
    const Component& component = components_[c];
    if (component.runs.empty()) continue;
    pool.run(component.layout.mcus_high, [&](std::int64_t row, int) {
      fill_mcu_row(component, row, [&](const Blocks& blocks) { fill(c, blocks); });
    });
  }
}

void FlatComponents::fill_planes(ThreadPool& pool, const PlaneView* planes) const {
  for_each(pool, [&](int c, const Blocks& blocks) {
    const PlaneView& plane = planes[c];
    // All transforms give the same sample.
    const std::int32_t edge = kBlockEdge >> plane.shrink;
    const std::int32_t x = std::max(0, (blocks.x - plane.block_x) * edge);
    const std::int32_t x_end = std::min((blocks.x_end - plane.block_x) * edge, plane.width);
    if (plane.data == nullptr || x >= x_end) return;
    const std::uint8_t sample = flat_sample(blocks.dc, components_[c].quant);
    const std::int32_t y_end = std::min((blocks.y_end - plane.block_y) * edge, plane.height);
    for (std::int32_t y = std::max(0, (blocks.y - plane.block_y) * edge); y < y_end; ++y)
      std::memset(plane.data + y * plane.stride_bytes + x, sample,
                  static_cast<std::size_t>(x_end - x));
  });
}

void FlatComponents::fill_coefficients(ThreadPool& pool, StoredFrame& out) const {
  for_each(pool, [&](int c, const Blocks& blocks) {
    const StoredBlocks& to = out.blocks()[c];
    for (std::int32_t y = blocks.y; y < blocks.y_end; ++y) {
      const std::int64_t row = std::int64_t{y} * to.blocks_wide;
      std::fill(to.dc + row + blocks.x, to.dc + row + blocks.x_end, blocks.dc);
      std::fill(to.nonzero + row + blocks.x, to.nonzero + row + blocks.x_end, std::uint64_t{0});
    }
  });
}

}  // namespace zerorun
