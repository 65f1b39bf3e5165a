// Rows of any pixel format as full-resolution Y, Cb, Cr samples, and back.
// SPDX-License-Identifier: MIT
#include "codec/base/pixel_rows.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/color.hpp"
#include "codec/arith/integer.hpp"
#include "codec/arith/resample.hpp"
#include "codec/base/multiversion.hpp"

namespace zerorun {
namespace {

template <typename View>
auto row_of(const View& frame, int plane, int y) {
  const auto p = static_cast<std::size_t>(plane);
  return frame.data[p] + y * frame.stride_bytes[p];
}

int chroma_width(const ChromaAccess& access, int width) {
  return ceil_div(width, 1 << access.shift_x);
}

// Colour conversion works on runs of pixels in planes, because GCC does not vectorise it for
// interleaved pixels.
constexpr int kRun = 512;

void unpack_rgb_run(const std::uint8_t* __restrict in, RgbOrder order, int width,
                    std::uint8_t* __restrict r, std::uint8_t* __restrict g,
                    std::uint8_t* __restrict b) {
  for (int x = 0; x < width; ++x, in += order.pixel_bytes) {
    r[x] = in[order.r];
    g[x] = in[order.g];
    b[x] = in[order.b];
  }
}

ZR_MULTIVERSION void rgb_run_to_ycc(const std::uint8_t* __restrict r,
                                    const std::uint8_t* __restrict g,
                                    const std::uint8_t* __restrict b, int width,
                                    std::uint8_t* __restrict luma, std::uint8_t* __restrict cb,
                                    std::uint8_t* __restrict cr) {
  for (int x = 0; x < width; ++x) {
    const Ycc ycc = rgb_to_ycc(r[x], g[x], b[x]);
    luma[x] = ycc.y;
    cb[x] = ycc.cb;
    cr[x] = ycc.cr;
  }
}

void rgb_row_to_ycc(const std::uint8_t* in, RgbOrder order, int width, std::uint8_t* luma,
                    std::uint8_t* cb, std::uint8_t* cr) {
  std::uint8_t r[kRun], g[kRun], b[kRun];
  for (int x = 0; x < width; x += kRun) {
    const int run = std::min(kRun, width - x);
    unpack_rgb_run(in + std::ptrdiff_t{x} * order.pixel_bytes, order, run, r, g, b);
    rgb_run_to_ycc(r, g, b, run, luma + x, cb + x, cr + x);
  }
}

ZR_MULTIVERSION void ycc_run_to_rgb(const std::uint8_t* __restrict luma,
                                    const std::uint8_t* __restrict cb,
                                    const std::uint8_t* __restrict cr, int width,
                                    std::uint8_t* __restrict r, std::uint8_t* __restrict g,
                                    std::uint8_t* __restrict b) {
  for (int x = 0; x < width; ++x) {
    const Rgb rgb = ycc_to_rgb(luma[x], cb[x], cr[x]);
    r[x] = rgb.r;
    g[x] = rgb.g;
    b[x] = rgb.b;
  }
}

/// Pixels x0 up to x0 + width of row y.
void pack_rgb_run(const FrameView& frame, int y, int x0, int width,
                  const std::uint8_t* __restrict r, const std::uint8_t* __restrict g,
                  const std::uint8_t* __restrict b) {
  const RgbOrder order = rgb_order(frame.format);
  std::uint8_t* __restrict out = row_of(frame, 0, y) + std::ptrdiff_t{x0} * order.pixel_bytes;
  if (order.pixel_bytes == 4) {
    for (int x = 0; x < width; ++x) {
      const std::uint32_t pixel = std::uint32_t{r[x]} << 8 * order.r |
                                  std::uint32_t{g[x]} << 8 * order.g |
                                  std::uint32_t{b[x]} << 8 * order.b | 255u << 8 * order.spare();
      for (int i = 0; i < 4; ++i) out[4 * x + i] = static_cast<std::uint8_t>(pixel >> 8 * i);
    }
  } else {
    const std::uint8_t* __restrict first = order.r == 0 ? r : b;
    const std::uint8_t* __restrict third = order.r == 0 ? b : r;
    for (int x = 0; x < width; ++x) {
      out[3 * x] = first[x];
      out[3 * x + 1] = g[x];
      out[3 * x + 2] = third[x];
    }
  }
}

ZR_MULTIVERSION void box_2x1(const std::uint8_t* in, std::uint8_t* out, int out_width) {
  for (int x = 0; x < out_width; ++x) out[x] = box_mean(in[2 * x] + in[2 * x + 1], 2, 1, x);
}

ZR_MULTIVERSION void box_2x2(const std::uint8_t* row0, const std::uint8_t* row1, std::uint8_t* out,
                             int out_width) {
  for (int x = 0; x < out_width; ++x)
    out[x] = box_mean(row0[2 * x] + row0[2 * x + 1] + row1[2 * x] + row1[2 * x + 1], 2, 2, x);
}

}  // namespace

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
  switch (format) {
    case PixelFormat::bgr24:
      return {2, 1, 0, 3};
    case PixelFormat::rgbx32:
      return {0, 1, 2, 4};
    case PixelFormat::bgrx32:
      return {2, 1, 0, 4};
    case PixelFormat::xrgb32:
      return {1, 2, 3, 4};
    case PixelFormat::xbgr32:
      return {3, 2, 1, 4};
    default:
      return {0, 1, 2, 3};
  }
}

