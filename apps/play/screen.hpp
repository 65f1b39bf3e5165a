// The content of the window: one picture, two, or their difference, with text on them.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <optional>
#include <string>
#include <vector>

#include "apps/play/overlay.hpp"
#include "apps/play/playback.hpp"
#include "apps/play/probe.hpp"
#include "apps/play/window.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

/// Where a picture is drawn in the window.
struct Placement {
  SDL_FRect box{};  ///< after rotation
  int rotation_degrees = 0;
  bool mirrored = false;  ///< left to right, before it is turned
};

/// The shape of a picture before it is placed.
struct PictureShape {
  int width = 1, height = 1;
  double pixel_aspect = 1.0;  ///< width of a pixel over its height
  int rotation_degrees = 0;
  bool mirrored = false;  ///< left to right, before it is turned
};

class View {
 public:
  bool is_zoomed() const noexcept { return scale_ > 0; }
  /// At least 1:1: enlarged pixels are not smoothed.
  bool is_exact() const noexcept { return scale_ >= 1; }

  void toggle_actual_size();
  /// Zooms around a point of the window; the picture has `area` of it.
  void zoom_at(SDL_FPoint point, double factor, const PictureShape& shape, const SDL_FRect& area);
  void move(SDL_FPoint by);

  /// Window pixels for a pixel of the picture, as `shape` is placed in `area`.
  double factor(const PictureShape& shape, const SDL_FRect& area) const;
  Placement place(const PictureShape& shape, const SDL_FRect& area) const;

 private:
  double scale_ = 0;         // window pixels per picture pixel; 0 = fitted
  SDL_FPoint offset_{0, 0};  // of the picture's middle from the area's
};

/// The pixel of the picture under a point of the window; empty if there is none.
std::optional<SDL_Point> pixel_at(const PictureShape& shape, const Placement& placement,
                                  SDL_FPoint point);

class Picture {
 public:
  /// `is_blended`: the fourth byte of bgrx32 is the alpha of a picture that lies over another.
  explicit Picture(SDL_Renderer* renderer, bool is_blended = false);

  /// Copies a frame in yuv420p, gray8 or bgrx32. `is_exact`: enlarged pixels are not smoothed.
  /// Errors: device_failure with SDL's message.
  Status update(const ConstFrameView& frame, bool is_exact);
  void draw(const Placement& placement);
  /// Call it if the renderer lost its textures; the next update() makes new ones.
  void forget() { tiles_.clear(); }

 private:
  struct Tile {
    SdlPtr<SDL_Texture> texture;
    SDL_Rect area;  // of the picture
  };

  Status make_tiles(const ConstFrameView& frame);
  int upload(Tile& tile, const ConstFrameView& frame);

  SDL_Renderer* renderer_;
  bool is_blended_;
  int max_size_;
  std::vector<Tile> tiles_;
  PixelFormat format_ = PixelFormat::gray8;
  int width_ = 0, height_ = 0;
  std::vector<std::uint8_t> no_chroma_;  // for grey frames
};

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
  /// 1, 2, 4 or 8: a picture at 1 / this is as large as the window shows it.
  int decoding_scale() const;

  View& zoom() noexcept { return zoom_; }
  void zoom_at(SDL_FPoint point, double factor);
  /// The pixel under the mouse; empty if there is none.
  std::string probe(const Playback& playback);
  /// Histogram, and clipped samples in false colours. Call update() afterwards.
  void toggle_clipping() { with_clipping_ = !with_clipping_; }
  Overlay& overlay() noexcept { return overlay_; }

 private:
  /// A picture of the two that are compared, or the only one.
  struct Side {
    Side(SDL_Renderer* renderer, const PlayInput* shown);
    const PlayInput* input;  ///< null for the second one without --compare
    Picture picture, mask;
    Histogram histogram;
    SDL_Point size{};
    bool has_frame = false;
  };
  struct Part {
    PictureShape shape;
    SDL_FRect area{};
  };

  void name_parts(OverlayContent& content) const;
  Part part(const Side& side) const;
  const Side& side_under(SDL_FPoint point) const;
  const PlayFrame* frame_of(const Side& side, const Playback& playback) const;
  bool is_second(const Side& side) const noexcept { return &side == &sides_[1]; }
  bool shows(const Side& side) const noexcept {
    return is_second(side) ? view_ == ScreenView::second || view_ == ScreenView::side
                           : view_ != ScreenView::second;
  }

  Window& window_;
  ScreenView view_;
  int gain_ = 8;
  View zoom_;
  bool with_clipping_ = false;
  Side sides_[2];
  Frame mask_, difference_;
  Probe probes_[2];
  Overlay overlay_;
};

}  // namespace zerorun::app
