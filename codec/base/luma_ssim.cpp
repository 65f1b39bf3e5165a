// Structural similarity of the luma of two frames.
// SPDX-License-Identifier: MIT
#include "codec/base/luma_ssim.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "codec/arith/color.hpp"
#include "codec/base/component_layout.hpp"

namespace zerorun {
namespace {

constexpr int kBlock = 4;  ///< samples along the side of a block; a window has 2x2 of them

/// Sums over a block.
struct Sums {
  std::uint32_t a = 0, b = 0, squares = 0, products = 0;
};

/// Wang et al. 2004 with sums over the 64 samples of a window instead of means, and the constants
/// of FFmpeg's vf_ssim.c (its first one is 64 times smaller than theirs), so that both say the
/// same.
double window_ssim(const Sums& p, const Sums& q, const Sums& r, const Sums& s) {
  constexpr double kSamples = 64;
  constexpr double kC1 = 0.01 * 0.01 * 255 * 255 * kSamples;
  constexpr double kC2 = 0.03 * 0.03 * 255 * 255 * kSamples * (kSamples - 1);
  const double a = p.a + q.a + r.a + s.a, b = p.b + q.b + r.b + s.b;
  const double squares = double{1} * p.squares + q.squares + r.squares + s.squares;
  const double products = double{1} * p.products + q.products + r.products + s.products;
  const double variances = squares * kSamples - a * a - b * b;
  const double covariance = products * kSamples - a * b;
  return (2 * a * b + kC1) * (2 * covariance + kC2) / ((a * a + b * b + kC1) * (variances + kC2));
}

void luma_row(const ConstFrameView& frame, int y, std::vector<std::uint8_t>& row) {
  const auto at = [&](int component) {
    const ComponentLayout in = component_layout(frame.format, component, frame.width, frame.height);
    const auto plane = static_cast<std::size_t>(in.plane);
    return std::pair(frame.data[plane] + y * frame.stride_bytes[plane] + in.offset, in.step);
  };
  const auto [first, step] = at(0);  // luma, or red
  if (!is_rgb(frame.format)) {
    for (std::size_t x = 0; x < row.size(); ++x) row[x] = first[x * static_cast<unsigned>(step)];
    return;
  }
  const std::uint8_t *green = at(1).first, *blue = at(2).first;
  for (std::size_t x = 0, from = 0; x < row.size(); ++x, from += static_cast<unsigned>(step))
    row[x] = rgb_to_y(first[from], green[from], blue[from]);
}

void add_row(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b,
             std::vector<Sums>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t x = i * kBlock; x < (i + 1) * kBlock; ++x) {
      const std::uint32_t p = a[x], q = b[x];
      blocks[i].a += p;
      blocks[i].b += q;
      blocks[i].squares += p * p + q * q;
      blocks[i].products += p * q;
    }
}

bool is_equal(const ConstFrameView& a, const ConstFrameView& b) {
  std::vector<std::uint8_t> row_a(static_cast<std::size_t>(a.width)), row_b(row_a.size());
  for (int y = 0; y < a.height; ++y) {
    luma_row(a, y, row_a);
    luma_row(b, y, row_b);
    if (row_a != row_b) return false;
  }
  return true;
}

}  // namespace

double luma_ssim(const ConstFrameView& a, const ConstFrameView& b) {
  const int across = a.width / kBlock, down = a.height / kBlock;
  if (across < 2 || down < 2) return is_equal(a, b) ? 1 : 0;
  std::vector<std::uint8_t> row_a(static_cast<std::size_t>(a.width)), row_b(row_a.size());
  std::vector<Sums> above(static_cast<std::size_t>(across)), blocks(above.size());
  double sum = 0;
  for (int block = 0; block < down; ++block) {
    std::swap(above, blocks);
    std::fill(blocks.begin(), blocks.end(), Sums{});
    for (int y = block * kBlock; y < (block + 1) * kBlock; ++y) {
      luma_row(a, y, row_a);
      luma_row(b, y, row_b);
      add_row(row_a, row_b, blocks);
    }
    if (block == 0) continue;
    for (std::size_t i = 1; i < blocks.size(); ++i)
      sum += window_ssim(above[i - 1], above[i], blocks[i - 1], blocks[i]);
  }
  return sum / ((across - 1) * (down - 1));
}

}  // namespace zerorun