void read_ycc_row(const ConstFrameView& frame, int y, std::uint8_t* luma, std::uint8_t* cb,
                  std::uint8_t* cr) {
  if (is_rgb(frame.format)) {
    const RgbOrder order = rgb_order(frame.format);
    const std::uint8_t* in = row_of(frame, 0, y);
    if (cb != nullptr) {
      rgb_row_to_ycc(in, order, frame.width, luma, cb, cr);
    } else {
      for (int x = 0; x < frame.width; ++x, in += order.pixel_bytes)
        luma[x] = rgb_to_y(in[order.r], in[order.g], in[order.b]);
    }
    return;
  }
  const LumaAccess access = luma_access(frame.format);
  const std::uint8_t* in = row_of(frame, 0, y) + access.offset;
  for (int x = 0; x < frame.width; ++x) luma[x] = in[x * access.step];
  if (cb == nullptr || frame.format == PixelFormat::gray8) return;
  const ChromaAccess chroma = chroma_access(frame.format);
  const std::uint8_t* in_cb =
      row_of(frame, chroma.cb_plane, y >> chroma.shift_y) + chroma.cb_offset;
  const std::uint8_t* in_cr =
      row_of(frame, chroma.cr_plane, y >> chroma.shift_y) + chroma.cr_offset;
  for (int x = 0; x < frame.width; ++x) {
    cb[x] = in_cb[(x >> chroma.shift_x) * chroma.step];
    cr[x] = in_cr[(x >> chroma.shift_x) * chroma.step];
  }
}

void read_chroma_row(const ConstFrameView& frame, int cy, std::uint8_t* cb, std::uint8_t* cr) {
  const ChromaAccess chroma = chroma_access(frame.format);
  const std::uint8_t* in_cb = row_of(frame, chroma.cb_plane, cy) + chroma.cb_offset;
  const std::uint8_t* in_cr = row_of(frame, chroma.cr_plane, cy) + chroma.cr_offset;
  const int width = chroma_width(chroma, frame.width);
  for (int x = 0; x < width; ++x) {
    cb[x] = in_cb[x * chroma.step];
    cr[x] = in_cr[x * chroma.step];
  }
}

void pack_rgb_row(const FrameView& frame, int y, const std::uint8_t* r, const std::uint8_t* g,
                  const std::uint8_t* b) {
  pack_rgb_run(frame, y, 0, frame.width, r, g, b);
}

void write_rgb_row(const FrameView& frame, int y, const std::uint8_t* luma, const std::uint8_t* cb,
                   const std::uint8_t* cr) {
  std::uint8_t r[kRun], g[kRun], b[kRun];
  for (int x = 0; x < frame.width; x += kRun) {
    const int run = std::min(kRun, frame.width - x);
    ycc_run_to_rgb(luma + x, cb + x, cr + x, run, r, g, b);
    pack_rgb_run(frame, y, x, run, r, g, b);
  }
}

void write_luma_row(const FrameView& frame, int y, const std::uint8_t* luma) {
  const LumaAccess access = luma_access(frame.format);
  std::uint8_t* out = row_of(frame, 0, y) + access.offset;
  for (int x = 0; x < frame.width; ++x) out[x * access.step] = luma[x];
  // Packed 4:2:2 has groups of two pixels: in the last one the second repeats the first.
  if (access.step == 2 && frame.width % 2 != 0) out[frame.width * 2] = luma[frame.width - 1];
}

void write_chroma_row(const FrameView& frame, int cy, const std::uint8_t* cb,
                      const std::uint8_t* cr) {
  const ChromaAccess chroma = chroma_access(frame.format);
  std::uint8_t* out_cb = row_of(frame, chroma.cb_plane, cy) + chroma.cb_offset;
  std::uint8_t* out_cr = row_of(frame, chroma.cr_plane, cy) + chroma.cr_offset;
  const int width = chroma_width(chroma, frame.width);
  for (int x = 0; x < width; ++x) {
    out_cb[x * chroma.step] = cb[x];
    out_cr[x * chroma.step] = cr[x];
  }
}

void box_filter_row(const std::uint8_t* row0, const std::uint8_t* row1, int h, int rows,
                    std::uint8_t* out, int out_width) {
  if (h == 1 && rows == 1) {
    std::memcpy(out, row0, static_cast<std::size_t>(out_width));
  } else if (h == 2) {
    rows == 1 ? box_2x1(row0, out, out_width) : box_2x2(row0, row1, out, out_width);
  } else if (h == 4) {
    for (int x = 0; x < out_width; ++x, row0 += 4)
      out[x] = box_mean(row0[0] + row0[1] + row0[2] + row0[3], 4, 1, x);
  } else {
    for (int x = 0; x < out_width; ++x) out[x] = box_mean(row0[x] + row1[x], 1, 2, x);
  }
}

}  // namespace zerorun
