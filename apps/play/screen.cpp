// SPDX-License-Identifier: MIT
#include "apps/play/screen.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "apps/play/session.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

/// Size after pixel aspect and rotation, at one window pixel per line of the picture.
SDL_FPoint shown_size(const PictureShape& shape, bool with_aspect) {
  double width = shape.width, height = shape.height;
  if (with_aspect && shape.pixel_aspect > 0) width *= shape.pixel_aspect;
  if (shape.rotation_degrees % 180 != 0) std::swap(width, height);
  return {static_cast<float>(width), static_cast<float>(height)};
}

/// If the renderer states no limit. Even, so that tiles hold whole chroma samples.
constexpr int kUsualMaxSize = 8192;

Status sdl_failure(const char* what) {
  return Status(Errc::device_failure, std::string(what) + ": " + SDL_GetError());
}

SDL_FRect turned(SDL_FRect unit, const Placement& placement) {
  if (placement.mirrored) unit.x = 1 - unit.x - unit.w;
  for (int turned = 0; turned < placement.rotation_degrees; turned += 90)
    unit = {1 - unit.y - unit.h, unit.x, unit.h, unit.w};
  return unit;
}

}  // namespace

void View::toggle_actual_size() {
  scale_ = is_zoomed() ? 0 : 1;
  offset_ = {0, 0};
}

void View::move(SDL_FPoint by) {
  if (!is_zoomed()) return;
  offset_.x += by.x;
  offset_.y += by.y;
}

void View::zoom_at(SDL_FPoint point, double factor, const PictureShape& shape,
                   const SDL_FRect& area) {
  const Placement before = place(shape, area);
  const double from = is_zoomed() ? scale_
                                  : static_cast<double>(before.box.w) /
                                        static_cast<double>(shown_size(shape, false).x);
  constexpr double kLeast = 1.0 / 64, kMost = 64.0;
  const double to = std::clamp(from * factor, kLeast, kMost);
  const auto ratio = static_cast<float>(to / from);
  // The pixel under the point stays under it.
  const SDL_FPoint middle{before.box.x + before.box.w / 2, before.box.y + before.box.h / 2};
  offset_.x = point.x + (middle.x - point.x) * ratio - (area.x + area.w / 2);
  offset_.y = point.y + (middle.y - point.y) * ratio - (area.y + area.h / 2);
  scale_ = to;
}

double View::factor(const PictureShape& shape, const SDL_FRect& area) const {
  if (is_zoomed()) return scale_;
  return static_cast<double>(place(shape, area).box.h / shown_size(shape, true).y);
}

Placement View::place(const PictureShape& shape, const SDL_FRect& area) const {
  const SDL_FPoint size = shown_size(shape, !is_zoomed());
  const float scale =
      is_zoomed() ? static_cast<float>(scale_) : std::min(area.w / size.x, area.h / size.y);
  Placement placement;
  placement.rotation_degrees = shape.rotation_degrees;
  placement.mirrored = shape.mirrored;
  placement.box.w = size.x * scale;
  placement.box.h = size.y * scale;
  placement.box.x = area.x + (area.w - placement.box.w) / 2 + (is_zoomed() ? offset_.x : 0);
  placement.box.y = area.y + (area.h - placement.box.h) / 2 + (is_zoomed() ? offset_.y : 0);
  if (is_exact()) {  // on whole pixels, so that 1:1 is sharp
    placement.box.x = std::round(placement.box.x);
    placement.box.y = std::round(placement.box.y);
  }
  return placement;
}

std::optional<SDL_Point> pixel_at(const PictureShape& shape, const Placement& placement,
                                  SDL_FPoint point) {
  const double across = static_cast<double>((point.x - placement.box.x) / placement.box.w);
  const double down = static_cast<double>((point.y - placement.box.y) / placement.box.h);
  if (!(across >= 0 && across < 1 && down >= 0 && down < 1)) return std::nullopt;
  double x = across, y = down;
  for (int turned = 0; turned < placement.rotation_degrees; turned += 90)
    x = std::exchange(y, 1 - x);
  if (placement.mirrored) x = 1 - x;
  return SDL_Point{std::clamp(static_cast<int>(x * shape.width), 0, shape.width - 1),
                   std::clamp(static_cast<int>(y * shape.height), 0, shape.height - 1)};
}

Picture::Picture(SDL_Renderer* renderer, bool is_blended)
    : renderer_(renderer), is_blended_(is_blended), max_size_(kUsualMaxSize) {
  SDL_RendererInfo info{};
  if (SDL_GetRendererInfo(renderer, &info) != 0) return;
  const int least = std::min(info.max_texture_width, info.max_texture_height);
  if (least > 0) max_size_ = least & ~1;
}

