// How much larger than usual the system wants text to be.
// SPDX-License-Identifier: MIT
#include "apps/play/display_scale.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace zerorun::app {
namespace {

constexpr double kUsualDpi = 96.0, kLargest = 8.0;

/// A positive decimal number; 0 for anything else.
double positive(const char* text) {
  if (text == nullptr) return 0;
  const std::string_view word(text);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && std::isfinite(value) && value > 0 ? value : 0;
}

/// Xft.dpi, which desktops on X11 set for their own programs; 0 = not set. SDL 2 does not read it,
/// so libX11, which SDL has loaded, is asked on a connection of its own.
double x_resource_dpi() {
  const char* driver = SDL_GetCurrentVideoDriver();
  if (driver == nullptr || std::string_view(driver) != "x11") return 0;
  void* const library = SDL_LoadObject("libX11.so.6");
  if (library == nullptr) return 0;
  const auto open =
      reinterpret_cast<void* (*)(const char*)>(SDL_LoadFunction(library, "XOpenDisplay"));
  const auto read = reinterpret_cast<char* (*)(void*, const char*, const char*)>(
      SDL_LoadFunction(library, "XGetDefault"));
  const auto close = reinterpret_cast<int (*)(void*)>(SDL_LoadFunction(library, "XCloseDisplay"));
  void* const display = open && read && close ? open(nullptr) : nullptr;
  double dpi = 0;
  if (display != nullptr) {
    dpi = positive(read(display, "Xft", "dpi"));
    close(display);
  }
  SDL_UnloadObject(library);
  return dpi;
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
  if (by_server > 1) return std::min(by_server, kLargest);
  double scale =
      std::max(positive(std::getenv("GDK_SCALE")), positive(std::getenv("QT_SCALE_FACTOR")));
  static const double dpi = x_resource_dpi();  // once: while a window is resized this comes often
  if (scale == 0) scale = dpi / kUsualDpi;
  return std::clamp(scale, 1.0, kLargest);
}

}  // namespace zerorun::app
