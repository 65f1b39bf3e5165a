// Text on the picture, in the system's monospaced font.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL_ttf.h>

#include <array>
#include <memory>
#include <string>

#include "apps/play/window.hpp"

namespace zerorun::app {

enum class Corner { top_left, bottom_left, middle };
inline constexpr std::size_t kCornerCount = 3;

/// Each corner keeps its text as a texture until the text changes.
class TextPainter {
 public:
  /// Without a font nothing is drawn, and problem() says why.
  explicit TextPainter(SDL_Renderer* renderer);
  ~TextPainter();
  TextPainter(const TextPainter&) = delete;
  TextPainter& operator=(const TextPainter&) = delete;

  /// Lines end with "\n". The size of the letters follows the height of the window.
  void draw(Corner corner, const std::string& text, SDL_Point window);
  void forget();  ///< call it if the renderer lost its textures
  const std::string& problem() const noexcept { return problem_; }

 private:
  struct FontRelease {
    void operator()(TTF_Font* font) const noexcept { TTF_CloseFont(font); }
  };
  struct Label {
    std::string text;
    SdlPtr<SDL_Texture> texture;
    SDL_Point size{0, 0};
  };

  void set_size(SDL_Point window);
  bool render(Label& label, const std::string& text);

  SDL_Renderer* renderer_;
  std::string font_path_, problem_;
  std::unique_ptr<TTF_Font, FontRelease> font_;
  int points_ = 0;
  std::array<Label, kCornerCount> labels_;
};

}  // namespace zerorun::app
