// Cuts a batch of images of many sizes out of larger ones.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/common/failure.hpp"
#include "codec/base/thread_pool.hpp"

namespace zerorun::app::bench {
namespace {

struct Size {
  int width, height;
};

/// Width over height, as cameras and croppers make them.
constexpr std::array<double, 6> kShapes = {4.0 / 3, 3.0 / 4, 3.0 / 2, 16.0 / 9, 2.0 / 3, 1.0};

/// A permutation of 0 .. count - 1 in which neighbours are far from each other.
std::size_t scattered(std::size_t i, std::size_t count) {
  auto step = static_cast<std::size_t>(0.618 * static_cast<double>(count));
  while (std::gcd(step, count) != 1) ++step;
  return i * step % count;
}

Size size_of_piece(const Megapixels& sizes, std::size_t i, std::size_t count) {
  const double rank =
      count == 1 ? 1.0 : static_cast<double>(scattered(i, count)) / static_cast<double>(count - 1);
  const double pixels = 1e6 * sizes.least * std::pow(sizes.most / sizes.least, rank);
  const auto fit = [](double extent) {
    return static_cast<int>(std::clamp(std::round(extent), 1.0, double{kMaxDimension} - 64));
  };
  const int width = fit(std::sqrt(pixels * kShapes[i % kShapes.size()]));
  return {width, fit(pixels / width)};
}

/// Position `at` of an endless row that repeats 0 .. count - 1 forwards and backwards.
int mirrored(int at, int count) noexcept {
  const int place = at % (2 * count);
  return place < count ? place : 2 * count - 1 - place;
}

/// A unit is what a plane holds for one pixel, or for one pair or group of pixels.
void cut_plane(const ConstFrameView& from, int p, int left, int top, const FrameView& to) {
  const auto plane = static_cast<std::size_t>(p);
  const std::size_t unit = plane_row_bytes(from.format, p, 1);
  const auto units = [&](int width) {
    return static_cast<int>(plane_row_bytes(from.format, p, width) / unit);
  };
  const int rows = plane_rows(from.format, p, from.height), wide = units(from.width);
  const int first_row = plane_rows(from.format, p, top), first_unit = units(left);
  const int wanted = units(to.width), straight = std::clamp(wide - first_unit, 0, wanted);
  std::vector<std::size_t> source;  // where the units after the straight run come from
  for (int x = straight; x < wanted; ++x)
    source.push_back(unit * static_cast<std::size_t>(mirrored(first_unit + x, wide)));
  for (int y = 0; y < plane_rows(to.format, p, to.height); ++y) {
    const std::uint8_t* row =
        from.data[plane] + mirrored(first_row + y, rows) * from.stride_bytes[plane];
    std::uint8_t* out = to.data[plane] + y * to.stride_bytes[plane];
    const std::size_t run = unit * static_cast<std::size_t>(straight);
    std::memcpy(out, row + unit * static_cast<std::size_t>(first_unit), run);
    out += run;
    for (const std::size_t place : source) {
      std::memcpy(out, row + place, unit);
      out += unit;
    }
  }
}

Result<PaddedFrame> cut_piece(const ConstFrameView& from, std::size_t i, Size size) {
  auto piece = PaddedFrame::create(from.format, size.width, size.height);
  if (!piece) return piece;
  // Multiples of 4, so that luma and chroma of every sampling are cut at the same place.
  const auto place = [i](int extent, std::size_t prime) {
    return static_cast<int>(i * prime % static_cast<std::size_t>(extent)) / 4 * 4;
  };
  const int left = place(from.width, 7919), top = place(from.height, 6271);
  for (int p = 0; p < plane_count(from.format); ++p) cut_plane(from, p, left, top, piece->view());
  piece->repeat_edges();
  return piece;
}

}  // namespace

FrameSet cut_pieces(const FrameSet& set, const Megapixels& sizes, std::size_t count) {
  FrameSet pieces{set.input, std::vector<PaddedFrame>(count), {}, true};
  ThreadPool pool(0);
  pool.run(static_cast<std::int64_t>(count), [&](std::int64_t number, int) {
    const auto i = static_cast<std::size_t>(number);
    pieces.frames[i] =
        value_or_fail(cut_piece(set.view(i % set.size()), i, size_of_piece(sizes, i, count)),
                      Exit::failed, set.input);
  });
  return pieces;
}

}  // namespace zerorun::app::bench
