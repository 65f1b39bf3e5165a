// The content of the window: one picture, two, or their difference, with text on them.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/play/overlay.hpp"
#include "apps/play/playback.hpp"
#include "apps/play/session.hpp"
#include "apps/play/window.hpp"
#include "codec/base/try.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

/// The shape of a picture before it is placed.
struct PictureShape {
  static PictureShape of(const PlayInput& input) {
    const io::SourceInfo& info = input.info();
    const double aspect = info.sample_aspect.known() ? info.sample_aspect.value() : 1.0;
    return {input.width(), input.height(), aspect, info.rotation_degrees, info.mirrored};
  }
  /// Size after pixel aspect and rotation, at one window pixel per line of the picture.
  SDL_FPoint shown_size(bool with_aspect) const {
    double across = width, down = height;
    if (with_aspect && pixel_aspect > 0) across *= pixel_aspect;
    if (rotation_degrees % 180 != 0) std::swap(across, down);
    return {float(across), float(down)};
  }
  /// The pixel under a point of the window, where the picture fills `box`; empty if there is none.
  std::optional<SDL_Point> pixel_at(const SDL_FRect& box, SDL_FPoint point) const {
    double x = double((point.x - box.x) / box.w);
    double y = double((point.y - box.y) / box.h);
    if (!(x >= 0 && x < 1 && y >= 0 && y < 1)) return std::nullopt;
    for (int turned = 0; turned < rotation_degrees; turned += 90) x = std::exchange(y, 1 - x);
    if (mirrored) x = 1 - x;
    return SDL_Point{std::clamp(static_cast<int>(x * width), 0, width - 1),
                     std::clamp(static_cast<int>(y * height), 0, height - 1)};
  }
  /// Where a part of the picture comes; all of it is {0, 0, 1, 1}.
  SDL_FRect turned(SDL_FRect part) const {
    if (mirrored) part.x = 1 - part.x - part.w;
    for (int turned = 0; turned < rotation_degrees; turned += 90)
      part = {1 - part.y - part.h, part.x, part.h, part.w};
    return part;
  }

  int width = 1, height = 1;
  double pixel_aspect = 1.0;  ///< width of a pixel over its height
  int rotation_degrees = 0;
  bool mirrored = false;  ///< left to right, before it is turned
};

class Picture {
 public:
  /// `is_blended`: the fourth byte of bgrx32 is the alpha of a picture that lies over another.
  explicit Picture(SDL_Renderer* renderer, bool is_blended = false)
      : renderer_(renderer), is_blended_(is_blended) {
    SDL_RendererInfo info{};
    if (SDL_GetRendererInfo(renderer, &info) != 0) return;
    const int least = std::min(info.max_texture_width, info.max_texture_height);
    if (least > 0) max_size_ = least & ~1;
  }

  /// Copies a frame in yuv420p, gray8 or bgrx32. `is_exact`: enlarged pixels are not smoothed.
  /// Errors: device_failure with SDL's message.
  Status update(const ConstFrameView& frame, bool is_exact) {
    const bool is_same =
        frame.format == format_ && frame.width == width_ && frame.height == height_;
    if (!is_same || tiles_.empty()) ZR_TRY(make_tiles(frame));
    for (Tile& tile : tiles_) {
      // Set before each upload: SDL 2.26's OpenGL renderer mixes up the planes of YUV textures
      // else.
      SDL_SetTextureScaleMode(tile.texture.get(),
                              is_exact ? SDL_ScaleModeNearest : SDL_ScaleModeLinear);
      if (upload(tile, frame) != 0) return failure("a picture to the screen");
    }
    return Status::ok();
  }
  void draw(const PictureShape& shape, const SDL_FRect& box) {
    const auto width = float(width_), height = float(height_);
    for (Tile& tile : tiles_) {
      const SDL_FRect unit =
          shape.turned({float(tile.area.x) / width, float(tile.area.y) / height,
                        float(tile.area.w) / width, float(tile.area.h) / height});
      SDL_FRect to{box.x + unit.x * box.w, box.y + unit.y * box.h, unit.w * box.w, unit.h * box.h};
      if (shape.rotation_degrees % 180 != 0) {
        // SDL rotates around the middle of the upright rectangle.
        const SDL_FPoint middle{to.x + to.w / 2, to.y + to.h / 2};
        to = {middle.x - to.h / 2, middle.y - to.w / 2, to.h, to.w};
      }
      // SDL mirrors before it rotates.
      SDL_RenderCopyExF(renderer_, tile.texture.get(), nullptr, &to, shape.rotation_degrees,
                        nullptr, shape.mirrored ? SDL_FLIP_HORIZONTAL : SDL_FLIP_NONE);
    }
  }
  /// Call it if the renderer lost its textures; the next update() makes new ones.
  void forget() { tiles_.clear(); }

