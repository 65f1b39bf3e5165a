// The first stage of the encoder and the last of the decoder by the fast kernels.
// SPDX-License-Identifier: MIT
#include "codec/fast/color_rows.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "codec/arith/color.hpp"
#include "codec/base/pixel_rows.hpp"

namespace zerorun::fast {
namespace {

void subsample_rgb(const ColorKernels& kernels, const ColorSubsampleArgs& a, int last_row,
                   std::vector<std::uint8_t>& rows) {
  const RgbOrder order = rgb_order(a.frame.format);
  const bool full = a.h_max == 1 && a.v_max == 1;
  const int full_width = std::max(a.plane[1].width * a.h_max, a.plane[0].width);
  const std::size_t stride = static_cast<std::size_t>(full_width) + kRowPadding;
  rows.resize(stride * 4);
  for (int cy = a.first_row / a.v_max; cy < ceil_div(last_row, a.v_max); ++cy) {
    std::uint8_t* chroma[2][2];  // [row][Cb, Cr]
    for (int i = 0; i < a.v_max; ++i) {
      for (std::size_t c = 0; c < 2; ++c)
        chroma[i][c] = full ? plane_row(a.plane[1 + c], cy)
                            : rows.data() + (2 * static_cast<std::size_t>(i) + c) * stride;
      const int y = std::min(cy * a.v_max + i, a.frame.height - 1);
      std::uint8_t* luma = plane_row(a.plane[0], y);
      kernels.rgb_to_ycc(frame_row(a.frame, 0, y), order, a.frame.width, y, a.shapes_noise, luma,
                         chroma[i][0], chroma[i][1]);
      extend_row(luma, a.frame.width, a.plane[0].width);
      for (std::uint8_t* row : chroma[i])
        extend_row(row, a.frame.width, full ? a.plane[1].width : full_width);
    }
    for (int c = 0; c < 2 && !full; ++c) {
      const std::uint8_t *row0 = chroma[0][c], *row1 = a.v_max == 2 ? chroma[1][c] : nullptr;
      const PlaneView& plane = a.plane[1 + c];
      if (a.h_max == 2)
        kernels.box_2(row0, row1, a.v_max, plane_row(plane, cy), plane.width);
      else
        box_filter_row(row0, row1, a.h_max, a.v_max, plane_row(plane, cy), plane.width);
    }
  }
}

void split_semi_planar(const ColorKernels& kernels, const ColorSubsampleArgs& a, int last_row) {
  for (int y = a.first_row; y < last_row; ++y) {
    std::uint8_t* luma = plane_row(a.plane[0], y);
    std::memcpy(luma, frame_row(a.frame, 0, y), static_cast<std::size_t>(a.frame.width));
    extend_row(luma, a.frame.width, a.plane[0].width);
  }
  const int pairs = component_extent(a.frame.width, 1, 2);
  const int cb = a.frame.format == PixelFormat::nv12 ? 1 : 2;
  for (int cy = a.first_row / 2; cy < ceil_div(last_row, 2); ++cy) {
    kernels.split(frame_row(a.frame, 1, cy), pairs, plane_row(a.plane[cb], cy),
                  plane_row(a.plane[3 - cb], cy));
    for (int c = 1; c < 3; ++c) extend_row(plane_row(a.plane[c], cy), pairs, a.plane[c].width);
  }
}

/// YUYV and UYVY as they are.
void split_packed_422(const ColorKernels& kernels, const ColorSubsampleArgs& a, int last_row,
                      std::vector<std::uint8_t>& rows) {
  const int pairs = component_extent(a.frame.width, 1, 2);
  rows.resize(static_cast<std::size_t>(2 * pairs));
  const bool luma_first = a.frame.format == PixelFormat::yuyv;
  for (int y = a.first_row; y < last_row; ++y) {
    // The luma plane has room for the second pixel of the last pair.
    std::uint8_t *luma = plane_row(a.plane[0], y), *both = rows.data();
    kernels.split(frame_row(a.frame, 0, y), 2 * pairs, luma_first ? luma : both,
                  luma_first ? both : luma);
    extend_row(luma, a.frame.width, a.plane[0].width);
    kernels.split(both, pairs, plane_row(a.plane[1], y), plane_row(a.plane[2], y));
    for (int c = 1; c < 3; ++c) extend_row(plane_row(a.plane[c], y), pairs, a.plane[c].width);
  }
}

}  // namespace

void color_subsample(const ColorKernels& kernels, const ColorSubsampleArgs& a,
                     std::vector<std::uint8_t>& rows) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  if (a.components == 3 && is_rgb(a.frame.format)) return subsample_rgb(kernels, a, last_row, rows);
  if (a.components == 3 && is_semi_planar(a.frame.format) && a.h_max == 2 && a.v_max == 2)
    return split_semi_planar(kernels, a, last_row);
  if (a.components == 3 && is_packed_422(a.frame.format) && a.h_max == 2 && a.v_max == 1)
    return split_packed_422(kernels, a, last_row, rows);
  Exec exec;
  exec.rows = &rows;
  (void)color_subsample_cpu(a, exec);  // the CPU stages cannot fail
}

