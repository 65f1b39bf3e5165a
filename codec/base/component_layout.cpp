// Where the samples of a component lie in a frame of any pixel format.
// SPDX-License-Identifier: MIT
#include "codec/base/component_layout.hpp"

namespace zerorun {
namespace {

int half_of(int size) noexcept { return (size + 1) / 2; }

ComponentLayout packed_rgb_layout(PixelFormat format, int component, int width,
                                  int height) noexcept {
  const bool reversed = format == PixelFormat::bgr24 || format == PixelFormat::bgrx32 ||
                        format == PixelFormat::xbgr32;
  const bool padded_first = format == PixelFormat::xrgb32 || format == PixelFormat::xbgr32;
  const int step = format == PixelFormat::rgb24 || format == PixelFormat::bgr24 ? 3 : 4;
  const int place = reversed ? 2 - component : component;
  return {0, place + (padded_first ? 1 : 0), step, width, height};
}

}  // namespace

ComponentLayout component_layout(PixelFormat format, int component, int width,
                                 int height) noexcept {
  const bool chroma = component > 0;
  switch (format) {
    case PixelFormat::nv12:
    case PixelFormat::nv21:
      if (!chroma) return {0, 0, 1, width, height};
      return {1, (component == 1) == (format == PixelFormat::nv12) ? 0 : 1, 2, half_of(width),
              half_of(height)};
    case PixelFormat::yuyv:
    case PixelFormat::uyvy: {
      const int first = format == PixelFormat::yuyv ? 0 : 1;  // of the luma bytes
      if (!chroma) return {0, first, 2, width, height};
      return {0, 1 - first + (component == 2 ? 2 : 0), 4, half_of(width), height};
    }
    default:
      break;
  }
  if (is_rgb(format)) return packed_rgb_layout(format, component, width, height);
  return {component, 0, 1, static_cast<int>(plane_row_bytes(format, component, width)),
          plane_rows(format, component, height)};
}

}  // namespace zerorun
