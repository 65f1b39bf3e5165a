// CPU reference of up-sampling and colour conversion. CUDA twin: cuda/stages/color_upsample.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/color_upsample.hpp"

#include <algorithm>
#include <vector>

#include "codec/arith/color.hpp"
#include "codec/base/pixel_rows.hpp"
#include "codec/syntax/header_parser.hpp"

namespace zerorun {
namespace {

/// `samples` is not negative; g++ 13 warns of vectors of negative length.
std::size_t count(std::int32_t samples) { return static_cast<std::uint32_t>(samples); }

/// Rows of one component at the resolution of the picture.
class ComponentRows {
 public:
  ComponentRows(const ColorUpsampleArgs& a, int c)
      : a_(a), c_(c), filter_(filter_of(a, c)), row_(count(a.frame.width)) {}

  /// Valid until the next call.
  const std::uint8_t* row(int y) {
    const ConstPlaneView& plane = a_.plane[c_];
    const int cy = nearer(y, a_.v[c_], a_.v_max);
    const std::uint8_t* near = plane_row(plane, cy);
    if (filter_ == UpsampleFilter::copy) return near;
    const std::uint8_t* far = plane_row(plane, further(y, cy, plane.height));
    for (int x = 0; x < a_.frame.width; ++x)
      row_[count(x)] = static_cast<std::uint8_t>(sample(near, far, x, y));
    return row_.data();
  }

 private:
  int sample(const std::uint8_t* near, const std::uint8_t* far, int x, int y) const {
    const int cx = nearer(x, a_.h[c_], a_.h_max);
    const int next = further(x, cx, a_.plane[c_].width);
    switch (filter_) {
      case UpsampleFilter::fancy_2x1:
        return (triangle<int>(near[cx], near[next]) + triangle_bias(x)) >> 2;
      case UpsampleFilter::fancy_1x2:
        return (triangle<int>(near[cx], far[cx]) + triangle_bias(y)) >> 2;
      case UpsampleFilter::fancy_2x2:
        return (triangle(triangle<int>(near[cx], far[cx]), triangle<int>(near[next], far[next])) +
                triangle_2x2_bias(x)) >>
               4;
      default:
        return near[cx];
    }
  }

  const ColorUpsampleArgs& a_;
  int c_;
  UpsampleFilter filter_;
  std::vector<std::uint8_t> row_;
};

bool is_rgb(ColorModel model) { return model == ColorModel::rgb || has_inks(model); }

/// Rows of the picture at its size, for streams of any colour model. A row is valid until the next
/// call.
class PictureRows {
 public:
  explicit PictureRows(const ColorUpsampleArgs& a)
      : a_(a), width_(count(a.frame.width)), neutral_(width_, 128) {
    for (int c = 0; c < a.components; ++c) components_.emplace_back(a, c);
    for (auto& buffer : converted_) buffer.resize(width_);
  }

  /// Three or four components.
  struct Row {
    const std::uint8_t *a, *b, *c, *d;
  };
  /// C, M, Y and K, as cmyk32 has them.
  Row inks(int y) {
    const Row row = stored(y);
    return a_.model == ColorModel::ycck ? convert(row, ycc_to_inks) : row;
  }
  /// R, G and B.
  Row rgb(int y) {
    if (!is_rgb(a_.model))
      return convert(stored(y), [](int l, int cb, int cr) { return ycc_to_rgb(l, cb, cr); });
    if (!has_inks(a_.model)) return stored(y);
    const Row row = inks(y);
    const int flip = a_.model == ColorModel::cmyk ? 255 : 0;  // 255 - x is x ^ 255
    std::size_t x = 0;
    return convert(row, [&](int c, int m, int yellow) {
      return cmyk_to_rgb(c ^ flip, m ^ flip, yellow ^ flip, row.d[x++] ^ flip);
    });
  }
  /// Y, Cb and Cr; grey has neutral chroma.
  Row ycc(int y) {
    if (is_rgb(a_.model))
      return convert(rgb(y), [](int r, int g, int b) {
        const Ycc ycc = rgb_to_ycc(r, g, b);
        return Rgb{ycc.y, ycc.cb, ycc.cr};
      });
    return stored(y);
  }

 private:
  Row stored(int y) {
    const std::uint8_t* row[4] = {nullptr, neutral_.data(), neutral_.data(), nullptr};
    for (std::size_t c = 0; c < components_.size(); ++c) row[c] = components_[c].row(y);
    return {row[0], row[1], row[2], row[3]};
  }
  /// The first three components, pixel by pixel; they may be those of converted_.
  template <typename Convert>
  Row convert(const Row& row, const Convert& pixel) {
    std::uint8_t *const a = converted_[0].data(), *const b = converted_[1].data(),
                        *const c = converted_[2].data();
    for (std::size_t x = 0; x < width_; ++x) {
      const Rgb made = pixel(row.a[x], row.b[x], row.c[x]);
      a[x] = made.r;
      b[x] = made.g;
      c[x] = made.b;
    }
    return {a, b, c, row.d};
  }