namespace {

/// A component's rows at the size of the picture; scratch memory for them.
class EnlargedRows {
 public:
  EnlargedRows(const ColorKernels& kernels, const ColorUpsampleArgs& a, int c, std::uint8_t* memory)
      : kernels_(kernels),
        a_(a),
        c_(c),
        filter_(filter_of(a, c)),
        out_(memory),
        sums_(reinterpret_cast<std::uint16_t*>(memory + row_bytes(a.plane[c].width))) {}

  static std::size_t row_bytes(int width) { return 4 * static_cast<std::size_t>(width) + 256; }
  static std::size_t memory_bytes(int width) {
    return row_bytes(width) + 2 * (static_cast<std::size_t>(width) + 2 * kRowPadding);
  }
  static bool can(const ColorUpsampleArgs& a, int c) {
    return filter_of(a, c) != UpsampleFilter::repeat || a.h[c] == a.h_max ||
           2 * a.h[c] == a.h_max || 4 * a.h[c] == a.h_max;
  }

  /// Padded; valid until the next call.
  const std::uint8_t* row(int y) {
    const ConstPlaneView& plane = a_.plane[c_];
    const int cy = nearer(y, a_.v[c_], a_.v_max);
    const std::uint8_t* near = plane_row(plane, cy);
    const std::uint8_t* far = plane_row(plane, further(y, cy, plane.height));
    switch (filter_) {
      case UpsampleFilter::copy:
        return near;
      case UpsampleFilter::fancy_2x1:
        kernels_.fancy_2(near, nullptr, plane.width, sums_, out_);
        break;
      case UpsampleFilter::fancy_2x2:
        kernels_.fancy_2(near, far, plane.width, sums_, out_);
        break;
      case UpsampleFilter::fancy_1x2:
        kernels_.fancy_1x2(near, far, plane.width, triangle_bias(y), out_);
        break;
      case UpsampleFilter::repeat:
        if (a_.h[c_] == a_.h_max) return near;
        if (2 * a_.h[c_] == a_.h_max) {
          kernels_.repeat_2(near, plane.width, out_);
          break;
        }
        // The sums are of no use here, and have room for a row twice as long.
        kernels_.repeat_2(near, plane.width, reinterpret_cast<std::uint8_t*>(sums_));
        kernels_.repeat_2(reinterpret_cast<std::uint8_t*>(sums_), 2 * plane.width, out_);
        break;
    }
    return out_;
  }

 private:
  const ColorKernels& kernels_;
  const ColorUpsampleArgs& a_;
  int c_;
  UpsampleFilter filter_;
  std::uint8_t* out_;
  std::uint16_t* sums_;
};

/// The components at the size of the picture; grey has neutral chroma. `rows` is scratch memory.
class PictureRows {
 public:
  PictureRows(const ColorKernels& kernels, const ColorUpsampleArgs& a,
              std::vector<std::uint8_t>& rows, std::size_t more = 0)
      : components_(a.components) {
    const int widest =
        std::max({a.plane[0].width, a.plane[1].width, a.plane[2].width, a.plane[3].width});
    const auto lines = static_cast<std::size_t>(std::max(components_, 3));
    const std::size_t bytes = EnlargedRows::memory_bytes(widest) / 64 * 64 + 64;
    neutral_bytes_ = static_cast<std::size_t>(a.frame.width) + kRowPadding;
    rows.resize(lines * bytes + neutral_bytes_ + more);
    for (int c = 0; c < components_; ++c)
      row_[c].emplace(kernels, a, c, rows.data() + static_cast<std::size_t>(c) * bytes);
    neutral_ = rows.data() + lines * bytes;
    std::memset(neutral_, 128, neutral_bytes_);
  }
  static bool can(const ColorUpsampleArgs& a) {
    bool can = a.model != ColorModel::rgb;
    for (int c = 0; c < a.components; ++c) can = can && EnlargedRows::can(a, c);
    return can;
  }

