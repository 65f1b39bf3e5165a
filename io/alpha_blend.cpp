// Shows a frame over black or white, by an alpha channel.
// SPDX-License-Identifier: MIT
#include "io/alpha_blend.hpp"

#include <algorithm>
#include <cstring>

#include "io/pixel_pack.hpp"

namespace zerorun::io {
namespace {

std::uint32_t alpha_at(const AlphaPlane& alpha, int x, int y) noexcept {
  const std::uint8_t* at =
      alpha.data + y * alpha.stride_bytes + std::ptrdiff_t{x} * alpha.step_bytes;
  if (alpha.depth_bits <= 8) return *at;
  std::uint16_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return std::min<std::uint32_t>(word, (1U << alpha.depth_bits) - 1);
}

/// The value between `background` and `value`, rounded. `sum` of `most` is opaque.
std::uint8_t between(std::uint8_t value, std::uint32_t background, std::uint64_t sum,
                     std::uint64_t most) noexcept {
  return static_cast<std::uint8_t>((value * sum + background * (most - sum) + most / 2) / most);
}

void blend_plane(const AlphaPlane& alpha, std::uint32_t background, const FrameView& frame,
                 int plane, int across, int down) noexcept {
  const std::uint64_t top = (1U << alpha.depth_bits) - 1;
  const int columns = static_cast<int>(plane_row_bytes(frame.format, plane, frame.width));
  for (int row = 0; row < plane_rows(frame.format, plane, frame.height); ++row) {
    std::uint8_t* out = row_of(frame, plane, row);
    for (int column = 0; column < columns; ++column) {
      const int right = std::min((column + 1) * across, frame.width);
      const int bottom = std::min((row + 1) * down, frame.height);
      std::uint64_t sum = 0, most = 0;
      for (int y = row * down; y < bottom; ++y)
        for (int x = column * across; x < right; ++x, most += top) sum += alpha_at(alpha, x, y);
      out[column] = between(out[column], background, sum, most);
    }
  }
}

void blend_rgb(const AlphaPlane& alpha, std::uint32_t background, const FrameView& frame) noexcept {
  const RgbLayout at = rgb_layout(frame.format);
  const std::uint64_t top = (1U << alpha.depth_bits) - 1;
  for (int y = 0; y < frame.height; ++y) {
    std::uint8_t* pixel = row_of(frame, 0, y);
    for (int x = 0; x < frame.width; ++x, pixel += at.bytes)
      for (const int channel : {at.r, at.g, at.b})
        pixel[channel] = between(pixel[channel], background, alpha_at(alpha, x, y), top);
  }
}

}  // namespace

void blend(const AlphaPlane& alpha, Alpha over, const FrameView& frame) noexcept {
  if (over == Alpha::ignore) return;
  const std::uint32_t background = over == Alpha::white ? 255 : 0;
  if (is_rgb(frame.format)) return blend_rgb(alpha, background, frame);
  blend_plane(alpha, background, frame, 0, 1, 1);
  if (plane_count(frame.format) == 1) return;
  const LumaFactors factors = luma_factors(native_subsampling(frame.format));
  for (const int plane : {1, 2}) blend_plane(alpha, 128, frame, plane, factors.h, factors.v);
}

}  // namespace zerorun::io
