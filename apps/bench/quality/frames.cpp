// The frames that encoders take, made from one RGB picture.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/frames.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "apps/common/failure.hpp"
#include "codec/arith/color.hpp"
#include "codec/arith/resample.hpp"

namespace zerorun::app::bench {
namespace {

/// Of one input, unless --rotate says how many: 1.6 GB of pictures of 3840x2160.
constexpr int kMostPictures = 64;

const std::uint8_t* pixel(const ConstFrameView& rgb, int x, int y) {
  return rgb.data[0] + std::min(y, rgb.height - 1) * rgb.stride_bytes[0] +
         3 * std::min(x, rgb.width - 1);
}

void swap_red_and_blue(const ConstFrameView& rgb, const FrameView& bgr) {
  for (int y = 0; y < rgb.height; ++y)
    for (int x = 0; x < rgb.width; ++x) {
      const std::uint8_t* from = pixel(rgb, x, y);
      std::uint8_t* to = bgr.data[0] + y * bgr.stride_bytes[0] + 3 * std::ptrdiff_t{x};
      to[0] = from[2], to[1] = from[1], to[2] = from[0];
    }
}

/// Sample (x, y) of plane `p` whose samples are means of h x v pixels.
std::uint8_t sample(const ConstFrameView& rgb, int p, int x, int y, int h, int v) {
  std::int32_t sum = 0;
  for (int dy = 0; dy < v; ++dy)
    for (int dx = 0; dx < h; ++dx) {
      const std::uint8_t* from = pixel(rgb, x * h + dx, y * v + dy);
      const Ycc ycc = rgb_to_ycc(from[0], from[1], from[2]);
      sum += p == 0 ? ycc.y : p == 1 ? ycc.cb : ycc.cr;
    }
  return box_mean(sum, h, v, x);
}

void make_planes(const ConstFrameView& rgb, const FrameView& out) {
  const LumaFactors luma = luma_factors(native_subsampling(out.format));
  for (int p = 0; p < plane_count(out.format); ++p) {
    const int h = p == 0 ? 1 : luma.h, v = p == 0 ? 1 : luma.v;
    const auto plane = static_cast<std::size_t>(p);
    const auto width = static_cast<int>(plane_row_bytes(out.format, p, out.width));
    for (int y = 0; y < plane_rows(out.format, p, out.height); ++y)
      for (int x = 0; x < width; ++x)
        out.data[plane][y * out.stride_bytes[plane] + x] = sample(rgb, p, x, y, h, v);
  }
}

}  // namespace

std::vector<FrameSet> load_pictures(const Options& options, const std::string& input) {
  FrameRequest request;
  request.input = input;
  request.format = PixelFormat::rgb24;
  request.count =
      static_cast<std::size_t>(options.rotate.value_or(is_synthetic(input) ? 1 : kMostPictures));
  request.mixed = true;
  request.max_pixels = options.max_pixels;
  FrameSet all = load_frames(request);
  std::vector<FrameSet> out(all.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].input = input;
    out[i].frames.push_back(std::move(all.frames[i]));
  }
  return out;
}

FrameSet converted(const FrameSet& rgb, PixelFormat format) {
  const ConstFrameView from = rgb.view(0);
  PaddedFrame frame =
      value_or_fail(PaddedFrame::create(format, from.width, from.height), Exit::failed, rgb.input);
  if (format == PixelFormat::bgr24)
    swap_red_and_blue(from, frame.view());
  else
    make_planes(from, frame.view());
  frame.repeat_edges();
  FrameSet out;
  out.input = rgb.input;
  out.frames.push_back(std::move(frame));
  return out;
}

}  // namespace zerorun::app::bench
