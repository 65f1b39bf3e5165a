// SPDX-License-Identifier: MIT
#include "apps/play/window.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "apps/common/failure.hpp"

namespace zerorun::app {
namespace {

namespace fs = std::filesystem;

/// The XDG specification says that a relative path is to be ignored.
fs::path absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  const fs::path path(value == nullptr ? "" : value);
  return path.is_absolute() ? path : fs::path();
}

bool is_sensible(SDL_Point size) {
  constexpr int kLeast = 64, kMost = 32767;  // X11 has no larger windows
  return std::min(size.x, size.y) >= kLeast && std::max(size.x, size.y) <= kMost;
}

/// "zerorun/window" in the folder for state of the XDG base directories; empty if there is none.
std::string window_state_file() {
  fs::path folder = absolute_variable("XDG_STATE_HOME");
  if (folder.empty()) {
    folder = absolute_variable("HOME");
    if (folder.empty()) return {};
    folder = folder / ".local" / "state";
  }
  return folder / "zerorun" / "window";
}

/// Nullopt if the file is missing, cannot be read or holds no size.
std::optional<SDL_Point> remembered_window_size() {
  std::ifstream file(window_state_file());
  SDL_Point size{};
  if (!(file >> size.x >> size.y) || !is_sensible(size)) return std::nullopt;
  return size;
}

void remember_window_size(SDL_Point size) {
  const fs::path path = window_state_file();
  if (path.empty() || !is_sensible(size)) return;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  // A name of its own: two players may close at the same time.
  const fs::path part = path.string() + "." + std::to_string(getpid());
  {
    std::ofstream file(part);
    if (!(file << size.x << ' ' << size.y << '\n' << std::flush)) {
      file.close();
      fs::remove(part, error);
      return;
    }
  }
  fs::rename(part, path, error);
  if (error) fs::remove(part, error);
}

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

/// The size of the picture, reduced to fit on the screen; or as large as fits into the window that
/// the user chose last.
SDL_Point fitting_size(int width, int height) {
  SDL_Rect screen{0, 0, 1280, 720};
  SDL_GetDisplayUsableBounds(0, &screen);
  constexpr double kShare = 0.9;  // the rest is for frames and bars of the desktop
  double scale = std::min({1.0, kShare * screen.w / width, kShare * screen.h / height});
  if (const auto last = remembered_window_size())
    scale = std::min(1.0 * std::min(last->x, screen.w) / width,
                     1.0 * std::min(last->y, screen.h) / height);
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

void Window::was_resized() {
  constexpr Uint32 kOthers = SDL_WINDOW_FULLSCREEN_DESKTOP | SDL_WINDOW_MAXIMIZED;
  if ((SDL_GetWindowFlags(window_.get()) & kOthers) != 0) return;
  SDL_Point size{};
  SDL_GetWindowSize(window_.get(), &size.x, &size.y);
  chosen_size_ = size;
}

void Window::remember_size() const {
  if (chosen_size_) remember_window_size(*chosen_size_);
}

}  // namespace zerorun::app
