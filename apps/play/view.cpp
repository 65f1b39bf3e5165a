// Where in the window a picture is drawn.
// SPDX-License-Identifier: MIT
#include "apps/play/view.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zerorun::app {
namespace {

/// Size after pixel aspect and rotation, at one window pixel per line of the picture.
SDL_FPoint shown_size(const PictureShape& shape, bool with_aspect) {
  double width = shape.width, height = shape.height;
  if (with_aspect && shape.pixel_aspect > 0) width *= shape.pixel_aspect;
  if (shape.rotation_degrees % 180 != 0) std::swap(width, height);
  return {static_cast<float>(width), static_cast<float>(height)};
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
  switch (placement.rotation_degrees) {
    case 90:
      x = down;
      y = 1 - across;
      break;
    case 180:
      x = 1 - across;
      y = 1 - down;
      break;
    case 270:
      x = 1 - down;
      y = across;
      break;
    default:
      break;
  }
  if (placement.mirrored) x = 1 - x;
  return SDL_Point{std::clamp(static_cast<int>(x * shape.width), 0, shape.width - 1),
                   std::clamp(static_cast<int>(y * shape.height), 0, shape.height - 1)};
}

}  // namespace zerorun::app