 private:
  struct Tile {
    SdlPtr<SDL_Texture> texture;
    SDL_Rect area;  // of the picture
  };

  static Status failure(const char* what) {
    return Status(Errc::device_failure, std::string(what) + ": " + SDL_GetError());
  }
  Status make_tiles(const ConstFrameView& frame) {
    tiles_.clear();
    const Uint32 rgb = is_blended_ ? SDL_PIXELFORMAT_ARGB8888 : SDL_PIXELFORMAT_RGB888;
    const Uint32 format = frame.format == PixelFormat::bgrx32 ? rgb : Uint32{SDL_PIXELFORMAT_IYUV};
    for (int y = 0; y < frame.height; y += max_size_)
      for (int x = 0; x < frame.width; x += max_size_) {
        const SDL_Rect area{x, y, std::min(max_size_, frame.width - x),
                            std::min(max_size_, frame.height - y)};
        Tile tile{SdlPtr<SDL_Texture>(SDL_CreateTexture(
                      renderer_, format, SDL_TEXTUREACCESS_STREAMING, area.w, area.h)),
                  area};
        if (!tile.texture) return failure("a texture");
        if (is_blended_) SDL_SetTextureBlendMode(tile.texture.get(), SDL_BLENDMODE_BLEND);
        tiles_.push_back(std::move(tile));
      }
    format_ = frame.format;
    width_ = frame.width;
    height_ = frame.height;
    return Status::ok();
  }
  int upload(Tile& tile, const ConstFrameView& frame) {
    const auto stride = [&frame](int plane) {
      return static_cast<int>(frame.stride_bytes[static_cast<std::size_t>(plane)]);
    };
    const std::ptrdiff_t x = tile.area.x, y = tile.area.y;
    if (frame.format == PixelFormat::bgrx32)
      return SDL_UpdateTexture(tile.texture.get(), nullptr,
                               frame.data[0] + y * frame.stride_bytes[0] + 4 * x, stride(0));
    const std::uint8_t* luma = frame.data[0] + y * frame.stride_bytes[0] + x;
    if (frame.format == PixelFormat::gray8) {
      const int chroma_width = (tile.area.w + 1) / 2;
      no_chroma_.assign(
          static_cast<std::size_t>(chroma_width) * static_cast<std::size_t>((tile.area.h + 1) / 2),
          128);
      return SDL_UpdateYUVTexture(tile.texture.get(), nullptr, luma, stride(0), no_chroma_.data(),
                                  chroma_width, no_chroma_.data(), chroma_width);
    }
    const std::uint8_t* cb = frame.data[1] + y / 2 * frame.stride_bytes[1] + x / 2;
    const std::uint8_t* cr = frame.data[2] + y / 2 * frame.stride_bytes[2] + x / 2;
    return SDL_UpdateYUVTexture(tile.texture.get(), nullptr, luma, stride(0), cb, stride(1), cr,
                                stride(2));
  }

  SDL_Renderer* renderer_;
  bool is_blended_;
  int max_size_ = 8192;  // if the renderer states no limit. Even: tiles hold whole chroma samples
  std::vector<Tile> tiles_;
  PixelFormat format_ = PixelFormat::gray8;
  int width_ = 0, height_ = 0;
  std::vector<std::uint8_t> no_chroma_;  // for grey frames
};

class Screen {
 public:
  Screen(Window& window, PlaySession& session, View view)
      : window_(window),
        view_(view),
        sides_{Side(window.renderer(), session.input.get()),
               Side(window.renderer(), session.other.get())},
        overlay_(window) {}

