// The bar at the lower edge.
// SPDX-License-Identifier: MIT
#include "apps/play/seek_bar.hpp"

#include <algorithm>

namespace zerorun::app {
namespace {

constexpr SDL_Color kBack{0, 0, 0, 170}, kTrack{90, 90, 90, 255}, kAhead{170, 170, 170, 255},
    kPlayed{64, 150, 255, 255}, kMark{255, 200, 40, 255}, kKnob{255, 255, 255, 255};

void set_color(SDL_Renderer* renderer, SDL_Color c) {
  SDL_SetRenderDrawColor(renderer, c.r, c.g, c.b, c.a);
}

}  // namespace

SeekBar::SeekBar(SDL_Point window, int unit, int text_width) {
  const int height = std::min(2 * unit + unit / 2, window.y);
  area_ = {0, window.y - height, window.x, height};
  const int width = std::max(window.x - text_width - 2 * unit, window.x / 3);
  const auto size = static_cast<float>(unit);
  track_ = {size, static_cast<float>(area_.y) + static_cast<float>(height) / 2 - size / 4,
            static_cast<float>(std::max(1, width - unit)), size / 2};
}

SDL_Rect SeekBar::text_area() const noexcept {
  const int from = static_cast<int>(track_.x + track_.w);
  return {from, area_.y, area_.x + area_.w - from, area_.h};
}

bool SeekBar::contains(SDL_FPoint point) const noexcept {
  return point.y >= static_cast<float>(area_.y) && point.y < static_cast<float>(area_.y + area_.h);
}

double SeekBar::time_at(float x, double duration) const noexcept {
  return duration * std::clamp(static_cast<double>((x - track_.x) / track_.w), 0.0, 1.0);
}

float SeekBar::place(double seconds, double duration) const noexcept {
  const double share = duration > 0 ? std::clamp(seconds / duration, 0.0, 1.0) : 0.0;
  return track_.x + static_cast<float>(share) * track_.w;
}

void SeekBar::fill(SDL_Renderer* renderer, float from, float to, SDL_Color color) const {
  const SDL_FRect box{from, track_.y, std::max(to - from, 0.0F), track_.h};
  set_color(renderer, color);
  SDL_RenderFillRectF(renderer, &box);
}

void SeekBar::draw(SDL_Renderer* renderer, const SeekBarState& state) const {
  set_color(renderer, kBack);
  SDL_RenderFillRect(renderer, &area_);
  const float at = place(state.at, state.duration);
  fill(renderer, track_.x, track_.x + track_.w, kTrack);
  fill(renderer, at, place(state.decoded_until, state.duration), kAhead);
  fill(renderer, track_.x, at, kPlayed);
  const float line = std::max(2.0F, track_.h / 4);
  for (const auto& mark : {state.a, state.b}) {
    if (!mark) continue;
    const SDL_FRect box{place(*mark, state.duration) - line / 2, track_.y - track_.h / 2, line,
                        2 * track_.h};
    set_color(renderer, kMark);
    SDL_RenderFillRectF(renderer, &box);
  }
  const SDL_FRect knob{at - line, track_.y - track_.h / 2, 2 * line, 2 * track_.h};
  set_color(renderer, kKnob);
  SDL_RenderFillRectF(renderer, &knob);
}

}  // namespace zerorun::app
