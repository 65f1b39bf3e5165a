// The values of the pixel under the mouse.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "apps/common/input_output.hpp"
#include "apps/play/decode_ahead.hpp"
#include "codec/arith/color.hpp"

namespace zerorun::app {

/// What a line about a pixel needs besides the frame.
struct ProbePlace {
  SDL_Point pixel{0, 0};
  double zoom = 1.0;        ///< pixels of the window for a pixel of the picture
  bool may_decode = false;  ///< the frame stands still, so that there is time to decode it again
};

/// The player keeps pictures as the screen needs them: 4:2:2 and others are RGB. The stored YCbCr
/// values come from decoding the frame again, once, while it stands still.
class Probe {
 public:
  /// "x 12 y 40  400 %  YCbCr 81 90 240  RGB 254 0 0"
  std::string text(const PlayFrame& frame, const ProbePlace& place) {
    const SDL_Point pixel = place.pixel;
    const std::string line =
        fmt::format("x {} y {}  {:.0f} %  ", pixel.x, pixel.y, 100 * place.zoom);
    const auto view = stored(frame, place.may_decode);
    if (!view && frame.scale > 1) return line;  // the picture has not the samples of its pixels
    if (!view || (is_rgb(view->format) && frame.scale == 1))
      return line + bgrx_text(frame.frame.view(), pixel, frame.jpeg.empty());
    if (view->format == PixelFormat::gray8)
      return line + fmt::format("Y {}", sample(*view, 0, pixel.x, pixel.y));
    const Ycc c = ycc_at(*view, pixel);
    if (frame.scale == 1 && frame.frame.format() == PixelFormat::bgrx32)
      return line + ycc_text(c) + "  " + bgrx_text(frame.frame.view(), pixel, false);
    const Rgb rgb = ycc_to_rgb(c.y, c.cb, c.cr);
    return line + ycc_text(c) + "  " + rgb_text(rgb.r, rgb.g, rgb.b);
  }

 private:
  std::optional<ConstFrameView> stored(const PlayFrame& frame, bool may_decode) {
    if (frame.scale == 1 && frame.frame.format() != PixelFormat::bgrx32) return frame.frame.view();
    if (frame.jpeg.empty()) return std::nullopt;
    if (index_ != frame.index) {
      if (!may_decode) return std::nullopt;
      index_ = frame.index;
      const auto stream = inspect(frame.jpeg, StreamLimits::any_size());
      auto again = stream ? decode_again(frame, stored_format(*stream)) : stream.status();
      is_broken_ = !again;
      if (again) again_ = *std::move(again);
    }
    if (is_broken_) return std::nullopt;
    return std::as_const(again_).view();
  }

  static int sample(const ConstFrameView& frame, std::size_t plane, std::ptrdiff_t x,
                    std::ptrdiff_t y) {
    return frame.data[plane][y * frame.stride_bytes[plane] + x];
  }
  /// Pixels for each chroma sample, along an axis of `pixels` with `samples`.
  static int step(std::size_t pixels, std::size_t samples) {
    return samples == 0 ? 1 : static_cast<int>((pixels + samples - 1) / samples);
  }
  /// Planar YCbCr of any subsampling.
  static Ycc ycc_at(const ConstFrameView& frame, SDL_Point pixel) {
    const int across =
        step(static_cast<std::size_t>(frame.width), plane_row_bytes(frame.format, 1, frame.width));
    const int down = step(static_cast<std::size_t>(frame.height),
                          static_cast<std::size_t>(plane_rows(frame.format, 1, frame.height)));
    const auto at = [&](std::size_t plane) {
      return static_cast<std::uint8_t>(sample(frame, plane, pixel.x / across, pixel.y / down));
    };
    return {static_cast<std::uint8_t>(sample(frame, 0, pixel.x, pixel.y)), at(1), at(2)};
  }
  static std::string rgb_text(int r, int g, int b) { return fmt::format("RGB {} {} {}", r, g, b); }
  static std::string ycc_text(const Ycc& c) {
    return fmt::format("YCbCr {} {} {}", c.y, c.cb, c.cr);
  }
  static std::string bgrx_text(const ConstFrameView& frame, SDL_Point pixel, bool with_ycc) {
    const int b = sample(frame, 0, 4 * pixel.x, pixel.y),
              g = sample(frame, 0, 4 * pixel.x + 1, pixel.y),
              r = sample(frame, 0, 4 * pixel.x + 2, pixel.y);
    const std::string rgb = rgb_text(r, g, b);
    // Computed, and not stored: the sign says so.
    return with_ycc ? "YCbCr ~" + ycc_text(rgb_to_ycc(r, g, b)).substr(6) + "  " + rgb : rgb;
  }

  Frame again_;  // of frame `index_`, in the format of the stream
  std::int64_t index_ = -1;
  bool is_broken_ = false;  // decoding frame `index_` again failed
};

}  // namespace zerorun::app
