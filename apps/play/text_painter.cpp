// Text on the picture, in the system's monospaced font.
// SPDX-License-Identifier: MIT
#include "apps/play/text_painter.hpp"

#include <fontconfig/fontconfig.h>

#include <algorithm>

namespace zerorun::app {
namespace {

/// Sizes of letters on an ordinary screen: that of a desktop's text, and the largest one.
constexpr double kReadable = 13.0, kLargest = 40.0;
constexpr int kLeastPoints = 7;  ///< smaller letters cannot be told apart

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
  fonts_.clear();
  labels_ = {};
  if (TTF_WasInit() != 0) TTF_Quit();
}

void TextPainter::forget() { labels_ = {}; }

void TextPainter::resize(SDL_Point window, double scale) {
  // A share of the window as players do, but never less than a desktop's text.
  const double by_window = std::min(window.y / 40.0, window.x / 64.0);
  points_ = static_cast<int>(std::clamp(by_window, kReadable * scale, kLargest * scale));
}

TTF_Font* TextPainter::font(int points) {
  if (!problem_.empty()) return nullptr;
  constexpr std::size_t kKept = 8;
  if (fonts_.size() > kKept && !fonts_.contains(points)) fonts_.clear();
  auto& font = fonts_[points];
  if (!font) font.reset(TTF_OpenFont(font_path_.c_str(), points));
  if (!font) problem_ = TTF_GetError();
  return font.get();
}

/// The width of the longest line. SDL_ttf makes a text as wide as the width at which it breaks
/// lines.
int longest_line(TTF_Font* font, const std::string& text) {
  int longest = 1;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    int width = 0;
    TTF_SizeUTF8(font, text.substr(from, end - from).c_str(), &width, nullptr);
    longest = std::max(longest, width);
    from = end + 1;
  }
  return longest;
}

/// The text as large as it may be in this room.
SdlPtr<SDL_Surface> TextPainter::letters(const std::string& text, SDL_Point room) {
  constexpr SDL_Color kWhite{255, 255, 255, 255};
  SdlPtr<SDL_Surface> surface;
  for (int points = points_; points >= kLeastPoints; --points) {
    TTF_Font* const face = font(points);
    if (face == nullptr) return nullptr;
    // SDL_ttf breaks a line that fits to the pixel; the room of a letter more keeps it whole.
    const int width = std::min(longest_line(face, text) + points, std::max(room.x, 1));
    surface.reset(
        TTF_RenderUTF8_Blended_Wrapped(face, text.c_str(), kWhite, static_cast<Uint32>(width)));
    if (surface && surface->w <= room.x && surface->h <= room.y) break;
  }
  return surface;
}

bool TextPainter::render(Painted& painted, const std::string& text, SDL_Point room) {
  if (painted.texture && painted.text == text && painted.points == points_ &&
      painted.room.x == room.x && painted.room.y == room.y)
    return true;
  const SdlPtr<SDL_Surface> surface = letters(text, room);
  if (!surface) return false;
  painted.texture.reset(SDL_CreateTextureFromSurface(renderer_, surface.get()));
  painted.size = {surface->w, surface->h};
  painted.text = text;
  painted.room = room;
  painted.points = points_;
  return painted.texture != nullptr;
}

SDL_Rect TextPainter::draw(Label label, const std::string& text, const TextPlace& place) {
  const SDL_Rect& area = place.area;
  const int pad = margin() / 2;
  const SDL_Point room{area.w - 4 * pad, area.h - 4 * pad};
  if (text.empty() || room.x <= 0 || room.y <= 0) return {};
  Painted& painted = labels_[static_cast<std::size_t>(label)];
  if (!render(painted, text, room)) return {};
  SDL_Rect box{0, 0, painted.size.x + 2 * pad, painted.size.y + 2 * pad};
  const auto along = [pad](int from, int length, int size, int where) {
    if (where < 0) return from + pad;
    return where > 0 ? from + length - size - pad : from + (length - size) / 2;
  };
  box.x = along(area.x, area.w, box.w, place.across);
  box.y = along(area.y, area.h, box.h, place.down);
  SDL_SetRenderDrawColor(renderer_, 0, 0, 0, 170);
  SDL_RenderFillRect(renderer_, &box);
  const SDL_Rect to{box.x + pad, box.y + pad, painted.size.x, painted.size.y};
  SDL_RenderCopy(renderer_, painted.texture.get(), nullptr, &to);
  return box;
}

}  // namespace zerorun::app