  const ColorUpsampleArgs& a_;
  std::size_t width_;
  std::vector<ComponentRows> components_;
  std::vector<std::uint8_t> neutral_, converted_[3];
};

void to_cmyk(const ColorUpsampleArgs& a, int last_row) {
  PictureRows rows(a);
  for (int y = a.first_row; y < last_row; ++y) {
    const PictureRows::Row row = rows.inks(y);
    pack_ink_row(a.frame, y, row.a, row.b, row.c, row.d);
  }
}

void to_rgb(const ColorUpsampleArgs& a, int last_row) {
  PictureRows rows(a);
  for (int y = a.first_row; y < last_row; ++y) {
    const PictureRows::Row row = rows.rgb(y);
    pack_rgb_row(a.frame, y, row.a, row.b, row.c);
  }
}

void to_gray(const ColorUpsampleArgs& a, int last_row) {
  ColorUpsampleArgs luma = a;
  if (!is_rgb(a.model)) luma.components = 1;
  PictureRows rows(luma);
  for (int y = a.first_row; y < last_row; ++y) write_luma_row(a.frame, y, rows.ycc(y).a);
}

void to_ycc(const ColorUpsampleArgs& a, int last_row) {
  const LumaFactors want = luma_factors(native_subsampling(a.frame.format));
  if (stored_as_wanted(a)) {
    for (int y = a.first_row; y < last_row; ++y)
      write_luma_row(a.frame, y, plane_row(a.plane[0], y));
    for (int cy = a.first_row / want.v; cy < ceil_div(last_row, want.v); ++cy)
      write_chroma_row(a.frame, cy, plane_row(a.plane[1], cy), plane_row(a.plane[2], cy));
    return;
  }
  PictureRows rows(a);
  const std::size_t stride = count(a.frame.width) + 3;  // a box has up to four samples
  std::vector<std::uint8_t> lines(6 * stride);
  resample_chroma(
      a, last_row, lines.data(), stride,
      [&](int y) {
        const auto row = rows.ycc(std::min(y, a.frame.height - 1));
        if (y < a.frame.height) write_luma_row(a.frame, y, row.a);
        return std::array{row.b, row.c};
      },
      [](const std::uint8_t* row0, const std::uint8_t* row1, LumaFactors luma, std::uint8_t* out,
         int width) { box_filter_row(row0, row1, luma.h, luma.v, out, width); },
      [&](int cy, const std::uint8_t* cb, const std::uint8_t* cr, int) {
        write_chroma_row(a.frame, cy, cb, cr);
      });
}

}  // namespace

UpsampleFilter filter_of(const ColorUpsampleArgs& a, int c) {
  return choose_filter(a.h[c], a.v[c], a.h_max, a.v_max, a.plane[c].width,
                       a.upsampling == ChromaUpsampling::fancy);
}

bool stored_as_wanted(const ColorUpsampleArgs& a) {
  const LumaFactors want = luma_factors(native_subsampling(a.frame.format));
  if (a.components != 3 || is_rgb(a.model)) return false;
  if (a.h[0] != a.h_max || a.v[0] != a.v_max) return false;
  for (int c = 1; c < 3; ++c)
    if (a.h[c] * want.h != a.h_max || a.v[c] * want.v != a.v_max) return false;
  return true;
}

ColorUpsampleArgs make_upsample_args(const FrameHeader& image, const PlaneView* planes,
                                     ColorModel model, ChromaUpsampling upsampling,
                                     const FrameView& out, std::int32_t row_count) {
  ColorUpsampleArgs args{{},          static_cast<std::int32_t>(image.components.size()),
                         {},          {},
                         image.h_max, image.v_max,
                         model,       upsampling,
                         out,         0,
                         row_count};
  for (std::size_t c = 0; c < image.components.size(); ++c) {
    args.plane[c] = {planes[c].data, planes[c].stride_bytes, planes[c].width, planes[c].height};
    args.h[c] = image.components[c].h;
    args.v[c] = image.components[c].v;
  }
  return args;
}

Status color_upsample_cpu(const ColorUpsampleArgs& a, Exec&) {
  const int last_row = std::min(a.first_row + a.row_count, a.frame.height);
  if (a.frame.format == PixelFormat::cmyk32) {
    to_cmyk(a, last_row);
  } else if (is_rgb(a.frame.format)) {
    to_rgb(a, last_row);
  } else if (a.frame.format == PixelFormat::gray8) {
    to_gray(a, last_row);
  } else {
    to_ycc(a, last_row);
  }
  return Status::ok();
}

}  // namespace zerorun
