// The window of `zerorun play`, by SDL.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>
#include <SDL_ttf.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "apps/common/figures.hpp"
#include "apps/common/process.hpp"

namespace zerorun::app {

struct SdlRelease {
  void operator()(SDL_Window* p) const noexcept { SDL_DestroyWindow(p); }
  void operator()(SDL_Renderer* p) const noexcept { SDL_DestroyRenderer(p); }
  void operator()(SDL_Texture* p) const noexcept { SDL_DestroyTexture(p); }
  void operator()(SDL_Surface* p) const noexcept { SDL_FreeSurface(p); }
  void operator()(SDL_AudioStream* p) const noexcept { SDL_FreeAudioStream(p); }
  void operator()(TTF_Font* p) const noexcept { TTF_CloseFont(p); }
};
template <typename T>
using SdlPtr = std::unique_ptr<T, SdlRelease>;

[[noreturn]] inline void fail_without_window(const std::string& why) {
  fail(Exit::device, "no window can be opened: " + why + "; --no-window decodes without one");
}

/// Initialises SDL's video while it exists. Ends the command (exit 5) if there is no display.
class SdlVideo {
 public:
  SdlVideo() {
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // the program has its own
    SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "0");
    SDL_SetHint(SDL_HINT_APP_NAME, "zerorun");
    // Without this folder Wayland cannot work, and its library would say so on stderr.
    if (std::getenv("XDG_RUNTIME_DIR") == nullptr) SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11,kmsdrm");
    if (SDL_Init(SDL_INIT_VIDEO) != 0) fail_without_window(kNoDisplay);
    const char* driver = SDL_GetCurrentVideoDriver();
    if (std::getenv("SDL_VIDEODRIVER") != nullptr || driver == nullptr) return;
    // Drivers without a screen, which SDL uses if it finds no other.
    for (const std::string_view invisible : {"offscreen", "dummy", "evdev"})
      if (driver == invisible) {
        SDL_Quit();
        fail_without_window(kNoDisplay);
      }
  }
  ~SdlVideo() { SDL_Quit(); }
  SdlVideo(const SdlVideo&) = delete;
  SdlVideo& operator=(const SdlVideo&) = delete;

 private:
  /// SDL's own message would name its drivers.
  static constexpr const char* kNoDisplay =
      "there is no display (DISPLAY and WAYLAND_DISPLAY name none that answers)";
};

class Window {
 public:
  /// A window for a picture of this size, smaller than the screen. Ends the command (exit 5) on
  /// errors.
  Window(const std::string& title, int width, int height, bool full_screen) {
    const SDL_Point size = fitting_size(width, height);
    // JPEG is full range; SDL assumes limited range by default.
    SDL_SetYUVConversionMode(SDL_YUV_CONVERSION_JPEG);
    // Hidden at first, because SDL may replace the window when it makes the renderer.
    const Uint32 flags = SDL_WINDOW_HIDDEN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI |
                         (full_screen ? Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP} : 0u);
    window_.reset(SDL_CreateWindow(title.c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                   size.x, size.y, flags));
    if (!window_) fail_without_window(SDL_GetError());
    renderer_.reset(SDL_CreateRenderer(window_.get(), -1, SDL_RENDERER_PRESENTVSYNC));
    if (!renderer_) renderer_.reset(SDL_CreateRenderer(window_.get(), -1, SDL_RENDERER_SOFTWARE));
    if (!renderer_) fail_without_window(SDL_GetError());
    SDL_SetRenderDrawBlendMode(renderer_.get(), SDL_BLENDMODE_BLEND);
    SDL_ShowWindow(window_.get());
    SDL_StartTextInput();
    update_scale();
  }

  SDL_Renderer* renderer() const noexcept { return renderer_.get(); }
  /// Of the drawing area, in pixels.
  SDL_Point size() const {
    SDL_Point size{1, 1};
    SDL_GetRendererOutputSize(renderer_.get(), &size.x, &size.y);
    return size;
  }
  /// In the same coordinates.
  SDL_FPoint mouse() const {
    int x = 0, y = 0, window_width = 1, window_height = 1;
    SDL_GetMouseState(&x, &y);
    SDL_GetWindowSize(window_.get(), &window_width, &window_height);
    const SDL_Point pixels = size();
    return {
        static_cast<float>(x) * static_cast<float>(pixels.x) / static_cast<float>(window_width),
        static_cast<float>(y) * static_cast<float>(pixels.y) / static_cast<float>(window_height)};
  }
  /// Pixels of the window for each pixel of an ordinary screen (96 dots an inch), 1 to 8.
  double scale() const noexcept { return scale_; }
  /// Asks again, after the window came to another screen: the display server, the desktop's
  /// GDK_SCALE or QT_SCALE_FACTOR, or SDL.
  void update_scale() {
    constexpr double kUsualDpi = 96.0, kLargestScale = 8.0;
    int units = 0, height = 0;  // of the window's size, which Wayland and macOS scale
    SDL_GetWindowSize(window_.get(), &units, &height);
    scale_ = static_cast<double>(size().x) / std::max(units, 1);
    if (scale_ <= 1)
      scale_ =
          std::max(positive(std::getenv("GDK_SCALE")), positive(std::getenv("QT_SCALE_FACTOR")));
    float dpi = 0;
    const int display = SDL_GetWindowDisplayIndex(window_.get());
    if (scale_ == 0 && SDL_GetDisplayDPI(display, &dpi, nullptr, nullptr) == 0)
      scale_ = static_cast<double>(dpi) / kUsualDpi;
    scale_ = std::clamp(scale_, 1.0, kLargestScale);
  }
  void set_title(const std::string& title) { SDL_SetWindowTitle(window_.get(), title.c_str()); }
  void toggle_full_screen() {
    const bool is_full = (SDL_GetWindowFlags(window_.get()) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
    SDL_SetWindowFullscreen(window_.get(), is_full ? 0u : Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP});
  }

 private:
  /// A positive number; 0 for anything else.
  static double positive(const char* text) {
    const auto value = parse_number<double>(text == nullptr ? "" : text);
    return value && std::isfinite(*value) && *value > 0 ? *value : 0;
  }

  /// The size of the picture, reduced to fit on the screen.
  static SDL_Point fitting_size(int width, int height) {
    SDL_Rect screen{0, 0, 1280, 720};
    SDL_GetDisplayUsableBounds(0, &screen);
    constexpr double kShare = 0.9;  // the rest is for frames and bars of the desktop
    const double scale = std::min({1.0, kShare * screen.w / width, kShare * screen.h / height});
    constexpr int kLeastWidth = 480, kLeastHeight = 270;  // the information must fit
    return {std::max(static_cast<int>(width * scale + 0.5), std::min(kLeastWidth, screen.w)),
            std::max(static_cast<int>(height * scale + 0.5), std::min(kLeastHeight, screen.h))};
  }

  SdlPtr<SDL_Window> window_;
  SdlPtr<SDL_Renderer> renderer_;
  double scale_ = 1.0;
};

}  // namespace zerorun::app
