// Rows of any pixel format as full-resolution Y, Cb, Cr samples, and back.
// SPDX-License-Identifier: MIT
#include "codec/base/pixel_rows.hpp"

#include "codec/arith/color.hpp"
#include "codec/arith/host_device.hpp"

namespace zerorun {
ChromaAccess chroma_access(PixelFormat format) {
  const LumaFactors luma = luma_factors(native_subsampling(format));
  const int shift_x = luma.h / 2, shift_y = luma.v / 2;  // log2 of 1, 2 or 4
  switch (format) {
    case PixelFormat::nv12:
      return {1, 1, 0, 1, 2, shift_x, shift_y};
    case PixelFormat::nv21:
      return {1, 1, 1, 0, 2, shift_x, shift_y};
    case PixelFormat::yuyv:
      return {0, 0, 1, 3, 4, shift_x, shift_y};
    case PixelFormat::uyvy:
      return {0, 0, 0, 2, 4, shift_x, shift_y};
    default:
      return {1, 2, 0, 0, 1, shift_x, shift_y};  // planar
  }
}

LumaAccess luma_access(PixelFormat format) {
  if (format == PixelFormat::yuyv) return {0, 2};
  if (format == PixelFormat::uyvy) return {1, 2};
  return {0, 1};
}

RgbOrder rgb_order(PixelFormat format) {
  constexpr RgbOrder kOrders[] = {{0, 1, 2, 3}, {2, 1, 0, 3}, {0, 1, 2, 4},  // rgb24, bgr24, rgbx32
                                  {2, 1, 0, 4}, {1, 2, 3, 4}, {3, 2, 1, 4}};  // bgrx, xrgb, xbgr
  return kOrders[is_rgb(format) ? static_cast<int>(format) - static_cast<int>(PixelFormat::rgb24)
                                : 0];
}

ComponentLayout component_layout(PixelFormat format, int component, int width, int height) {
  if (is_rgb(format)) {
    const RgbOrder order = rgb_order(format);
    const int offset[] = {order.r, order.g, order.b};
    return {0, offset[component], order.pixel_bytes, width, height};
  }
  if (component == 0) {
    const LumaAccess luma = luma_access(format);
    return {0, luma.offset, luma.step, width, height};
  }
  const ChromaAccess chroma = chroma_access(format);
  return {component == 1 ? chroma.cb_plane : chroma.cr_plane,
          component == 1 ? chroma.cb_offset : chroma.cr_offset, chroma.step,
          ceil_div(width, 1 << chroma.shift_x), ceil_div(height, 1 << chroma.shift_y)};
}

void read_ycc_row(const ConstFrameView& frame, int y, std::uint8_t* luma, std::uint8_t* cb,
                  std::uint8_t* cr, bool shapes_noise) {
  if (is_rgb(frame.format)) {
    const RgbOrder order = rgb_order(frame.format);
    const std::uint8_t* in = frame_row(frame, 0, y);
    Carry carry{};
    for (int x = 0; x < frame.width; ++x, in += order.pixel_bytes) {
      if (!shapes_noise || x % kShapedPixels == 0) carry = first_carry(y, shapes_noise);
      const Ycc ycc = rgb_to_ycc(in[order.r], in[order.g], in[order.b], carry);
      luma[x] = ycc.y;
      if (cb == nullptr) continue;
      cb[x] = ycc.cb;
      cr[x] = ycc.cr;
    }
    return;
  }
  const LumaAccess access = luma_access(frame.format);
  const std::uint8_t* in = frame_row(frame, 0, y) + access.offset;
  for (int x = 0; x < frame.width; ++x) luma[x] = in[x * access.step];
  if (cb == nullptr || frame.format == PixelFormat::gray8) return;
  const ChromaAccess chroma = chroma_access(frame.format);
  const std::uint8_t* in_cb =
      frame_row(frame, chroma.cb_plane, y >> chroma.shift_y) + chroma.cb_offset;
  const std::uint8_t* in_cr =
      frame_row(frame, chroma.cr_plane, y >> chroma.shift_y) + chroma.cr_offset;
  for (int x = 0; x < frame.width; ++x) {
    cb[x] = in_cb[(x >> chroma.shift_x) * chroma.step];
    cr[x] = in_cr[(x >> chroma.shift_x) * chroma.step];
  }
}

void pack_rgb_row(const FrameView& frame, int y, const std::uint8_t* r, const std::uint8_t* g,
                  const std::uint8_t* b) {
  const RgbOrder order = rgb_order(frame.format);
  std::uint8_t* out = frame_row(frame, 0, y);
  for (int x = 0; x < frame.width; ++x, out += order.pixel_bytes) {
    out[order.r] = r[x];
    out[order.g] = g[x];
    out[order.b] = b[x];
    if (order.pixel_bytes == 4) out[order.spare()] = 255;
  }
}

void pack_ink_row(const FrameView& frame, int y, const std::uint8_t* c, const std::uint8_t* m,
                  const std::uint8_t* yellow, const std::uint8_t* k) {
  std::uint8_t* out = frame_row(frame, 0, y);
  for (int x = 0; x < frame.width; ++x, out += 4) {
    out[0] = c[x];
    out[1] = m[x];
    out[2] = yellow[x];
    out[3] = k[x];
  }
}

void write_luma_row(const FrameView& frame, int y, const std::uint8_t* luma) {
  const LumaAccess access = luma_access(frame.format);
  std::uint8_t* out = frame_row(frame, 0, y) + access.offset;
  for (int x = 0; x < frame.width; ++x) out[x * access.step] = luma[x];
  // Packed 4:2:2 has groups of two pixels: in the last one the second repeats the first.
  if (access.step == 2 && frame.width % 2 != 0) out[frame.width * 2] = luma[frame.width - 1];
}

void write_chroma_row(const FrameView& frame, int cy, const std::uint8_t* cb,
                      const std::uint8_t* cr) {
  const ChromaAccess chroma = chroma_access(frame.format);
  std::uint8_t* out_cb = frame_row(frame, chroma.cb_plane, cy) + chroma.cb_offset;
  std::uint8_t* out_cr = frame_row(frame, chroma.cr_plane, cy) + chroma.cr_offset;
  const int width = ceil_div(frame.width, 1 << chroma.shift_x);
  for (int x = 0; x < width; ++x) {
    out_cb[x * chroma.step] = cb[x];
    out_cr[x * chroma.step] = cr[x];
  }
}

void box_filter_row(const std::uint8_t* row0, const std::uint8_t* row1, int h, int rows,
                    std::uint8_t* out, int out_width) {
  for (int x = 0; x < out_width; ++x) {
    int sum = 0;
    for (int i = h * x; i < h * (x + 1); ++i) sum += row0[i] + (rows == 2 ? row1[i] : 0);
    out[x] = box_mean(sum, h, rows, x);
  }
}

}  // namespace zerorun
