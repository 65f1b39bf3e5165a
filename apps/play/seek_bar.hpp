// The bar at the lower edge: where the video is, what is decoded ahead, and where a click leads.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <optional>

namespace zerorun::app {

/// Times in seconds after the first frame.
struct SeekBarState {
  double at = 0, duration = 0;
  double decoded_until = 0;  ///< all frames from `at` to here wait to be shown
  std::optional<double> a, b;
};

/// Where the bar lies in a window; it does not keep any state.
class SeekBar {
 public:
  /// `unit` is the size of a letter. `text_width` is kept free for the time at the right.
  SeekBar(SDL_Point window, int unit, int text_width);

  const SDL_Rect& area() const noexcept { return area_; }  ///< what reacts to the mouse
  SDL_Rect text_area() const noexcept;
  bool contains(SDL_FPoint point) const noexcept;
  /// The time that lies under a point of the window, also beside the bar.
  double time_at(float x, double duration) const noexcept;
  void draw(SDL_Renderer* renderer, const SeekBarState& state) const;

 private:
  float place(double seconds, double duration) const noexcept;
  void fill(SDL_Renderer* renderer, float from, float to, SDL_Color color) const;

  SDL_Rect area_;
  SDL_FRect track_;
};

}  // namespace zerorun::app