  std::uint8_t* more() const { return neutral_ + neutral_bytes_; }
  /// Padded; valid until the next call for the component.
  const std::uint8_t* row(int c, int y) { return c < components_ ? row_[c]->row(y) : neutral_; }

 private:
  int components_;
  std::optional<EnlargedRows> row_[kMaxDecodedComponents];
  std::uint8_t* neutral_;
  std::size_t neutral_bytes_;
};

void upsample_rgb(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row,
                  std::vector<std::uint8_t>& rows) {
  PictureRows picture(kernels, a, rows);
  const RgbOrder order = rgb_order(a.frame.format);
  for (int y = a.first_row; y < last_row; ++y)
    kernels.ycc_to_rgb(picture.row(0, y), picture.row(1, y), picture.row(2, y), a.frame.width,
                       order, frame_row(a.frame, 0, y));
}

/// round(a b / 255) for bytes that are flipped before; in place.
void scale_row(std::uint8_t* a, const std::uint8_t* b, std::size_t count, unsigned flip_a,
               unsigned flip_b) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto product = static_cast<std::uint16_t>((a[i] ^ flip_a) * (b[i] ^ flip_b) + 128u);
    a[i] = static_cast<std::uint8_t>((product + (product >> 8)) >> 8);
  }
}

/// CMYK and YCCK to RGB: what C, M and Y let through, as pixels, and then what K leaves of it.
void upsample_inks(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row,
                   std::vector<std::uint8_t>& rows) {
  const RgbOrder order = rgb_order(a.frame.format);
  const auto step = static_cast<std::size_t>(order.pixel_bytes);
  const std::size_t width = static_cast<std::size_t>(a.frame.width), bytes = width * step;
  PictureRows picture(kernels, a, rows, bytes);
  const bool is_ycck = a.model == ColorModel::ycck;
  const unsigned flip = a.model == ColorModel::cmyk ? 255 : 0;
  for (int y = a.first_row; y < last_row; ++y) {
    std::uint8_t *const out = frame_row(a.frame, 0, y), *const black = picture.more();
    const std::uint8_t *const c = picture.row(0, y), *const m = picture.row(1, y),
                              *const yellow = picture.row(2, y), *const k = picture.row(3, y);
    if (is_ycck)
      kernels.ycc_to_rgb(c, m, yellow, a.frame.width, order, out);
    else
      pack_rgb_row(a.frame, y, c, m, yellow);
    for (std::size_t x = 0; x < width; ++x) {
      std::uint8_t* const pixel = black + x * step;
      pixel[0] = pixel[1] = pixel[2] = k[x];
      if (step == 4) pixel[3] = k[x];
    }
    scale_row(out, black, bytes, is_ycck ? 255 : flip, flip);
    if (step == 4)
      for (std::size_t x = 0; x < width; ++x)
        out[4 * x + static_cast<unsigned>(order.spare())] = 255;
  }
}

/// The inks as they are, in pixels of four bytes.
void pack_inks(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row,
               std::vector<std::uint8_t>& rows) {
  PictureRows picture(kernels, a, rows);
  for (int y = a.first_row; y < last_row; ++y) {
    std::uint8_t* out = frame_row(a.frame, 0, y);
    const std::uint8_t *const c = picture.row(0, y), *const m = picture.row(1, y),
                              *const yellow = picture.row(2, y), *const k = picture.row(3, y);
    if (a.model != ColorModel::ycck) {
      pack_ink_row(a.frame, y, c, m, yellow, k);
      continue;
    }
    kernels.ycc_to_rgb(c, m, yellow, a.frame.width, {0, 1, 2, 4}, out);
    for (int x = 0; x < a.frame.width; ++x, out += 4) {
      for (int i = 0; i < 3; ++i) out[i] ^= 255;
      out[3] = k[x];
    }
  }
}

void copy_luma(const ColorUpsampleArgs& a, int y, const std::uint8_t* luma) {
  std::memcpy(frame_row(a.frame, 0, y), luma, static_cast<std::size_t>(a.frame.width));
}

void upsample_gray(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row,
                   std::vector<std::uint8_t>& rows) {
  PictureRows picture(kernels, a, rows);
  for (int y = a.first_row; y < last_row; ++y) copy_luma(a, y, picture.row(0, y));
}

