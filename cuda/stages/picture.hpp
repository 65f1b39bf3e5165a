// What the kernels of color_upsample read and write; passed to them by value.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/decode/color_upsample.hpp"

namespace zerorun {

/// A component's plane with all that its filter needs.
struct Component {
  ConstPlaneView plane;
  std::int32_t h, v, h_max, v_max;
  UpsampleFilter filter;
};

struct Picture {
  Component component[kMaxComponents];
  std::int32_t components;
  bool rgb;                          ///< the components are R, G and B
  std::int32_t width, height;        ///< of the frame
  std::int32_t first_row, last_row;  ///< last_row is one past the last
  bool aligned;                      ///< planes and their rows, to 8 bytes
};

inline Picture make_picture(const ColorUpsampleArgs& a) {
  Picture p{};
  p.components = a.components;
  p.rgb = a.model == ColorModel::rgb;
  p.width = a.frame.width;
  p.height = a.frame.height;
  p.first_row = a.first_row;
  p.last_row = std::min(a.first_row + a.row_count, a.frame.height);
  p.aligned = true;
  for (int c = 0; c < a.components; ++c) {
    p.component[c] = {a.plane[c], a.h[c], a.v[c], a.h_max, a.v_max, filter_of(a, c)};
    p.aligned = p.aligned && a.plane[c].stride_bytes % 8 == 0 &&
                reinterpret_cast<std::uintptr_t>(a.plane[c].data) % 8 == 0;
  }
  return p;
}

/// Samples of one kind in a frame: `step` bytes from one to the next.
struct Samples {
  std::uint8_t* data;
  std::int64_t stride;
  std::int32_t step;

  ZR_HD std::uint8_t& at(int x, int y) const { return data[y * stride + std::int64_t{x} * step]; }
};

}  // namespace zerorun
