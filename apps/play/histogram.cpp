// The histogram and the mask of clipped samples.
// SPDX-License-Identifier: MIT
#include "apps/play/histogram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

// As bytes B, G, R, A.
constexpr std::array<std::uint8_t, 4> kHigh{40, 40, 255, 255}, kLow{255, 60, 40, 255}, kNone{};

}  // namespace

Status Histogram::update(const ConstFrameView& frame, Frame& mask) {
  ZR_TRY(mask.reshape(PixelFormat::bgrx32, frame.width, frame.height));
  counts_ = {};
  high_ = low_ = 0;
  pixels_ = std::uint64_t{1} * static_cast<std::uint64_t>(frame.width) *
            static_cast<std::uint64_t>(frame.height);
  frame.format == PixelFormat::bgrx32 ? count_rgb(frame, mask.view())
                                      : count_luma(frame, mask.view());
  return Status::ok();
}

void Histogram::count_luma(const ConstFrameView& frame, const FrameView& mask) {
  channels_ = 1;
  for (int y = 0; y < frame.height; ++y) {
    const std::uint8_t* from = frame.data[0] + y * frame.stride_bytes[0];
    std::uint8_t* to = mask.data[0] + y * mask.stride_bytes[0];
    for (int x = 0; x < frame.width; ++x, to += 4) {
      ++counts_[0][from[x]];
      std::memcpy(to, (from[x] == 255 ? kHigh : from[x] == 0 ? kLow : kNone).data(), 4);
    }
  }
  high_ = counts_[0][255];
  low_ = counts_[0][0];
}

void Histogram::count_rgb(const ConstFrameView& frame, const FrameView& mask) {
  channels_ = 3;
  for (int y = 0; y < frame.height; ++y) {
    const std::uint8_t* from = frame.data[0] + y * frame.stride_bytes[0];
    std::uint8_t* to = mask.data[0] + y * mask.stride_bytes[0];
    for (int x = 0; x < frame.width; ++x, from += 4, to += 4) {
      for (std::size_t c = 0; c < 3; ++c) ++counts_[c][from[c]];
      const bool high = std::max({from[0], from[1], from[2]}) == 255;
      const bool low = (from[0] | from[1] | from[2]) == 0;
      high_ += high ? 1 : 0;
      low_ += low ? 1 : 0;
      std::memcpy(to, (high ? kHigh : low ? kLow : kNone).data(), 4);
    }
  }
}

void Histogram::draw(SDL_Renderer* renderer, const SDL_Rect& area) const {
  SDL_SetRenderDrawColor(renderer, 0, 0, 0, 170);
  SDL_RenderFillRect(renderer, &area);
  constexpr SDL_Color kColors[3] = {{80, 120, 255, 150}, {80, 220, 80, 150}, {255, 80, 80, 150}};
  std::uint32_t most = 1;
  // The outermost values are left out of the scale: one clipped sky would flatten all others.
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c)
    most = std::max(most, *std::max_element(counts_[c].begin() + 1, counts_[c].end() - 1));
  const float each = static_cast<float>(area.w) / 256;
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c) {
    const SDL_Color color = channels_ == 1 ? SDL_Color{230, 230, 230, 255} : kColors[c];
    SDL_SetRenderDrawColor(renderer, color.r, color.g, color.b, color.a);
    for (std::size_t i = 0; i < 256; ++i) {
      // The square root shows rare values, too.
      const double share = std::sqrt(std::min(1.0, double{1} * counts_[c][i] / most));
      const auto height = static_cast<float>(area.h * share);
      const SDL_FRect bar{static_cast<float>(area.x) + each * static_cast<float>(i),
                          static_cast<float>(area.y + area.h) - height, each, height};
      SDL_RenderFillRectF(renderer, &bar);
    }
  }
}

std::string Histogram::text() const {
  const auto percent = [this](std::uint64_t count) {
    return pixels_ == 0 ? 0.0 : 100.0 * static_cast<double>(count) / static_cast<double>(pixels_);
  };
  return fmt::format("{} clipped: {:.2f} % at 255 (red),\n{:.2f} % at 0 (blue)",
                     channels_ == 1 ? "Y" : "RGB", percent(high_), percent(low_));
}

}  // namespace zerorun::app
