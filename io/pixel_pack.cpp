// Between the packed and semi-planar frame layouts and separate planes.
// SPDX-License-Identifier: MIT
#include "io/pixel_pack.hpp"

#include <cstring>

namespace zerorun::io {
namespace {

/// Byte places in a group Y0 Cb Y1 Cr of yuyv or uyvy.
struct GroupLayout {
  int y0, cb, y1, cr;
};

constexpr GroupLayout group_layout(PixelFormat format) noexcept {
  return format == PixelFormat::yuyv ? GroupLayout{0, 1, 2, 3} : GroupLayout{1, 0, 3, 2};
}

bool is_semi_planar(PixelFormat format) noexcept {
  return format == PixelFormat::nv12 || format == PixelFormat::nv21;
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
  if (is_semi_planar(packed.format)) {
    copy_plane(packed, planar, 0);
    const int first = packed.format == PixelFormat::nv12 ? 1 : 2;
    for (int row = 0; row < plane_rows(planar.format, 1, planar.height); ++row) {
      const std::uint8_t* pairs = row_of(packed, 1, row);
      std::uint8_t* one = row_of(planar, first, row);
      std::uint8_t* two = row_of(planar, 3 - first, row);
      for (int x = 0; x < (packed.width + 1) / 2; ++x) {
        one[x] = pairs[2 * x];
        two[x] = pairs[2 * x + 1];
      }
    }
    return;
  }
  const GroupLayout at = group_layout(packed.format);
  for (int row = 0; row < packed.height; ++row) {
    const std::uint8_t* group = row_of(packed, 0, row);
    std::uint8_t* y = row_of(planar, 0, row);
    std::uint8_t* cb = row_of(planar, 1, row);
    std::uint8_t* cr = row_of(planar, 2, row);
    for (int x = 0; x < packed.width; x += 2, group += 4) {
      y[x] = group[at.y0];
      if (x + 1 < packed.width) y[x + 1] = group[at.y1];
      cb[x / 2] = group[at.cb];
      cr[x / 2] = group[at.cr];
    }
  }
}

void pack_yuv(const ConstFrameView& planar, const FrameView& packed) noexcept {
  if (is_semi_planar(packed.format)) {
    copy_plane(planar, packed, 0);
    const int first = packed.format == PixelFormat::nv12 ? 1 : 2;
    for (int row = 0; row < plane_rows(planar.format, 1, planar.height); ++row) {
      const std::uint8_t* one = row_of(planar, first, row);
      const std::uint8_t* two = row_of(planar, 3 - first, row);
      std::uint8_t* pairs = row_of(packed, 1, row);
      for (int x = 0; x < (packed.width + 1) / 2; ++x) {
        pairs[2 * x] = one[x];
        pairs[2 * x + 1] = two[x];
      }
    }
    return;
  }
  const GroupLayout at = group_layout(packed.format);
  for (int row = 0; row < packed.height; ++row) {
    const std::uint8_t* y = row_of(planar, 0, row);
    const std::uint8_t* cb = row_of(planar, 1, row);
    const std::uint8_t* cr = row_of(planar, 2, row);
    std::uint8_t* group = row_of(packed, 0, row);
    for (int x = 0; x < packed.width; x += 2, group += 4) {
      group[at.y0] = y[x];
      group[at.y1] = y[x + 1 < packed.width ? x + 1 : x];
      group[at.cb] = cb[x / 2];
      group[at.cr] = cr[x / 2];
    }
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
