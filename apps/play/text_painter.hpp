// Text on the picture, in the system's monospaced font.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL_ttf.h>

#include <array>
#include <map>
#include <memory>
#include <string>

#include "apps/play/window.hpp"

namespace zerorun::app {

/// What is written; each keeps its text as a texture until the text changes.
enum class Label {
  osd,
  message,
  help,
  name_a,
  name_b,
  metrics,
  time,
  graph,
  graph_line,
  histogram
};
inline constexpr std::size_t kLabelCount = 10;

/// Text stands in `area`: at its left or top (-1), in its middle (0), at its right or bottom (1).
struct TextPlace {
  SDL_Rect area{};
  int across = -1, down = -1;
};

class TextPainter {
 public:
  /// Without a font nothing is drawn, and problem() says why.
  explicit TextPainter(SDL_Renderer* renderer);
  ~TextPainter();
  TextPainter(const TextPainter&) = delete;
  TextPainter& operator=(const TextPainter&) = delete;

  /// Chooses the size of the letters: readable at the system's `scale`, and larger in a large
  /// window.
  void resize(SDL_Point window, double scale);
  /// Lines end with "\n"; longer ones are broken, and letters shrink, so that the text stays in its
  /// area. Returns the box that was painted; it is empty if nothing was.
  SDL_Rect draw(Label label, const std::string& text, const TextPlace& place);
  void forget();                                   ///< call it if the renderer lost its textures
  int points() const noexcept { return points_; }  ///< size of the letters
  int margin() const noexcept { return std::max(4, points_ / 2); }
  const std::string& problem() const noexcept { return problem_; }

 private:
  struct FontRelease {
    void operator()(TTF_Font* font) const noexcept { TTF_CloseFont(font); }
  };
  struct Painted {
    std::string text;
    SdlPtr<SDL_Texture> texture;
    SDL_Point size{0, 0}, room{0, 0};
    int points = 0;  // that were asked for
  };

  TTF_Font* font(int points);
  SdlPtr<SDL_Surface> letters(const std::string& text, SDL_Point room);
  bool render(Painted& painted, const std::string& text, SDL_Point room);

  SDL_Renderer* renderer_;
  std::string font_path_, problem_;
  std::map<int, std::unique_ptr<TTF_Font, FontRelease>> fonts_;
  int points_ = 14;
  std::array<Painted, kLabelCount> labels_;
};

}  // namespace zerorun::app
