// SPDX-License-Identifier: MIT
#include "apps/play/window.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "apps/common/failure.hpp"
#include "apps/common/text.hpp"

namespace zerorun::app {
namespace {

constexpr double kUsualDpi = 96.0, kLargestScale = 8.0;

/// A positive number; 0 for anything else.
double positive(const char* text) {
  const auto value = parse_number<double>(text == nullptr ? "" : text);
  return value && std::isfinite(*value) && *value > 0 ? *value : 0;
}

/// Device pixels for each unit of the window's size, which Wayland and macOS scale.
double density(SDL_Window* window, SDL_Renderer* renderer) {
  int units = 0, pixels = 0, height = 0;
  SDL_GetWindowSize(window, &units, &height);
  if (SDL_GetRendererOutputSize(renderer, &pixels, &height) != 0 || units <= 0) return 1;
  return static_cast<double>(pixels) / units;
}

/// Pixels of the window for each pixel of an ordinary screen (96 dots an inch), 1 to 8: what the
/// display server, the desktop's GDK_SCALE or QT_SCALE_FACTOR, or SDL says of the screen.
double display_scale(SDL_Window* window, SDL_Renderer* renderer) {
  const double by_server = density(window, renderer);
  if (by_server > 1) return std::min(by_server, kLargestScale);
  double scale =
      std::max(positive(std::getenv("GDK_SCALE")), positive(std::getenv("QT_SCALE_FACTOR")));
  float dpi = 0;
  const int display = SDL_GetWindowDisplayIndex(window);
  if (scale == 0 && SDL_GetDisplayDPI(display, &dpi, nullptr, nullptr) == 0)
    scale = static_cast<double>(dpi) / kUsualDpi;
  return std::clamp(scale, 1.0, kLargestScale);
}

constexpr const char* kInstead = "; --no-window decodes without one";

/// SDL's own message would name its drivers.
constexpr const char* kNoDisplay =
    "there is no display (DISPLAY and WAYLAND_DISPLAY name none that answers)";

[[noreturn]] void no_window(const std::string& why) {
  fail(Exit::device, "no window can be opened: " + why + kInstead);
}

/// Drivers without a screen, which SDL uses if it finds no other.
bool is_invisible(std::string_view driver) {
  return driver == "offscreen" || driver == "dummy" || driver == "evdev";
}

/// The size of the picture, reduced to fit on the screen.
SDL_Point fitting_size(int width, int height) {
  SDL_Rect screen{0, 0, 1280, 720};
  SDL_GetDisplayUsableBounds(0, &screen);
  constexpr double kShare = 0.9;  // the rest is for frames and bars of the desktop
  const double scale = std::min({1.0, kShare * screen.w / width, kShare * screen.h / height});
  constexpr int kLeastWidth = 480, kLeastHeight = 270;  // the information must fit
  return {std::max(static_cast<int>(width * scale + 0.5), std::min(kLeastWidth, screen.w)),
          std::max(static_cast<int>(height * scale + 0.5), std::min(kLeastHeight, screen.h))};
}

}  // namespace

SdlVideo::SdlVideo() {
  SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");  // the program has its own
  SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "0");
  SDL_SetHint(SDL_HINT_APP_NAME, "zerorun");
  // Without this folder Wayland cannot work, and its library would say so on stderr.
  if (std::getenv("XDG_RUNTIME_DIR") == nullptr) SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11,kmsdrm");
  if (SDL_Init(SDL_INIT_VIDEO) != 0) no_window(kNoDisplay);
  const char* driver = SDL_GetCurrentVideoDriver();
  const bool is_asked = std::getenv("SDL_VIDEODRIVER") != nullptr;
  if (is_asked || driver == nullptr || !is_invisible(driver)) return;
  SDL_Quit();
  no_window(kNoDisplay);
}

Window::Window(const std::string& title, int width, int height, bool full_screen) {
  const SDL_Point size = fitting_size(width, height);
  // JPEG is full range; SDL assumes limited range by default.
  SDL_SetYUVConversionMode(SDL_YUV_CONVERSION_JPEG);
  // Hidden at first, because SDL may replace the window when it makes the renderer.
  const Uint32 flags = SDL_WINDOW_HIDDEN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI |
                       (full_screen ? Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP} : 0u);
  window_.reset(SDL_CreateWindow(title.c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                                 size.x, size.y, flags));
  if (!window_) no_window(SDL_GetError());
  renderer_.reset(SDL_CreateRenderer(window_.get(), -1, SDL_RENDERER_PRESENTVSYNC));
  if (!renderer_) renderer_.reset(SDL_CreateRenderer(window_.get(), -1, SDL_RENDERER_SOFTWARE));
  if (!renderer_) no_window(SDL_GetError());
  SDL_SetRenderDrawBlendMode(renderer_.get(), SDL_BLENDMODE_BLEND);
  SDL_ShowWindow(window_.get());
  SDL_StartTextInput();
  update_scale();
}

void Window::update_scale() { scale_ = display_scale(window_.get(), renderer_.get()); }

SDL_Point Window::size() const {
  SDL_Point size{1, 1};
  SDL_GetRendererOutputSize(renderer_.get(), &size.x, &size.y);
  return size;
}

SDL_FPoint Window::mouse() const {
  int x = 0, y = 0, window_width = 1, window_height = 1;
  SDL_GetMouseState(&x, &y);
  SDL_GetWindowSize(window_.get(), &window_width, &window_height);
  const SDL_Point pixels = size();
  return {static_cast<float>(x) * static_cast<float>(pixels.x) / static_cast<float>(window_width),
          static_cast<float>(y) * static_cast<float>(pixels.y) / static_cast<float>(window_height)};
}

void Window::toggle_full_screen() {
  const bool is_full = (SDL_GetWindowFlags(window_.get()) & SDL_WINDOW_FULLSCREEN_DESKTOP) != 0;
  SDL_SetWindowFullscreen(window_.get(), is_full ? 0u : Uint32{SDL_WINDOW_FULLSCREEN_DESKTOP});
}

}  // namespace zerorun::app