/// A row of YUYV or UYVY. All rows are padded; `both` has room for both chroma rows.
void pack_422(const ColorKernels& kernels, const ColorUpsampleArgs& a, int y,
              const std::uint8_t* luma, const std::uint8_t* cb, const std::uint8_t* cr,
              std::uint8_t* both) {
  const int pairs = component_extent(a.frame.width, 1, 2);
  const bool luma_first = a.frame.format == PixelFormat::yuyv;
  std::uint8_t* const out = frame_row(a.frame, 0, y);
  kernels.interleave(cb, cr, pairs, both);
  kernels.interleave(luma_first ? luma : both, luma_first ? both : luma, 2 * pairs, out);
  // In the last of an odd number of pixels the second luma repeats the first.
  if (a.frame.width % 2 != 0)
    out[2 * a.frame.width + (luma_first ? 0 : 1)] = luma[a.frame.width - 1];
}

void join_packed_422(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row,
                     std::vector<std::uint8_t>& rows) {
  rows.resize(static_cast<std::size_t>(a.frame.width) + 2 * kRowPadding);
  for (int y = a.first_row; y < last_row; ++y)
    pack_422(kernels, a, y, plane_row(a.plane[0], y), plane_row(a.plane[1], y),
             plane_row(a.plane[2], y), rows.data());
}

/// A row of NV12 or NV21.
void interleave_chroma(const ColorKernels& kernels, const ColorUpsampleArgs& a, int cy,
                       const std::uint8_t* cb, const std::uint8_t* cr) {
  const bool cb_first = a.frame.format == PixelFormat::nv12;
  kernels.interleave(cb_first ? cb : cr, cb_first ? cr : cb, component_extent(a.frame.width, 1, 2),
                     frame_row(a.frame, 1, cy));
}

void join_semi_planar(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row) {
  for (int y = a.first_row; y < last_row; ++y) copy_luma(a, y, plane_row(a.plane[0], y));
  for (int cy = a.first_row / 2; cy < ceil_div(last_row, 2); ++cy)
    interleave_chroma(kernels, a, cy, plane_row(a.plane[1], cy), plane_row(a.plane[2], cy));
}

void resample_ycc(const ColorKernels& kernels, const ColorUpsampleArgs& a, int last_row,
                  std::vector<std::uint8_t>& rows) {
  const std::size_t stride = static_cast<std::size_t>(a.frame.width) + 4 + 2 * kRowPadding;
  PictureRows picture(kernels, a, rows, 7 * stride);
  std::uint8_t* const both = picture.more() + 6 * stride;
  const bool packed = is_packed_422(a.frame.format);
  resample_chroma(
      a, last_row, picture.more(), stride,
      [&](int y) {
        const int at = std::min(y, a.frame.height - 1);
        if (y < a.frame.height && !packed) copy_luma(a, y, picture.row(0, y));
        return std::array{picture.row(1, at), picture.row(2, at)};
      },
      [&](const std::uint8_t* row0, const std::uint8_t* row1, LumaFactors luma, std::uint8_t* out,
          int width) {
        if (luma.h == 2)
          kernels.box_2(row0, row1, luma.v, out, width);
        else
          box_filter_row(row0, row1, luma.h, luma.v, out, width);
      },
      [&](int cy, const std::uint8_t* cb, const std::uint8_t* cr, int width) {
        if (packed) return pack_422(kernels, a, cy, picture.row(0, cy), cb, cr, both);
        if (is_semi_planar(a.frame.format)) return interleave_chroma(kernels, a, cy, cb, cr);
        std::memcpy(frame_row(a.frame, 1, cy), cb, static_cast<std::size_t>(width));
        std::memcpy(frame_row(a.frame, 2, cy), cr, static_cast<std::size_t>(width));
      });
}

}  // namespace

void color_upsample(const ColorKernels& kernels, const ColorUpsampleArgs& a,
                    std::vector<std::uint8_t>& rows) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  const bool can = PictureRows::can(a);
  if (has_inks(a.model)) {
    if (can && is_rgb(a.frame.format)) return upsample_inks(kernels, a, last_row, rows);
    if (can && a.frame.format == PixelFormat::cmyk32) return pack_inks(kernels, a, last_row, rows);
  } else if (is_rgb(a.frame.format)) {
    if (can) return upsample_rgb(kernels, a, last_row, rows);
  } else if (a.frame.format == PixelFormat::gray8) {
    if (can) return upsample_gray(kernels, a, last_row, rows);
  } else if (stored_as_wanted(a)) {
    if (is_semi_planar(a.frame.format)) return join_semi_planar(kernels, a, last_row);
    if (is_packed_422(a.frame.format)) return join_packed_422(kernels, a, last_row, rows);
  } else if (can) {
    return resample_ycc(kernels, a, last_row, rows);
  }
  Exec exec;
  (void)color_upsample_cpu(a, exec);  // the CPU stages cannot fail
}

}  // namespace zerorun::fast
