// What decode pipelines of both backends do with blocks and planes at the end.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "codec/arith/zigzag.hpp"
#include "codec/pipeline/decode_pipeline.hpp"

namespace zerorun {

void store_coefficients(const ScanHeader& scan, std::int64_t first_mcu, std::int64_t mcus,
                        const std::int16_t* blocks, std::vector<ComponentCoefficients>& out) {
  for (std::int64_t m = first_mcu; m < first_mcu + mcus; ++m)
    for (std::int32_t i = 0; i < scan.layout.blocks_per_mcu; ++i, blocks += kBlockSize) {
      const BlockPlace place = place_block(scan.layout, m, i);
      if (!place.inside) continue;
      auto& component =
          out[static_cast<std::size_t>(scan.components[static_cast<std::size_t>(place.component)])];
      const std::int64_t at = std::int64_t{place.y} * component.blocks_wide + place.x;
      std::copy_n(blocks, kBlockSize, component.values.begin() + at * kBlockSize);
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
