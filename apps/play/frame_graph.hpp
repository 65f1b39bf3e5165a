// How long each of the last frames took, as a graph with the time of a frame at 60 frames/s.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <deque>
#include <string>

namespace zerorun::app {

class FrameGraph {
 public:
  static constexpr double kLineMs = 1000.0 / 60;  ///< 16.7 ms

  /// `decode_ms` of the frame; `interval_ms` since the frame before it was shown, 0 = not known.
  void add(double decode_ms, double interval_ms);
  void draw(SDL_Renderer* renderer, const SDL_Rect& area) const;
  /// "decode 4.2 ms, max 9.1; shown every 16.6 ms, max 33.4"
  std::string text() const;
  /// Where the line of kLineMs lies in `area`.
  int line_at(const SDL_Rect& area) const;

 private:
  struct Times {
    double decode_ms, interval_ms;
  };
  double top_ms() const;  // of the graph

  std::deque<Times> times_;
};

}  // namespace zerorun::app
