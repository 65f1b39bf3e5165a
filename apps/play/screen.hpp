// The content of the window: one picture, two, or their difference, with text on them.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "apps/play/picture.hpp"
#include "apps/play/playback.hpp"
#include "apps/play/text_painter.hpp"
#include "apps/play/view.hpp"

namespace zerorun::app {

enum class ScreenView { side, difference, first, second };

class Screen {
 public:
  Screen(Window& window, PlaySession& session, ScreenView view);

  /// Copies the current pictures.
  Status update(const Playback& playback);
  void draw(const std::string& osd, const std::string& message, const std::string& middle);
  void forget_textures();

  /// Comparing: side by side, difference, first, second, and again.
  void next_view() { view_ = static_cast<ScreenView>((static_cast<int>(view_) + 1) % 4); }
  int gain() const noexcept { return gain_; }
  void scale_gain(bool up);

  View& zoom() noexcept { return zoom_; }
  void zoom_at(SDL_FPoint point, double factor);
  /// The pixel under the mouse; empty if there is none.
  std::string probe(const Playback& playback) const;
  const TextPainter& text() const noexcept { return text_; }

 private:
  struct Part {
    PictureShape shape;
    SDL_FRect area{};
  };

  Part part(const PlayInput& input, bool is_second) const;
  Part part_under(SDL_FPoint point, bool& is_second) const;
  bool shows_first() const noexcept { return view_ != ScreenView::second; }
  bool shows_second() const noexcept {
    return view_ == ScreenView::second || view_ == ScreenView::side;
  }

  Window& window_;
  PlaySession& session_;
  ScreenView view_;
  int gain_ = 8;
  View zoom_;
  Picture first_, second_;
  bool has_second_ = false;
  Frame difference_;
  SDL_Point sizes_[2];
  TextPainter text_;
};

}  // namespace zerorun::app
