// How much larger than usual the system wants text to be.
// SPDX-License-Identifier: MIT
#include "apps/play/display_scale.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "apps/play/x_server.hpp"

namespace zerorun::app {
namespace {

constexpr double kUsualDpi = 96.0, kLargestScale = 8.0;

/// A positive decimal number; 0 for anything else.
double positive(const char* text) {
  if (text == nullptr) return 0;
  const std::string_view word(text);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && std::isfinite(value) && value > 0 ? value : 0;
}

/// Device pixels for each unit of the window's size, which Wayland and macOS scale.
double density(SDL_Window* window, SDL_Renderer* renderer) {
  int units = 0, pixels = 0, height = 0;
  SDL_GetWindowSize(window, &units, &height);
  if (SDL_GetRendererOutputSize(renderer, &pixels, &height) != 0 || units <= 0) return 1;
  return static_cast<double>(pixels) / units;
}

}  // namespace

double display_scale(SDL_Window* window, SDL_Renderer* renderer) {
  const double by_server = density(window, renderer);
  if (by_server > 1) return std::min(by_server, kLargestScale);
  double scale =
      std::max(positive(std::getenv("GDK_SCALE")), positive(std::getenv("QT_SCALE_FACTOR")));
  // SDL 2 does not read it. Once: while a window is resized this comes often.
  static const double dpi = positive(x_resource("Xft", "dpi").c_str());
  if (scale == 0) scale = dpi / kUsualDpi;
  return std::clamp(scale, 1.0, kLargestScale);
}

}  // namespace zerorun::app
