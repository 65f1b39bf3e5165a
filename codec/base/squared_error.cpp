// Squared differences over any pixel format.
// SPDX-License-Identifier: MIT
#include "codec/base/squared_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "codec/base/component_layout.hpp"

namespace zerorun {
namespace {

template <int kStep>
using SampleStep = std::integral_constant<int, kStep>;

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
      sum += at.step == 1 ? row_error(row_a, row_b, at.width, SampleStep<1>())
                          : row_error(row_a, row_b, at.width, at.step);
    }
    error.sum[static_cast<std::size_t>(c)] = sum;
    error.samples[static_cast<std::size_t>(c)] =
        static_cast<std::uint64_t>(at.width) * static_cast<std::uint64_t>(at.height);
  }
  return error;
}

}  // namespace zerorun
