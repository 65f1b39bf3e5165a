// What lies over the pictures: texts, the bar, the graph and the histogram, each in its place.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "apps/play/frame_graph.hpp"
#include "apps/play/histogram.hpp"
#include "apps/play/seek_bar.hpp"
#include "apps/play/text_painter.hpp"

namespace zerorun::app {

/// Empty texts and null pointers are not drawn.
struct OverlayContent {
  std::string osd, message, help;
  std::string name_a, name_b;  ///< of the pictures that are compared
  bool side_by_side = false;   ///< `name_b` stands over the right half
  std::string metrics;         ///< how far A and B are apart
  std::optional<SeekBarState> bar;
  const FrameGraph* graph = nullptr;
  const Histogram* histogram = nullptr;
};

class Overlay {
 public:
  explicit Overlay(Window& window) : window_(window), text_(window.renderer()) {}

  void draw(const OverlayContent& content);
  /// Where the bar is, or would be.
  SeekBar bar(double duration);
  void forget() { text_.forget(); }
  const TextPainter& text() const noexcept { return text_; }

 private:
  void draw_names(const OverlayContent& content);
  void draw_bar(const SeekBarState& state);
  void draw_panels(const OverlayContent& content);
  SDL_Point panel_size() const;

  Window& window_;
  TextPainter text_;
  SDL_Rect free_{};  // of the window: without the bar and the names
};

}  // namespace zerorun::app
