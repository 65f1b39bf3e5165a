// The content of the window.
// SPDX-License-Identifier: MIT
#include "apps/play/screen.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "apps/play/session.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {

Screen::Screen(Window& window, PlaySession& session, ScreenView view)
    : window_(window),
      session_(session),
      view_(view),
      first_(window.renderer()),
      second_(window.renderer()),
      first_mask_(window.renderer(), true),
      second_mask_(window.renderer(), true),
      overlay_(window) {
  sizes_[0] = {session.input->width(), session.input->height()};
  if (session.other) sizes_[1] = {session.other->width(), session.other->height()};
}

Status Screen::update(const Playback& playback) {
  const PlayFrame* shown = playback.shown();
  const PlayFrame* other = playback.other_shown();
  has_second_ = other != nullptr;
  if (shown == nullptr) return Status::ok();
  ConstFrameView picture = shown->frame.view();
  sizes_[0] = {picture.width, picture.height};
  if (other != nullptr) sizes_[1] = {other->frame.width(), other->frame.height()};
  if (view_ == ScreenView::difference && other != nullptr && playback.is_pair()) {
    ZR_TRY(make_difference(picture, other->frame.view(), gain_, difference_));
    picture = std::as_const(difference_).view();
  }
  if (shows_first()) ZR_TRY(first_.update(picture, zoom_.is_exact()));
  if (shows_second() && other != nullptr)
    ZR_TRY(second_.update(other->frame.view(), zoom_.is_exact()));
  return with_clipping_ ? update_clipping(playback) : Status::ok();
}

Status Screen::update_clipping(const Playback& playback) {
  if (shows_first()) {
    ZR_TRY(histogram_.update(playback.shown()->frame.view(), mask_));
    ZR_TRY(first_mask_.update(std::as_const(mask_).view(), zoom_.is_exact()));
  }
  if (!shows_second() || playback.other_shown() == nullptr) return Status::ok();
  ZR_TRY(second_histogram_.update(playback.other_shown()->frame.view(), mask_));
  return second_mask_.update(std::as_const(mask_).view(), zoom_.is_exact());
}

void Screen::forget_textures() {
  first_.forget();
  second_.forget();
  first_mask_.forget();
  second_mask_.forget();
  overlay_.forget();
}

void Screen::scale_gain(bool up) {
  constexpr int kMost = 64;
  gain_ = std::clamp(up ? gain_ * 2 : gain_ / 2, 1, kMost);
}

Screen::Part Screen::part(const PlayInput& input, bool is_second) const {
  const SDL_Point size = window_.size();
  Part part;
  part.shape.width = sizes_[is_second ? 1 : 0].x;
  part.shape.height = sizes_[is_second ? 1 : 0].y;
  const io::SourceInfo& info = input.info();
  if (info.sample_aspect.known()) part.shape.pixel_aspect = info.sample_aspect.value();
  part.shape.rotation_degrees = info.rotation_degrees;
  part.shape.mirrored = info.mirrored;
  part.area = {0, 0, static_cast<float>(size.x), static_cast<float>(size.y)};
  if (view_ != ScreenView::side) return part;
  part.area.w /= 2;
  if (is_second) part.area.x = part.area.w;
  return part;
}

Screen::Part Screen::part_under(SDL_FPoint point, bool& is_second) const {
  const Part first = part(*session_.input, false);
  is_second = view_ == ScreenView::second ||
              (view_ == ScreenView::side && point.x >= first.area.x + first.area.w);
  return is_second ? part(*session_.other, true) : first;
}

void Screen::zoom_at(SDL_FPoint point, double factor) {
  bool is_second = false;
  const Part under = part_under(point, is_second);
  zoom_.zoom_at(point, factor, under.shape, under.area);
}

std::string Screen::probe(const Playback& playback) {
  const SDL_FPoint mouse = window_.mouse();
  bool is_second = false;
  const Part under = part_under(mouse, is_second);
  const PlayFrame* frame = is_second ? playback.other_shown() : playback.shown();
  if (frame == nullptr) return {};
  const auto pixel = pixel_at(under.shape, zoom_.place(under.shape, under.area), mouse);
  if (!pixel || pixel->x >= frame->frame.width() || pixel->y >= frame->frame.height()) return {};
  const bool is_still = playback.is_paused() || playback.is_at_end();
  return (is_second ? second_probe_ : probe_)
      .text(*frame, {*pixel, zoom_.factor(under.shape, under.area), is_still});
}

/// "A  coded.avi": which picture is where.
void Screen::name_parts(OverlayContent& content) const {
  if (!session_.other) return;
  const auto name = [](const char* letter, const PlayInput& input) {
    return fmt::format("{}  {}", letter, std::filesystem::path(input.name()).filename().string());
  };
  content.side_by_side = view_ == ScreenView::side;
  if (view_ == ScreenView::difference) content.name_a = fmt::format("A - B  x{}", gain_);
  if (view_ == ScreenView::side || view_ == ScreenView::first)
    content.name_a = name("A", *session_.input);
  if (shows_second()) content.name_b = name("B", *session_.other);
}

void Screen::draw(OverlayContent content) {
  SDL_Renderer* renderer = window_.renderer();
  SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255);
  SDL_RenderClear(renderer);
  const auto draw_part = [&](Picture& picture, Picture& mask, const Part& part) {
    const SDL_Rect clip{static_cast<int>(part.area.x), static_cast<int>(part.area.y),
                        static_cast<int>(part.area.w), static_cast<int>(part.area.h)};
    SDL_RenderSetClipRect(renderer, &clip);
    picture.draw(zoom_.place(part.shape, part.area));
    if (with_clipping_) mask.draw(zoom_.place(part.shape, part.area));
    SDL_RenderSetClipRect(renderer, nullptr);
  };
  if (shows_first()) draw_part(first_, first_mask_, part(*session_.input, false));
  if (shows_second() && has_second_) draw_part(second_, second_mask_, part(*session_.other, true));
  name_parts(content);
  if (with_clipping_ && content.help.empty())
    content.histogram = shows_first() ? &histogram_ : &second_histogram_;
  overlay_.draw(content);
  SDL_RenderPresent(renderer);
}

}  // namespace zerorun::app
