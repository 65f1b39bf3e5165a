// The difference of two pictures, as a picture and as PSNR.
// SPDX-License-Identifier: MIT
#include "apps/play/compare.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

std::uint8_t clip(int value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

template <typename Sample>
void each_row(const ConstFrameView& a, const ConstFrameView& b, const FrameView& out, int plane,
              Sample&& sample) {
  const auto p = static_cast<std::size_t>(plane);
  const std::size_t bytes = plane_row_bytes(a.format, plane, a.width);
  for (std::ptrdiff_t y = 0; y < plane_rows(a.format, plane, a.height); ++y) {
    const std::uint8_t* from_a = a.data[p] + y * a.stride_bytes[p];
    const std::uint8_t* from_b = b.data[p] + y * b.stride_bytes[p];
    std::uint8_t* to = out.data[p] + y * out.stride_bytes[p];
    for (std::size_t x = 0; x < bytes; ++x) to[x] = sample(from_a[x], from_b[x]);
  }
}

bool fits(const ConstFrameView& a, const ConstFrameView& b) noexcept {
  return a.format == b.format && a.width == b.width && a.height == b.height && a.width > 0;
}

}  // namespace

std::optional<SquaredError> compare_error(const ConstFrameView& a, const ConstFrameView& b) {
  if (!fits(a, b)) return std::nullopt;
  return squared_error(a, b);
}

Status make_difference(const ConstFrameView& a, const ConstFrameView& b, int gain, Frame& out) {
  if (!fits(a, b)) return Status(Errc::invalid_frame, "the two pictures differ in size");
  ZR_TRY(out.reshape(a.format, a.width, a.height));
  const auto unsigned_difference = [gain](int x, int y) { return clip(gain * std::abs(x - y)); };
  const auto signed_difference = [gain](int x, int y) { return clip(128 + gain * (x - y)); };
  each_row(a, b, out.view(), 0, unsigned_difference);
  for (int plane = 1; plane < plane_count(a.format); ++plane)
    each_row(a, b, out.view(), plane, signed_difference);
  return Status::ok();
}

}  // namespace zerorun::app
