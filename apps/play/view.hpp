// Where on the window a picture is drawn: fitted, or zoomed and moved; and back to its pixels.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <optional>

namespace zerorun::app {

/// A picture as it lies on the window.
struct Placement {
  SDL_FRect box{};  ///< after the turn
  int rotation_degrees = 0;
};

/// What a picture is before it is placed.
struct PictureShape {
  int width = 1, height = 1;
  double pixel_aspect = 1.0;  ///< width of a pixel over its height
  int rotation_degrees = 0;
};

class View {
 public:
  bool is_zoomed() const noexcept { return scale_ > 0; }
  /// At least 1:1: pixels are to be seen as such.
  bool is_exact() const noexcept { return scale_ >= 1; }

  void toggle_actual_size();
  /// Around a point of the window, of which the picture takes `area`.
  void zoom_at(SDL_FPoint point, double factor, const PictureShape& shape, const SDL_FRect& area);
  void move(SDL_FPoint by);

  Placement place(const PictureShape& shape, const SDL_FRect& area) const;

 private:
  double scale_ = 0;         // window pixels per picture pixel; 0 = fitted
  SDL_FPoint offset_{0, 0};  // of the picture's middle from the area's
};

/// The pixel of the picture under a point of the window.
std::optional<SDL_Point> pixel_at(const PictureShape& shape, const Placement& placement,
                                  SDL_FPoint point);

}  // namespace zerorun::app
