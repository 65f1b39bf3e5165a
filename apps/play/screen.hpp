// The content of the window: one picture, two, or their difference, with text on them.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "apps/play/overlay.hpp"
#include "apps/play/picture.hpp"
#include "apps/play/playback.hpp"
#include "apps/play/probe.hpp"

namespace zerorun::app {

enum class ScreenView { side, difference, first, second };

class Screen {
 public:
  Screen(Window& window, PlaySession& session, ScreenView view);

  /// Copies the current pictures.
  Status update(const Playback& playback);
  void draw(OverlayContent content);
  void forget_textures();

  /// Comparing: side by side, difference, first, second, and again.
  void next_view() { view_ = static_cast<ScreenView>((static_cast<int>(view_) + 1) % 4); }
  int gain() const noexcept { return gain_; }
  void scale_gain(bool up);

  View& zoom() noexcept { return zoom_; }
  void zoom_at(SDL_FPoint point, double factor);
  /// The pixel under the mouse; empty if there is none.
  std::string probe(const Playback& playback);
  /// Histogram, and clipped samples in false colours. Call update() afterwards.
  void toggle_clipping() { with_clipping_ = !with_clipping_; }
  Overlay& overlay() noexcept { return overlay_; }

 private:
  struct Part {
    PictureShape shape;
    SDL_FRect area{};
  };

  Status update_clipping(const Playback& playback);
  void name_parts(OverlayContent& content) const;
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
  Picture first_, second_, first_mask_, second_mask_;
  bool with_clipping_ = false;
  Histogram histogram_, second_histogram_;
  Frame mask_;
  Probe probe_, second_probe_;
  bool has_second_ = false;
  Frame difference_;
  SDL_Point sizes_[2];
  Overlay overlay_;
};

}  // namespace zerorun::app
