// Squared differences over any pixel format.
// SPDX-License-Identifier: MIT
#include "apps/common/psnr.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace zerorun::app {
namespace {

/// Sample x of row y of a component is data[plane][y * stride + offset + x * step].
struct ComponentLayout {
  int plane, offset, step;
  int width, height;
};

int half(int size) noexcept { return (size + 1) / 2; }

ComponentLayout packed_rgb(PixelFormat format, int component, int width, int height) noexcept {
  const bool reversed = format == PixelFormat::bgr24 || format == PixelFormat::bgrx32 ||
                        format == PixelFormat::xbgr32;
  const bool padded_first = format == PixelFormat::xrgb32 || format == PixelFormat::xbgr32;
  const int step = format == PixelFormat::rgb24 || format == PixelFormat::bgr24 ? 3 : 4;
  const int place = reversed ? 2 - component : component;
  return {0, place + (padded_first ? 1 : 0), step, width, height};
}

ComponentLayout layout(PixelFormat format, int component, int width, int height) noexcept {
  const bool chroma = component > 0;
  switch (format) {
    case PixelFormat::nv12:
    case PixelFormat::nv21:
      if (!chroma) return {0, 0, 1, width, height};
      return {1, (component == 1) == (format == PixelFormat::nv12) ? 0 : 1, 2, half(width),
              half(height)};
    case PixelFormat::yuyv:
    case PixelFormat::uyvy: {
      const int first = format == PixelFormat::yuyv ? 0 : 1;  // of the luma bytes
      if (!chroma) return {0, first, 2, width, height};
      return {0, 1 - first + (component == 2 ? 2 : 0), 4, half(width), height};
    }
    default:
      break;
  }
  if (is_rgb(format)) return packed_rgb(format, component, width, height);
  return {component, 0, 1, static_cast<int>(plane_row_bytes(format, component, width)),
          plane_rows(format, component, height)};
}

template <int kStep>
using Step = std::integral_constant<int, kStep>;

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

}  // namespace

void SquaredError::add(const SquaredError& other) noexcept {
  components = std::max(components, other.components);
  is_rgb |= other.is_rgb;
  for (std::size_t c = 0; c < 3; ++c) {
    sum[c] += other.sum[c];
    samples[c] += other.samples[c];
  }
}

static double decibels(std::uint64_t sum, std::uint64_t samples) noexcept {
  if (sum == 0 || samples == 0) return std::numeric_limits<double>::infinity();
  const double mean = static_cast<double>(sum) / static_cast<double>(samples);
  return 10.0 * std::log10(255.0 * 255.0 / mean);
}

double SquaredError::psnr(int component) const noexcept {
  const auto c = static_cast<std::size_t>(component);
  return decibels(sum[c], samples[c]);
}

double SquaredError::psnr() const noexcept {
  return decibels(sum[0] + sum[1] + sum[2], samples[0] + samples[1] + samples[2]);
}

SquaredError squared_error(const ConstFrameView& a, const ConstFrameView& b) noexcept {
  SquaredError error;
  error.components = a.format == PixelFormat::gray8 ? 1 : 3;
  error.is_rgb = is_rgb(a.format);
  for (int c = 0; c < error.components; ++c) {
    const ComponentLayout at = layout(a.format, c, a.width, a.height);
    const auto plane = static_cast<std::size_t>(at.plane);
    std::uint64_t sum = 0;
    for (std::ptrdiff_t y = 0; y < at.height; ++y) {
      const std::uint8_t* row_a = a.data[plane] + y * a.stride_bytes[plane] + at.offset;
      const std::uint8_t* row_b = b.data[plane] + y * b.stride_bytes[plane] + at.offset;
      sum += at.step == 1 ? row_error(row_a, row_b, at.width, Step<1>())
                          : row_error(row_a, row_b, at.width, at.step);
    }
    error.sum[static_cast<std::size_t>(c)] = sum;
    error.samples[static_cast<std::size_t>(c)] =
        static_cast<std::uint64_t>(at.width) * static_cast<std::uint64_t>(at.height);
  }
  return error;
}

std::string psnr_components_text(const SquaredError& error) {
  constexpr std::array kYCbCr{"Y", "Cb", "Cr"}, kRgb{"R", "G", "B"};
  const auto& names = error.is_rgb ? kRgb : kYCbCr;
  std::string text;
  for (int c = 0; c < error.components; ++c)
    text += fmt::format("{}{} {:.3f}", c == 0 ? "" : ", ", names[static_cast<std::size_t>(c)],
                        error.psnr(c));
  return text;
}

nlohmann::json psnr_json(double decibels) {
  return std::isinf(decibels) ? nlohmann::json()
                              : nlohmann::json(std::round(decibels * 1000.0) / 1000.0);
}

}  // namespace zerorun::app
