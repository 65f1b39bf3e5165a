// What decode pipelines of both backends do with blocks and planes at the end.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/arith/zigzag.hpp"
#include "codec/pipeline/decode_pipeline.hpp"

namespace zerorun {

void StoredFrame::clear(const FrameHeader& frame) {
  for (std::size_t c = 0; c < frame.components.size(); ++c) {
    const FrameHeader::Component& component = frame.components[c];
    const std::int64_t count = std::int64_t{component.blocks_wide} * component.blocks_high;
    Memory& memory = memory_[c];
    blocks_[c] = {component.blocks_wide, component.blocks_high, memory.dc.reserve(count),
                  memory.nonzero.reserve(count), memory.ac.reserve(count * kBlockSize)};
    std::fill_n(blocks_[c].dc, count, std::int16_t{0});
    std::fill_n(blocks_[c].nonzero, count, std::uint64_t{0});
    quant_[c] = {};
    has_table_[c] = false;
  }
}

void StoredFrame::take_tables(const ScanHeader& scan) {
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    const int c = scan.components[i];
    if (!std::exchange(has_table_[c], true)) quant_[c] = scan.quant[i];
  }
}

void StoredFrame::copy(std::vector<ComponentCoefficients>& out) const {
  for (std::size_t c = 0; c < out.size(); ++c) {
    const std::int64_t count = std::int64_t{out[c].blocks_wide} * out[c].blocks_high;
    for (std::int64_t b = 0; b < count; ++b)
      blocks_[c].copy_block(b, out[c].values.data() + b * kBlockSize);
  }
}

void store_coefficients(const ScanHeader& scan, std::int64_t first_mcu, std::int64_t mcus,
                        const std::int16_t* blocks, StoredFrame& out) {
  for (std::int64_t m = first_mcu; m < first_mcu + mcus; ++m)
    for (std::int32_t i = 0; i < scan.layout.blocks_per_mcu; ++i, blocks += kBlockSize) {
      const BlockPlace place = place_block(scan.layout, m, i);
      if (!place.inside) continue;
      const StoredBlocks& component =
          out.blocks()[scan.components[static_cast<std::size_t>(place.component)]];
      component.set_block(std::int64_t{place.y} * component.blocks_wide + place.x, blocks);
    }
}

void fill_missing(const FrameHeader& frame, const bool* scanned, const PlaneView* planes) {
  for (std::size_t c = 0; c < frame.components.size(); ++c) {
    const PlaneView& plane = planes[c];
    if (scanned[c] || plane.data == nullptr) continue;
    for (int y = 0; y < plane.height; ++y)
      std::memset(plane.data + y * plane.stride_bytes, 128, static_cast<std::size_t>(plane.width));
  }
}

void copy_planes(const FrameHeader& frame, const PlaneView* planes,
                 std::vector<ComponentPlane>& out) {
  out.resize(frame.components.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    const PlaneView& plane = planes[c];
    out[c].width = plane.width;
    out[c].height = plane.height;
    const auto width = static_cast<std::size_t>(plane.width);
    out[c].samples.resize(width * static_cast<std::size_t>(plane.height));
    for (int y = 0; y < plane.height; ++y)
      std::memcpy(out[c].samples.data() + static_cast<std::size_t>(y) * width,
                  plane.data + y * plane.stride_bytes, width);
  }
}

}  // namespace zerorun
