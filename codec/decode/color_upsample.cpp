// CPU reference of up-sampling and colour conversion. CUDA twin: cuda/stages/color_upsample.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/color_upsample.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/arith/color.hpp"
#include "codec/base/multiversion.hpp"
#include "codec/base/pixel_rows.hpp"
#include "codec/syntax/header_parser.hpp"

namespace zerorun {
namespace {

/// A size that was checked before, 0 to 65535 or so; g++ 13 warns of vectors of negative length.
std::size_t count(std::int32_t samples) { return static_cast<std::uint32_t>(samples); }

const std::uint8_t* plane_row(const ConstPlaneView& plane, int y) {
  return plane.data + y * plane.stride_bytes;
}

/// Which of libjpeg's filters a component takes (jdsample.c, jinit_upsampler).
enum class Filter { copy, fancy_2x1, fancy_1x2, fancy_2x2, repeat };

Filter choose_filter(const ColorUpsampleArgs& a, int c) {
  const int h = a.h[c], v = a.v[c];
  if (h == a.h_max && v == a.v_max) return Filter::copy;
  if (a.upsampling == ChromaUpsampling::nearest) return Filter::repeat;
  const bool wide_enough = a.plane[c].width > 2;
  if (2 * h == a.h_max && v == a.v_max && wide_enough) return Filter::fancy_2x1;
  if (h == a.h_max && 2 * v == a.v_max) return Filter::fancy_1x2;
  if (2 * h == a.h_max && 2 * v == a.v_max && wide_enough) return Filter::fancy_2x2;
  return Filter::repeat;
}

/// 3/4 of the nearer sample and 1/4 of the further one; the ends have no further one.
ZR_MULTIVERSION void fancy_2x1(const std::uint8_t* __restrict in, int in_width,
                               std::uint8_t* __restrict out) {
  const int last = in_width - 1;
  out[0] = in[0];
  for (int x = 0; x < last; ++x) {
    out[2 * x + 1] = static_cast<std::uint8_t>((in[x] * 3 + in[x + 1] + 2) >> 2);
    out[2 * x + 2] = static_cast<std::uint8_t>((in[x + 1] * 3 + in[x] + 1) >> 2);
  }
  out[2 * last + 1] = in[last];
}

/// The same in both directions; `far` is the row above for the upper output row, below for the
/// lower. `column` has room for in_width sums.
ZR_MULTIVERSION void fancy_2x2(const std::uint8_t* __restrict near,
                               const std::uint8_t* __restrict far, int in_width,
                               std::uint16_t* __restrict column, std::uint8_t* __restrict out) {
  for (int x = 0; x < in_width; ++x) column[x] = static_cast<std::uint16_t>(near[x] * 3 + far[x]);
  const int last = in_width - 1;
  out[0] = static_cast<std::uint8_t>((column[0] * 4 + 8) >> 4);
  for (int x = 0; x < last; ++x) {
    out[2 * x + 1] = static_cast<std::uint8_t>((column[x] * 3 + column[x + 1] + 7) >> 4);
    out[2 * x + 2] = static_cast<std::uint8_t>((column[x + 1] * 3 + column[x] + 8) >> 4);
  }
  out[2 * last + 1] = static_cast<std::uint8_t>((column[last] * 4 + 7) >> 4);
}

/// Rows of one component at the resolution of the picture.
class ComponentRows {
 public:
  ComponentRows(const ColorUpsampleArgs& a, int c)
      : a_(a),
        c_(c),
        filter_(choose_filter(a, c)),
        row_(count(std::max(2 * a.plane[c].width, a.frame.width))),
        column_(count(a.plane[c].width)) {}

  /// Valid until the next call.
  const std::uint8_t* row(int y) {
    const ConstPlaneView& plane = a_.plane[c_];
    const int cy = static_cast<int>(std::int64_t{y} * a_.v[c_] / a_.v_max);
    const std::uint8_t* near = plane_row(plane, cy);
    // The row on the other side of the output row; the picture's edge repeats itself.
    const int other = std::clamp(y % 2 == 0 ? cy - 1 : cy + 1, 0, plane.height - 1);
    const std::uint8_t* far = plane_row(plane, other);
    switch (filter_) {
      case Filter::copy:
        return near;
      case Filter::fancy_2x1:
        fancy_2x1(near, plane.width, row_.data());
        break;
      case Filter::fancy_2x2:
        fancy_2x2(near, far, plane.width, column_.data(), row_.data());
        break;
      case Filter::fancy_1x2: {
        const int bias = y % 2 == 0 ? 1 : 2;
        for (int x = 0; x < a_.frame.width; ++x)
          row_[static_cast<std::size_t>(x)] =
              static_cast<std::uint8_t>((near[x] * 3 + far[x] + bias) >> 2);
        break;
      }
      case Filter::repeat:
        for (int x = 0; x < a_.frame.width; ++x)
          row_[static_cast<std::size_t>(x)] =
              near[static_cast<std::int64_t>(x) * a_.h[c_] / a_.h_max];
        break;
    }
    return row_.data();
  }