Status Picture::make_tiles(const ConstFrameView& frame) {
  tiles_.clear();
  const Uint32 rgb = is_blended_ ? SDL_PIXELFORMAT_ARGB8888 : SDL_PIXELFORMAT_RGB888;
  const Uint32 format = frame.format == PixelFormat::bgrx32 ? rgb : Uint32{SDL_PIXELFORMAT_IYUV};
  for (int y = 0; y < frame.height; y += max_size_)
    for (int x = 0; x < frame.width; x += max_size_) {
      const SDL_Rect area{x, y, std::min(max_size_, frame.width - x),
                          std::min(max_size_, frame.height - y)};
      Tile tile{SdlPtr<SDL_Texture>(SDL_CreateTexture(renderer_, format,
                                                      SDL_TEXTUREACCESS_STREAMING, area.w, area.h)),
                area};
      if (!tile.texture) return sdl_failure("a texture");
      if (is_blended_) SDL_SetTextureBlendMode(tile.texture.get(), SDL_BLENDMODE_BLEND);
      tiles_.push_back(std::move(tile));
    }
  format_ = frame.format;
  width_ = frame.width;
  height_ = frame.height;
  return Status::ok();
}

int Picture::upload(Tile& tile, const ConstFrameView& frame) {
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

Status Picture::update(const ConstFrameView& frame, bool is_exact) {
  const bool is_same = frame.format == format_ && frame.width == width_ && frame.height == height_;
  if (!is_same || tiles_.empty()) ZR_TRY(make_tiles(frame));
  for (Tile& tile : tiles_) {
    // Set before each upload: SDL 2.26's OpenGL renderer mixes up the planes of YUV textures else.
    SDL_SetTextureScaleMode(tile.texture.get(),
                            is_exact ? SDL_ScaleModeNearest : SDL_ScaleModeLinear);
    if (upload(tile, frame) != 0) return sdl_failure("a picture to the screen");
  }
  return Status::ok();
}

void Picture::draw(const Placement& placement) {
  const SDL_FRect& box = placement.box;
  const auto width = static_cast<float>(width_), height = static_cast<float>(height_);
  for (Tile& tile : tiles_) {
    const SDL_FRect unit =
        turned({static_cast<float>(tile.area.x) / width, static_cast<float>(tile.area.y) / height,
                static_cast<float>(tile.area.w) / width, static_cast<float>(tile.area.h) / height},
               placement);
    SDL_FRect to{box.x + unit.x * box.w, box.y + unit.y * box.h, unit.w * box.w, unit.h * box.h};
    if (placement.rotation_degrees % 180 != 0) {
      // SDL rotates around the middle of the upright rectangle.
      const SDL_FPoint middle{to.x + to.w / 2, to.y + to.h / 2};
      to = {middle.x - to.h / 2, middle.y - to.w / 2, to.h, to.w};
    }
    // SDL mirrors before it rotates.
    SDL_RenderCopyExF(renderer_, tile.texture.get(), nullptr, &to, placement.rotation_degrees,
                      nullptr, placement.mirrored ? SDL_FLIP_HORIZONTAL : SDL_FLIP_NONE);
  }
}

Screen::Screen(Window& window, PlaySession& session, ScreenView view)
    : window_(window),
      view_(view),
      sides_{Side(window.renderer(), session.input.get()),
             Side(window.renderer(), session.other.get())},
      overlay_(window) {}

Screen::Side::Side(SDL_Renderer* renderer, const PlayInput* shown)
    : input(shown), picture(renderer), mask(renderer, true) {
  if (input != nullptr) size = {input->width(), input->height()};
}

Status Screen::update(const Playback& playback) {
  if (playback.shown() == nullptr) return Status::ok();
  for (Side& side : sides_) {
    const PlayFrame* const frame = frame_of(side, playback);
    side.has_frame = frame != nullptr;
    if (!side.has_frame) continue;
    ConstFrameView view = frame->frame.view();
    side.size = {frame->width, frame->height};
    if (!shows(side)) continue;
    if (with_clipping_) {
      ZR_TRY(side.histogram.update(view, mask_));
      ZR_TRY(side.mask.update(std::as_const(mask_).view(), zoom_.is_exact()));
    }
    if (view_ == ScreenView::difference && playback.is_pair()) {
      ZR_TRY(make_difference(view, playback.other_shown()->frame.view(), gain_, difference_));
      view = std::as_const(difference_).view();
    }
    ZR_TRY(side.picture.update(view, zoom_.is_exact()));
  }
  return Status::ok();
}

void Screen::forget_textures() {
  for (Side& side : sides_) {
    side.picture.forget();
    side.mask.forget();
  }
  overlay_.forget();
}

void Screen::scale_gain(bool up) {
  constexpr int kMost = 64;
  gain_ = std::clamp(up ? gain_ * 2 : gain_ / 2, 1, kMost);
}

/// Pictures that are compared or counted keep all their samples.
int Screen::decoding_scale() const {
  if (sides_[1].input != nullptr || with_clipping_ || !sides_[0].input->has_packets()) return 1;
  const Part only = part(sides_[0]);
  const SDL_FRect box = zoom_.place(only.shape, only.area).box;
  const SDL_FPoint whole = shown_size(only.shape, false);
  const float least = std::max(box.w / whole.x, box.h / whole.y);
  int scale = 1;
  while (scale < 8 && static_cast<float>(2 * scale) * least <= 1) scale *= 2;
  return scale;
}

const PlayFrame* Screen::frame_of(const Side& side, const Playback& playback) const {
  return is_second(side) ? playback.other_shown() : playback.shown();
}

Screen::Part Screen::part(const Side& side) const {
  const SDL_Point size = window_.size();
  Part part;
  part.shape.width = side.size.x;
  part.shape.height = side.size.y;
  const io::SourceInfo& info = side.input->info();
  if (info.sample_aspect.known()) part.shape.pixel_aspect = info.sample_aspect.value();
  part.shape.rotation_degrees = info.rotation_degrees;
  part.shape.mirrored = info.mirrored;
  part.area = {0, 0, static_cast<float>(size.x), static_cast<float>(size.y)};
  if (view_ != ScreenView::side) return part;
  part.area.w /= 2;
  if (is_second(side)) part.area.x = part.area.w;
  return part;
}

const Screen::Side& Screen::side_under(SDL_FPoint point) const {
  const SDL_FRect left = part(sides_[0]).area;
  const bool is_right = view_ == ScreenView::side && point.x >= left.x + left.w;
  return sides_[view_ == ScreenView::second || is_right ? 1 : 0];
}

void Screen::zoom_at(SDL_FPoint point, double factor) {
  const Part under = part(side_under(point));
  zoom_.zoom_at(point, factor, under.shape, under.area);
}

std::string Screen::probe(const Playback& playback) {
  const SDL_FPoint mouse = window_.mouse();
  const Side& side = side_under(mouse);
  const PlayFrame* const frame = frame_of(side, playback);
  if (frame == nullptr) return {};
  const Part under = part(side);
  const auto pixel = pixel_at(under.shape, zoom_.place(under.shape, under.area), mouse);
  if (!pixel || pixel->x >= frame->width || pixel->y >= frame->height) return {};
  const bool is_still = playback.is_paused() || playback.is_at_end();
  return probes_[is_second(side) ? 1 : 0].text(
      *frame, {*pixel, zoom_.factor(under.shape, under.area), is_still});
}

/// "A  coded.avi": which picture is where.
void Screen::name_parts(OverlayContent& content) const {
  if (sides_[1].input == nullptr) return;
  const auto name = [](const char* letter, const PlayInput& input) {
    return fmt::format("{}  {}", letter, std::filesystem::path(input.name()).filename().string());
  };
  content.side_by_side = view_ == ScreenView::side;
  if (view_ == ScreenView::difference)
    content.name_a = fmt::format("A - B  x{}", gain_);
  else if (shows(sides_[0]))
    content.name_a = name("A", *sides_[0].input);
  if (shows(sides_[1])) content.name_b = name("B", *sides_[1].input);
}

void Screen::draw(OverlayContent content) {
  SDL_Renderer* renderer = window_.renderer();
  SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255);
  SDL_RenderClear(renderer);
  for (Side& side : sides_) {
    if (!shows(side) || (is_second(side) && !side.has_frame)) continue;
    const Part where = part(side);
    const SDL_Rect clip{static_cast<int>(where.area.x), static_cast<int>(where.area.y),
                        static_cast<int>(where.area.w), static_cast<int>(where.area.h)};
    SDL_RenderSetClipRect(renderer, &clip);
    side.picture.draw(zoom_.place(where.shape, where.area));
    if (with_clipping_) side.mask.draw(zoom_.place(where.shape, where.area));
    SDL_RenderSetClipRect(renderer, nullptr);
  }
  name_parts(content);
  if (with_clipping_ && content.help.empty())
    content.histogram = &sides_[shows(sides_[0]) ? 0 : 1].histogram;
  overlay_.draw(content);
  SDL_RenderPresent(renderer);
}

}  // namespace zerorun::app