  /// Copies the current pictures.
  Status update(const Playback& playback) {
    if (playback.shown() == nullptr) return Status::ok();
    for (Side& side : sides_) {
      const PlayFrame* const frame = frame_of(side, playback);
      if (frame == nullptr) continue;
      ConstFrameView view = frame->frame.view();
      side.shape.width = frame->width;
      side.shape.height = frame->height;
      if (!shows(side)) continue;
      if (with_clipping_) {
        ZR_TRY(side.histogram.update(view, mask_));
        ZR_TRY(side.mask.update(std::as_const(mask_).view(), is_exact()));
      }
      if (view_ == View::difference && playback.is_pair()) {
        ZR_TRY(make_difference(*frame, *playback.other_shown(), gain_, difference_));
        view = std::as_const(difference_).view();
      }
      ZR_TRY(side.picture.update(view, is_exact()));
    }
    return Status::ok();
  }
  void draw(OverlayContent content) {
    SDL_Renderer* renderer = window_.renderer();
    SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255);
    SDL_RenderClear(renderer);
    for (Side& side : sides_) {
      if (!shows(side)) continue;
      const SDL_FRect part = area(side), box = place(side);
      const SDL_Rect clip{static_cast<int>(part.x), static_cast<int>(part.y),
                          static_cast<int>(part.w), static_cast<int>(part.h)};
      SDL_RenderSetClipRect(renderer, &clip);
      side.picture.draw(side.shape, box);
      if (with_clipping_) side.mask.draw(side.shape, box);
      SDL_RenderSetClipRect(renderer, nullptr);
    }
    name_parts(content);
    if (with_clipping_ && content.help.empty())
      content.histogram = &sides_[shows(sides_[0]) ? 0 : 1].histogram;
    overlay_.draw(content);
    SDL_RenderPresent(renderer);
  }
  void forget_textures() {
    for (Side& side : sides_) {
      side.picture.forget();
      side.mask.forget();
    }
    overlay_.forget();
  }

  /// Comparing: side by side, difference, first, second, and again.
  void next_view() {
    if (sides_[1].input != nullptr) view_ = static_cast<View>((static_cast<int>(view_) + 1) % 4);
  }
  /// Doubles or halves the gain of the difference, and returns it.
  int scale_gain(bool up) {
    constexpr int kMost = 64;
    return gain_ = std::clamp(up ? gain_ * 2 : gain_ / 2, 1, kMost);
  }
  /// 1, 2, 4 or 8: a picture at 1 / this is as large as the window shows it. Pictures that are
  /// compared or counted keep all their samples.
  int decoding_scale() const {
    if (sides_[1].input != nullptr || with_clipping_ || !sides_[0].input->has_packets()) return 1;
    const SDL_FRect box = place(sides_[0]);
    const SDL_FPoint whole = sides_[0].shape.shown_size(false);
    const float least = std::max(box.w / whole.x, box.h / whole.y);
    int scale = 1;
    while (scale < 8 && float(2 * scale) * least <= 1) scale *= 2;
    return scale;
  }

  bool is_zoomed() const noexcept { return zoom_ > 0; }
  void toggle_actual_size() {
    zoom_ = is_zoomed() ? 0 : 1;
    offset_ = {0, 0};
  }
  /// Zooms around a point of the window.
  void zoom_at(SDL_FPoint point, double factor) {
    const Side& side = side_under(point);
    const SDL_FRect before = place(side), part = area(side);
    const double from = is_zoomed() ? zoom_ : double(before.w / side.shape.shown_size(false).x);
    constexpr double kLeast = 1.0 / 64, kMost = 64.0;
    zoom_ = std::clamp(from * factor, kLeast, kMost);
    const auto ratio = float(zoom_ / from);
    // The pixel under the point stays under it.
    const SDL_FPoint middle{before.x + before.w / 2, before.y + before.h / 2};
    offset_.x = point.x + (middle.x - point.x) * ratio - (part.x + part.w / 2);
    offset_.y = point.y + (middle.y - point.y) * ratio - (part.y + part.h / 2);
  }
  void move(SDL_FPoint by) {
    if (!is_zoomed()) return;
    offset_.x += by.x;
    offset_.y += by.y;
  }
  /// The pixel under the mouse; empty if there is none.
  std::string probe(const Playback& playback) {
    const SDL_FPoint mouse = window_.mouse();
    Side& side = side_under(mouse);
    const PlayFrame* const frame = frame_of(side, playback);
    if (frame == nullptr) return {};
    const SDL_FRect box = place(side);
    const auto pixel = side.shape.pixel_at(box, mouse);
    if (!pixel || pixel->x >= frame->width || pixel->y >= frame->height) return {};
    const double zoom = is_zoomed() ? zoom_ : double(box.h / side.shape.shown_size(true).y);
    return side.probe.text(*frame, {pixel->x, pixel->y, zoom, playback.is_still()});
  }
  /// Histogram, and clipped samples in false colours. Call update() afterwards.
  void toggle_clipping() { with_clipping_ = !with_clipping_; }
  Overlay& overlay() noexcept { return overlay_; }

 private:
  /// A picture of the two that are compared, or the only one.
  struct Side {
    Side(SDL_Renderer* renderer, const PlayInput* shown)
        : input(shown), picture(renderer), mask(renderer, true) {
      if (input != nullptr) shape = PictureShape::of(*input);
    }
    const PlayInput* input;  ///< null for the second one without --compare
    Picture picture, mask;
    Histogram histogram;
    Probe probe;
    PictureShape shape;
  };

  /// "A  coded.avi": which picture is where.
  void name_parts(OverlayContent& content) const {
    if (sides_[1].input == nullptr) return;
    const auto name = [](const char* letter, const PlayInput& input) {
      return fmt::format("{}  {}", letter, std::filesystem::path(input.name()).filename().string());
    };
    content.side_by_side = view_ == View::side;
    if (view_ == View::difference)
      content.name_a = fmt::format("A - B  x{}", gain_);
    else if (shows(sides_[0]))
      content.name_a = name("A", *sides_[0].input);
    if (shows(sides_[1])) content.name_b = name("B", *sides_[1].input);
  }
  SDL_FRect area(const Side& side) const {
    const SDL_Point size = window_.size();
    SDL_FRect area{0, 0, float(size.x), float(size.y)};
    if (view_ != View::side) return area;
    area.w /= 2;
    if (is_second(side)) area.x = area.w;
    return area;
  }
  /// At least 1:1: enlarged pixels are not smoothed.
  bool is_exact() const noexcept { return zoom_ >= 1; }
  /// Where the picture comes, after rotation.
  SDL_FRect place(const Side& side) const {
    const SDL_FPoint size = side.shape.shown_size(!is_zoomed());
    const SDL_FRect part = area(side);
    const float scale = is_zoomed() ? float(zoom_) : std::min(part.w / size.x, part.h / size.y);
    SDL_FRect box{0, 0, size.x * scale, size.y * scale};
    box.x = part.x + (part.w - box.w) / 2 + offset_.x;
    box.y = part.y + (part.h - box.h) / 2 + offset_.y;
    if (is_exact()) {  // on whole pixels, so that 1:1 is sharp
      box.x = std::round(box.x);
      box.y = std::round(box.y);
    }
    return box;
  }
  Side& side_under(SDL_FPoint point) {
    const SDL_FRect left = area(sides_[0]);
    const bool is_right = view_ == View::side && point.x >= left.x + left.w;
    return sides_[view_ == View::second || is_right ? 1 : 0];
  }
  const PlayFrame* frame_of(const Side& side, const Playback& playback) const {
    return is_second(side) ? playback.other_shown() : playback.shown();
  }
  bool is_second(const Side& side) const noexcept { return &side == &sides_[1]; }
  bool shows(const Side& side) const noexcept {
    return is_second(side) ? view_ == View::second || view_ == View::side : view_ != View::second;
  }

  Window& window_;
  View view_;
  int gain_ = 8;
  double zoom_ = 0;          // window pixels per picture pixel; 0 = fitted
  SDL_FPoint offset_{0, 0};  // of the picture's middle from the area's
  bool with_clipping_ = false;
  Side sides_[2];
  Frame mask_, difference_;
  Overlay overlay_;
};

}  // namespace zerorun::app