 private:
  const ColorUpsampleArgs& a_;
  int c_;
  Filter filter_;
  std::vector<std::uint8_t> row_;
  std::vector<std::uint16_t> column_;
};

/// Y, Cb and Cr rows of the picture, whatever colour model the stream has.
class YccRows {
 public:
  explicit YccRows(const ColorUpsampleArgs& a) : a_(a) {
    for (int c = 0; c < a.components; ++c) components_.emplace_back(a, c);
    const std::size_t width = count(a.frame.width);
    for (auto& buffer : converted_)
      if (a.components == 1 || a.model == ColorModel::rgb) buffer.assign(width, 128);
  }

  struct Row {
    const std::uint8_t *y, *cb, *cr;
  };
  Row row(int y) {
    if (a_.components == 1)
      return {components_[0].row(y), converted_[1].data(), converted_[2].data()};
    const Row stored{components_[0].row(y), components_[1].row(y), components_[2].row(y)};
    if (a_.model != ColorModel::rgb) return stored;
    for (std::size_t x = 0; x < static_cast<std::size_t>(a_.frame.width); ++x) {
      const Ycc ycc = rgb_to_ycc(stored.y[x], stored.cb[x], stored.cr[x]);
      converted_[0][x] = ycc.y;
      converted_[1][x] = ycc.cb;
      converted_[2][x] = ycc.cr;
    }
    return {converted_[0].data(), converted_[1].data(), converted_[2].data()};
  }
  /// The components as stored, for RGB streams into RGB frames.
  Row stored_row(int y) {
    return {components_[0].row(y), components_[1].row(y), components_[2].row(y)};
  }

 private:
  const ColorUpsampleArgs& a_;
  std::vector<ComponentRows> components_;
  std::vector<std::uint8_t> converted_[3];
};

void to_rgb(const ColorUpsampleArgs& a, int last_row) {
  YccRows rows(a);
  for (int y = a.first_row; y < last_row; ++y) {
    if (a.model == ColorModel::rgb) {
      const auto row = rows.stored_row(y);
      pack_rgb_row(a.frame, y, row.y, row.cb, row.cr);
    } else if (a.components == 1) {
      const auto row = rows.row(y);
      pack_rgb_row(a.frame, y, row.y, row.y, row.y);
    } else {
      const auto row = rows.row(y);
      write_rgb_row(a.frame, y, row.y, row.cb, row.cr);
    }
  }
}

void to_gray(const ColorUpsampleArgs& a, int last_row) {
  ColorUpsampleArgs luma = a;
  if (a.model != ColorModel::rgb) luma.components = 1;
  YccRows rows(luma);
  for (int y = a.first_row; y < last_row; ++y) write_luma_row(a.frame, y, rows.row(y).y);
}

/// Chroma stands in the stream as the frame wants it.
bool chroma_matches(const ColorUpsampleArgs& a) {
  const LumaFactors want = luma_factors(native_subsampling(a.frame.format));
  if (a.components != 3 || a.model == ColorModel::rgb) return false;
  if (a.h[0] != a.h_max || a.v[0] != a.v_max) return false;
  for (int c = 1; c < 3; ++c)
    if (a.h[c] * want.h != a.h_max || a.v[c] * want.v != a.v_max) return false;
  return true;
}

void to_ycc(const ColorUpsampleArgs& a, int last_row) {
  const LumaFactors want = luma_factors(native_subsampling(a.frame.format));
  if (chroma_matches(a)) {
    for (int y = a.first_row; y < last_row; ++y)
      write_luma_row(a.frame, y, plane_row(a.plane[0], y));
    for (int cy = a.first_row / want.v; cy < (last_row + want.v - 1) / want.v; ++cy)
      write_chroma_row(a.frame, cy, plane_row(a.plane[1], cy), plane_row(a.plane[2], cy));
    return;
  }
  YccRows rows(a);
  const int out_width = component_extent(a.frame.width, 1, want.h);
  const std::size_t full_width = count(out_width * want.h);
  std::vector<std::uint8_t> full(4 * full_width), out(2 * full_width);
  for (int y = a.first_row; y < last_row; y += want.v) {
    for (int i = 0; i < want.v; ++i) {
      const auto row = rows.row(std::min(y + i, a.frame.height - 1));
      if (y + i < a.frame.height) write_luma_row(a.frame, y + i, row.y);
      const std::uint8_t* const chroma[2] = {row.cb, row.cr};
      for (std::size_t c = 0; c < 2; ++c) {
        std::uint8_t* line = full.data() + (2 * static_cast<std::size_t>(i) + c) * full_width;
        const auto width = static_cast<std::size_t>(a.frame.width);
        std::memcpy(line, chroma[c], width);
        std::memset(line + width, line[width - 1], full_width - width);
      }
    }
    for (std::size_t c = 0; c < 2; ++c)
      box_filter_row(full.data() + c * full_width, full.data() + (2 + c) * full_width, want.h,
                     want.v, out.data() + c * full_width, out_width);
    write_chroma_row(a.frame, y / want.v, out.data(), out.data() + full_width);
  }
}

}  // namespace

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
  if (is_rgb(a.frame.format)) {
    to_rgb(a, last_row);
  } else if (a.frame.format == PixelFormat::gray8) {
    to_gray(a, last_row);
  } else {
    to_ycc(a, last_row);
  }
  return Status::ok();
}

}  // namespace zerorun
