// Text on the picture, in the system's monospaced font.
// SPDX-License-Identifier: MIT
#include "apps/play/text_painter.hpp"

#include <fontconfig/fontconfig.h>

#include <algorithm>

namespace zerorun::app {
namespace {

constexpr int kMargin = 8;  // between the text, its background and the border

/// The path of the system's monospaced font; empty if there is none.
std::string monospaced_font() {
  FcPattern* pattern = FcNameParse(reinterpret_cast<const FcChar8*>("monospace:scalable=true"));
  if (pattern == nullptr) return {};
  FcConfigSubstitute(nullptr, pattern, FcMatchPattern);
  FcDefaultSubstitute(pattern);
  FcResult result = FcResultNoMatch;
  FcPattern* match = FcFontMatch(nullptr, pattern, &result);
  std::string path;
  FcChar8* file = nullptr;
  if (match != nullptr && FcPatternGetString(match, FC_FILE, 0, &file) == FcResultMatch)
    path = reinterpret_cast<const char*>(file);
  if (match != nullptr) FcPatternDestroy(match);
  FcPatternDestroy(pattern);
  return path;
}

}  // namespace

TextPainter::TextPainter(SDL_Renderer* renderer)
    : renderer_(renderer), font_path_(monospaced_font()) {
  if (TTF_Init() != 0) problem_ = TTF_GetError();
  if (font_path_.empty()) problem_ = "fontconfig knows no font (install fonts-dejavu-core)";
}

TextPainter::~TextPainter() {
  font_.reset();
  labels_ = {};
  if (TTF_WasInit() != 0) TTF_Quit();
}

void TextPainter::forget() { labels_ = {}; }

void TextPainter::set_size(SDL_Point window) {
  // Sixty characters must fit into the width, and the lines of the help into the height.
  const int points = std::clamp(std::min(window.y / 36, window.x / 56), 8, 40);
  if (points == points_ || !problem_.empty()) return;
  points_ = points;
  forget();
  font_.reset(TTF_OpenFont(font_path_.c_str(), points));
  if (!font_) problem_ = TTF_GetError();
}

bool TextPainter::render(Label& label, const std::string& text) {
  if (label.texture && label.text == text) return true;
  constexpr SDL_Color kWhite{255, 255, 255, 255};
  const SdlPtr<SDL_Surface> surface(
      TTF_RenderUTF8_Blended_Wrapped(font_.get(), text.c_str(), kWhite, 0));
  if (!surface) return false;
  label.texture.reset(SDL_CreateTextureFromSurface(renderer_, surface.get()));
  label.size = {surface->w, surface->h};
  label.text = text;
  return label.texture != nullptr;
}

void TextPainter::draw(Corner corner, const std::string& text, SDL_Point window) {
  set_size(window);
  if (!font_ || text.empty()) return;
  Label& label = labels_[static_cast<std::size_t>(corner)];
  if (!render(label, text)) return;
  SDL_Rect box{kMargin, kMargin, label.size.x + 2 * kMargin, label.size.y + 2 * kMargin};
  if (corner == Corner::bottom_left) box.y = window.y - box.h - kMargin;
  if (corner == Corner::middle) {
    box.x = std::max(0, (window.x - box.w) / 2);
    box.y = std::max(0, (window.y - box.h) / 2);
  }
  SDL_SetRenderDrawColor(renderer_, 0, 0, 0, 170);
  SDL_RenderFillRect(renderer_, &box);
  const SDL_Rect to{box.x + kMargin, box.y + kMargin, label.size.x, label.size.y};
  SDL_RenderCopy(renderer_, label.texture.get(), nullptr, &to);
}

}  // namespace zerorun::app
