// Squared error and structural similarity of two frames, of any pixel format.
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "codec/base/pixel_rows.hpp"

namespace zerorun {
namespace {

/// 65535 squares of at most 255 * 255 fit in 32 bits, so the compiler can use vector instructions.
/// For the same reason the usual step, 1, is a constant.
template <typename AnyStep>
std::uint32_t row_error(const std::uint8_t* a, const std::uint8_t* b, int width,
                        AnyStep step) noexcept {
  static_assert(std::uint64_t{kMaxDimension} * 255 * 255 <= UINT32_MAX);
  std::uint32_t sum = 0;
  for (int x = 0; x < width; ++x) {
    const int difference = a[x * step] - b[x * step];
    sum += static_cast<std::uint32_t>(difference * difference);
  }
  return sum;
}

double psnr_of(std::uint64_t sum, std::uint64_t samples) noexcept {
  if (sum == 0 || samples == 0) return std::numeric_limits<double>::infinity();
  const double mean = static_cast<double>(sum) / static_cast<double>(samples);
  return 10.0 * std::log10(255.0 * 255.0 / mean);
}

}  // namespace

void SquaredError::add(const SquaredError& other) noexcept {
  components = std::max(components, other.components);
  is_rgb |= other.is_rgb;
  for (std::size_t c = 0; c < 3; ++c) {
    sum[c] += other.sum[c];
    samples[c] += other.samples[c];
  }
}

double SquaredError::psnr(int component) const noexcept {
  const auto c = static_cast<std::size_t>(component);
  return psnr_of(sum[c], samples[c]);
}

double SquaredError::psnr() const noexcept {
  return psnr_of(sum[0] + sum[1] + sum[2], samples[0] + samples[1] + samples[2]);
}

SquaredError squared_error(const ConstFrameView& a, const ConstFrameView& b) noexcept {
  SquaredError error;
  error.components = a.format == PixelFormat::gray8 ? 1 : 3;
  error.is_rgb = is_rgb(a.format);
  for (int c = 0; c < error.components; ++c) {
    const ComponentLayout at = component_layout(a.format, c, a.width, a.height);
    const auto plane = static_cast<std::size_t>(at.plane);
    std::uint64_t sum = 0;
    for (std::ptrdiff_t y = 0; y < at.height; ++y) {
      const std::uint8_t* row_a = a.data[plane] + y * a.stride_bytes[plane] + at.offset;
      const std::uint8_t* row_b = b.data[plane] + y * b.stride_bytes[plane] + at.offset;
      sum += at.step == 1 ? row_error(row_a, row_b, at.width, std::integral_constant<int, 1>())
                          : row_error(row_a, row_b, at.width, at.step);
    }
    error.sum[static_cast<std::size_t>(c)] = sum;
    error.samples[static_cast<std::size_t>(c)] =
        static_cast<std::uint64_t>(at.width) * static_cast<std::uint64_t>(at.height);
  }
  return error;
}

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
    read_ycc_row(a, y, row_a.data(), nullptr, nullptr);
    read_ycc_row(b, y, row_b.data(), nullptr, nullptr);
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
      read_ycc_row(a, y, row_a.data(), nullptr, nullptr);
      read_ycc_row(b, y, row_b.data(), nullptr, nullptr);
      add_row(row_a, row_b, blocks);
    }
    if (block == 0) continue;
    for (std::size_t i = 1; i < blocks.size(); ++i)
      sum += window_ssim(above[i - 1], above[i], blocks[i - 1], blocks[i]);
  }
  return sum / ((across - 1) * (down - 1));
}

}  // namespace zerorun
