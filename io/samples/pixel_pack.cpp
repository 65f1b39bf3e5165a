// Copies samples between packed or semi-planar layouts and planes.
// SPDX-License-Identifier: MIT
#include "io/samples/pixel_pack.hpp"

#include <cstring>

namespace zerorun::io {
namespace {

/// Where the samples of a component lie in a packed or semi-planar format: the plane, the offset of
/// the first one, and the distance of the next one in bytes.
struct SampleLayout {
  int plane, offset, step;
};

SampleLayout sample_layout(PixelFormat format, int component) noexcept {
  const bool is_chroma = component > 0;
  switch (format) {
    case PixelFormat::nv12:
      return is_chroma ? SampleLayout{1, component - 1, 2} : SampleLayout{0, 0, 1};
    case PixelFormat::nv21:
      return is_chroma ? SampleLayout{1, 2 - component, 2} : SampleLayout{0, 0, 1};
    case PixelFormat::yuyv:  // Y0 Cb Y1 Cr
      return is_chroma ? SampleLayout{0, 2 * component - 1, 4} : SampleLayout{0, 0, 2};
    default:  // uyvy: Cb Y0 Cr Y1
      return is_chroma ? SampleLayout{0, 2 * component - 2, 4} : SampleLayout{0, 1, 2};
  }
}

/// Calls copy(planar row, packed row, distance of its samples, number of samples) for every row of
/// every component.
void each_row(const auto& planar, const auto& packed, const auto& copy) noexcept {
  for (int component = 0; component < 3; ++component) {
    const SampleLayout at = sample_layout(packed.format, component);
    const int count = static_cast<int>(plane_row_bytes(planar.format, component, planar.width));
    for (int row = 0; row < plane_rows(planar.format, component, planar.height); ++row)
      copy(row_of(planar, component, row), row_of(packed, at.plane, row) + at.offset, at.step,
           count);
  }
}

void copy_plane(const ConstFrameView& in, const FrameView& out, int plane) noexcept {
  const std::size_t bytes = plane_row_bytes(in.format, plane, in.width);
  for (int row = 0; row < plane_rows(in.format, plane, in.height); ++row)
    std::memcpy(row_of(out, plane, row), row_of(in, plane, row), bytes);
}

}  // namespace

RgbLayout rgb_layout(PixelFormat format) noexcept {
  switch (format) {
    case PixelFormat::bgr24:
      return {3, 2, 1, 0, -1};
    case PixelFormat::rgbx32:
      return {4, 0, 1, 2, 3};
    case PixelFormat::bgrx32:
      return {4, 2, 1, 0, 3};
    case PixelFormat::xrgb32:
      return {4, 1, 2, 3, 0};
    case PixelFormat::xbgr32:
      return {4, 3, 2, 1, 0};
    default:
      return {3, 0, 1, 2, -1};
  }
}

void unpack_yuv(const ConstFrameView& packed, const FrameView& planar) noexcept {
  each_row(planar, packed, [](std::uint8_t* to, const std::uint8_t* from, int step, int count) {
    for (int x = 0; x < count; ++x) to[x] = from[x * step];
  });
}

void pack_yuv(const ConstFrameView& planar, const FrameView& packed) noexcept {
  each_row(planar, packed, [](const std::uint8_t* from, std::uint8_t* to, int step, int count) {
    for (int x = 0; x < count; ++x) to[x * step] = from[x];
  });
  // The last group of an odd width of yuyv and uyvy repeats its luma sample.
  const SampleLayout luma = sample_layout(packed.format, 0);
  if (luma.step == 1 || packed.width % 2 == 0) return;
  for (int row = 0; row < packed.height; ++row) {
    std::uint8_t* last = row_of(packed, 0, row) + luma.offset + (packed.width - 1) * luma.step;
    last[luma.step] = last[0];
  }
}

void swizzle_rgb(const ConstFrameView& in, const FrameView& out) noexcept {
  const RgbLayout from = rgb_layout(in.format), to = rgb_layout(out.format);
  for (int row = 0; row < in.height; ++row) {
    const std::uint8_t* source = row_of(in, 0, row);
    std::uint8_t* target = row_of(out, 0, row);
    for (int x = 0; x < in.width; ++x, source += from.bytes, target += to.bytes) {
      target[to.r] = source[from.r];
      target[to.g] = source[from.g];
      target[to.b] = source[from.b];
      if (to.unused >= 0) target[to.unused] = 255;
    }
  }
}

void copy_frame(const ConstFrameView& in, const FrameView& out) noexcept {
  for (int plane = 0; plane < plane_count(in.format); ++plane) copy_plane(in, out, plane);
}

}  // namespace zerorun::io
