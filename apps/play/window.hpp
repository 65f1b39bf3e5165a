// The window of `zerorun play`, by SDL.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include <memory>
#include <string>

namespace zerorun::app {

struct SdlRelease {
  void operator()(SDL_Window* p) const noexcept { SDL_DestroyWindow(p); }
  void operator()(SDL_Renderer* p) const noexcept { SDL_DestroyRenderer(p); }
  void operator()(SDL_Texture* p) const noexcept { SDL_DestroyTexture(p); }
  void operator()(SDL_Surface* p) const noexcept { SDL_FreeSurface(p); }
  void operator()(SDL_AudioStream* p) const noexcept { SDL_FreeAudioStream(p); }
};
template <typename T>
using SdlPtr = std::unique_ptr<T, SdlRelease>;

/// Initialises SDL's video while it exists. Ends the command (exit 5) if there is no display.
class SdlVideo {
 public:
  SdlVideo();
  ~SdlVideo() { SDL_Quit(); }
  SdlVideo(const SdlVideo&) = delete;
  SdlVideo& operator=(const SdlVideo&) = delete;
};

class Window {
 public:
  /// A window for a picture of this size, smaller than the screen. Ends the command (exit 5) on
  /// errors.
  Window(const std::string& title, int width, int height, bool full_screen);

  SDL_Renderer* renderer() const noexcept { return renderer_.get(); }
  SDL_Point size() const;                           ///< of the drawing area, in pixels
  SDL_FPoint mouse() const;                         ///< in the same coordinates
  double scale() const noexcept { return scale_; }  ///< display_scale()
  /// Asks again, after the window came to another screen.
  void update_scale();
  void set_title(const std::string& title) { SDL_SetWindowTitle(window_.get(), title.c_str()); }
  void toggle_full_screen();

 private:
  SdlPtr<SDL_Window> window_;
  SdlPtr<SDL_Renderer> renderer_;
  double scale_ = 1.0;
};

}  // namespace zerorun::app
