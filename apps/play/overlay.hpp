// What lies over the pictures: texts, the bar, the graph and the histogram, each in its place.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>
#include <SDL_ttf.h>
#include <fmt/core.h>
#include <fontconfig/fontconfig.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>

#include "apps/play/window.hpp"
#include "codec/base/try.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app {

inline void fill(SDL_Renderer* renderer, SDL_Color c, const SDL_FRect& box) {
  SDL_SetRenderDrawColor(renderer, c.r, c.g, c.b, c.a);
  SDL_RenderFillRectF(renderer, &box);
}

inline void fill(SDL_Renderer* renderer, SDL_Color c, double x, double y, double w, double h) {
  fill(renderer, c, {float(x), float(y), float(w), float(h)});
}

/// What texts and graphs stand on.
inline void fill_back(SDL_Renderer* renderer, const SDL_Rect& area) {
  fill(renderer, {0, 0, 0, 170}, area.x, area.y, area.w, area.h);
}

/// Text stands in `area`: at its left or top (-1), in its middle (0), at its right or bottom (1).
struct TextPlace {
  SDL_Rect area{};
  int across = -1, down = -1;
};

class TextPainter {
 public:
  /// Without a font nothing is drawn, and problem() says why.
  explicit TextPainter(SDL_Renderer* renderer)
      : renderer_(renderer), font_path_(monospaced_font()) {
    if (TTF_Init() != 0) problem_ = TTF_GetError();
    if (font_path_.empty()) problem_ = "fontconfig knows no font (install fonts-dejavu-core)";
  }
  ~TextPainter() {
    font_.reset();
    painted_.clear();
    if (TTF_WasInit() != 0) TTF_Quit();
  }
  TextPainter(const TextPainter&) = delete;
  TextPainter& operator=(const TextPainter&) = delete;

  /// Chooses the size of the letters: readable at the system's `scale`, and larger in a large
  /// window.
  void resize(SDL_Point window, double scale) {
    // Sizes on an ordinary screen: that of a desktop's text, and the largest one.
    constexpr double kReadable = 13.0, kLargest = 40.0;
    // A share of the window as players do, but never less than a desktop's text.
    const double by_window = std::min(window.y / 40.0, window.x / 64.0);
    points_ = static_cast<int>(std::clamp(by_window, kReadable * scale, kLargest * scale));
  }
  /// Lines end with "\n"; longer ones are broken, and letters shrink, so that the text stays in its
  /// area. Returns the box that was painted; it is empty if nothing was.
  SDL_Rect draw(const std::string& text, const TextPlace& place) {
    const SDL_Rect& area = place.area;
    const int pad = std::max(2, points_ / 4);
    const SDL_Point room{area.w - 4 * pad, area.h - 4 * pad};
    if (text.empty() || room.x <= 0 || room.y <= 0) return {};
    SDL_Texture* const texture = painted(text, room);
    SDL_Point extent{};
    if (SDL_QueryTexture(texture, nullptr, nullptr, &extent.x, &extent.y) != 0) return {};
    SDL_Rect box{0, 0, extent.x + 2 * pad, extent.y + 2 * pad};
    const auto along = [pad](int from, int length, int size, int where) {
      if (where < 0) return from + pad;
      return where > 0 ? from + length - size - pad : from + (length - size) / 2;
    };
    box.x = along(area.x, area.w, box.w, place.across);
    box.y = along(area.y, area.h, box.h, place.down);
    fill_back(renderer_, box);
    const SDL_Rect to{box.x + pad, box.y + pad, extent.x, extent.y};
    SDL_RenderCopy(renderer_, texture, nullptr, &to);
    return box;
  }
  /// Call it if the renderer lost its textures.
  void forget() { painted_.clear(); }
  int points() const noexcept { return points_; }  ///< size of the letters
  const std::string& problem() const noexcept { return problem_; }

 private:
  /// The path of the system's monospaced font; empty if there is none.
  static std::string monospaced_font() {
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
  TTF_Font* font(int points) {
    if (!problem_.empty()) return nullptr;
    if (!font_) font_.reset(TTF_OpenFont(font_path_.c_str(), points));
    if (font_ && TTF_SetFontSize(font_.get(), points) == 0) return font_.get();
    problem_ = TTF_GetError();
    return nullptr;
  }
  /// The width of the longest line. SDL_ttf makes a text as wide as the width at which it breaks
  /// lines.
  static int longest_line(TTF_Font* font, const std::string& text) {
    int longest = 1;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      int width = 0;
      TTF_SizeUTF8(font, line.c_str(), &width, nullptr);
      longest = std::max(longest, width);
    }
    return longest;
  }
  /// The text as large as it may be in this room.
  SdlPtr<SDL_Surface> letters(const std::string& text, SDL_Point room) {
    constexpr SDL_Color kWhite{255, 255, 255, 255};
    constexpr int kLeastPoints = 7;  // smaller letters cannot be told apart
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
  /// The texture of a text, which is kept while others are not too many; null if it cannot be made.
  SDL_Texture* painted(const std::string& text, SDL_Point room) {
    constexpr std::size_t kKept = 32;
    if (painted_.size() > kKept) painted_.clear();
    SdlPtr<SDL_Texture>& found = painted_[{text, room.x, room.y, points_}];
    if (found) return found.get();
    if (const SdlPtr<SDL_Surface> surface = letters(text, room))
      found.reset(SDL_CreateTextureFromSurface(renderer_, surface.get()));
    return found.get();
  }

  SDL_Renderer* renderer_;
  std::string font_path_, problem_;
  SdlPtr<TTF_Font> font_;
  int points_ = 14;
  // By text, room and points.
  std::map<std::tuple<std::string, int, int, int>, SdlPtr<SDL_Texture>> painted_;
};

/// Times in seconds after the first frame.
struct SeekBarState {
  double at = 0, duration = 0;
  double decoded_until = 0;  ///< all frames from `at` to here wait to be shown
  std::optional<double> a, b;
};

/// Where the bar lies in a window; it does not keep any state.
class SeekBar {
 public:
  /// `unit` is the size of a letter. `text_width` is kept free for the time at the right.
  SeekBar(SDL_Point window, int unit, int text_width) {
    const int height = std::min(2 * unit + unit / 2, window.y);
    area_ = {0, window.y - height, window.x, height};
    const int width = std::max(window.x - text_width - 2 * unit, window.x / 3);
    const auto size = float(unit);
    track_ = {size, float(area_.y) + float(height) / 2 - size / 4, float(std::max(1, width - unit)),
              size / 2};
  }

  const SDL_Rect& area() const noexcept { return area_; }  ///< what reacts to the mouse
  SDL_Rect text_area() const noexcept {
    const int from = static_cast<int>(track_.x + track_.w);
    return {from, area_.y, area_.x + area_.w - from, area_.h};
  }
  bool contains(SDL_FPoint point) const noexcept {
    return point.y >= float(area_.y) && point.y < float(area_.y + area_.h);
  }
  /// The time that lies under a point of the window, also beside the bar.
  double time_at(float x, double duration) const noexcept {
    return duration * std::clamp(double((x - track_.x) / track_.w), 0.0, 1.0);
  }
  void draw(SDL_Renderer* renderer, const SeekBarState& state) const {
    constexpr SDL_Color kTrack{90, 90, 90, 255}, kAhead{170, 170, 170, 255},
        kPlayed{64, 150, 255, 255}, kMark{255, 200, 40, 255}, kKnob{255, 255, 255, 255};
    const float at = place(state.at, state.duration);
    const float ahead = place(state.decoded_until, state.duration);
    fill_back(renderer, area_);
    fill(renderer, kTrack, track_);
    fill(renderer, kAhead, {at, track_.y, std::max(ahead - at, 0.0F), track_.h});
    fill(renderer, kPlayed, {track_.x, track_.y, at - track_.x, track_.h});
    const float line = std::max(2.0F, track_.h / 4), top = track_.y - track_.h / 2;
    for (const auto& mark : {state.a, state.b})
      if (mark)
        fill(renderer, kMark, {place(*mark, state.duration) - line / 2, top, line, 2 * track_.h});
    fill(renderer, kKnob, {at - line, top, 2 * line, 2 * track_.h});
  }

 private:
  float place(double seconds, double duration) const noexcept {
    const double share = duration > 0 ? std::clamp(seconds / duration, 0.0, 1.0) : 0.0;
    return track_.x + float(share) * track_.w;
  }

  SDL_Rect area_;
  SDL_FRect track_;
};

class FrameGraph {
 public:
  static constexpr double kLineMs = 1000.0 / 60;  ///< 16.7 ms

  /// `decode_ms` of the frame; `interval_ms` since the frame before it was shown, 0 = not known.
  void add(double decode_ms, double interval_ms) {
    times_.push_back({decode_ms, interval_ms});
    if (times_.size() > kShown) times_.pop_front();
  }
  void draw(SDL_Renderer* renderer, const SDL_Rect& area) const {
    constexpr SDL_Color kDecode{64, 150, 255, 255}, kInterval{255, 160, 60, 255},
        kLine{255, 70, 70, 255};
    fill_back(renderer, area);
    const double each = area.w / double(kShown), top = top_ms();
    double x = area.x + area.w - each * double(times_.size());  // the newest at the right
    for (const Times& t : times_) {
      // At least one pixel, so that a frame that took almost no time is visible.
      const double decode = std::max(1.0, area.h * std::min(t.decode_ms / top, 1.0));
      fill(renderer, kDecode, x, area.y + area.h - decode, each, decode);
      const double interval = area.h * std::min(t.interval_ms / top, 1.0);
      if (t.interval_ms > 0) fill(renderer, kInterval, x, area.y + area.h - interval, each, 2);
      x += each;
    }
    fill(renderer, kLine, area.x, line_at(area), area.w, 1);
  }
  /// "decode 4.2 ms, max 9.1; shown every 16.6 ms, max 33.4"
  std::string text() const {
    if (times_.empty()) return "no frame was shown yet";
    Times sum{0, 0}, most{0, 0};
    int intervals = 0;
    for (const Times& t : times_) {
      sum.decode_ms += t.decode_ms;
      sum.interval_ms += t.interval_ms;
      intervals += t.interval_ms > 0 ? 1 : 0;
      most.decode_ms = std::max(most.decode_ms, t.decode_ms);
      most.interval_ms = std::max(most.interval_ms, t.interval_ms);
    }
    std::string text = fmt::format("decode {:.1f} ms, max {:.1f}",
                                   sum.decode_ms / double(times_.size()), most.decode_ms);
    if (intervals > 0)
      text += fmt::format("\nshown every {:.1f} ms, max {:.1f}", sum.interval_ms / intervals,
                          most.interval_ms);
    return text;
  }
  /// Where the line of kLineMs lies in `area`.
  int line_at(const SDL_Rect& area) const {
    return area.y + static_cast<int>(area.h * (1 - kLineMs / top_ms()));
  }

 private:
  static constexpr std::size_t kShown = 180;  ///< frames: three seconds at 60 frames/s
  struct Times {
    double decode_ms, interval_ms;
  };
  double top_ms() const {
    double most = 2 * kLineMs;
    for (const Times& t : times_)
      most = std::max({most, t.decode_ms, std::min(t.interval_ms, 100.0)});
    return most;
  }

  std::deque<Times> times_;
};

/// Of a frame in yuv420p or gray8 (luma), or bgrx32 (red, green, blue).
class Histogram {
 public:
  /// Counts all samples. Fills `mask`, a frame in bgrx32 with the alpha in its fourth byte: red
  /// where a sample is 255, blue where it is 0 (RGB: where all three are), else transparent.
  Status update(const ConstFrameView& frame, Frame& mask) {
    // As bytes B, G, R, A.
    constexpr std::array<std::uint8_t, 4> kHigh{40, 40, 255, 255}, kLow{255, 60, 40, 255}, kNone{};
    ZR_TRY(mask.reshape(PixelFormat::bgrx32, frame.width, frame.height));
    counts_ = {};
    high_ = low_ = 0;
    pixels_ = std::uint64_t{1} * static_cast<std::uint64_t>(frame.width) *
              static_cast<std::uint64_t>(frame.height);
    channels_ = frame.format == PixelFormat::bgrx32 ? 3 : 1;
    const std::ptrdiff_t step = channels_ == 3 ? 4 : 1;
    const FrameView to_view = mask.view();
    for (int y = 0; y < frame.height; ++y) {
      const std::uint8_t* from = frame.data[0] + y * frame.stride_bytes[0];
      std::uint8_t* to = to_view.data[0] + y * to_view.stride_bytes[0];
      for (int x = 0; x < frame.width; ++x, from += step, to += 4) {
        for (std::size_t c = 0; c < channels_; ++c) ++counts_[c][from[c]];
        const std::uint8_t most = *std::max_element(from, from + channels_);
        high_ += most == 255 ? 1 : 0;
        low_ += most == 0 ? 1 : 0;
        std::memcpy(to, (most == 255 ? kHigh : most == 0 ? kLow : kNone).data(), 4);
      }
    }
    return Status::ok();
  }
  void draw(SDL_Renderer* renderer, const SDL_Rect& area) const {
    fill_back(renderer, area);
    constexpr SDL_Color kColors[3] = {{80, 120, 255, 150}, {80, 220, 80, 150}, {255, 80, 80, 150}};
    std::uint32_t most = 1;
    // The outermost values are left out of the scale: one clipped sky would flatten all others.
    for (std::size_t c = 0; c < channels_; ++c)
      most = std::max(most, *std::max_element(counts_[c].begin() + 1, counts_[c].end() - 1));
    const double each = area.w / 256.0;
    for (std::size_t c = 0; c < channels_; ++c) {
      const SDL_Color color = channels_ == 1 ? SDL_Color{230, 230, 230, 255} : kColors[c];
      for (std::size_t i = 0; i < 256; ++i) {
        // The square root makes rare values visible.
        const double height = area.h * std::sqrt(std::min(1.0, double{1} * counts_[c][i] / most));
        fill(renderer, color, area.x + each * double(i), area.y + area.h - height, each, height);
      }
    }
  }
  /// "clipped: 1.25 % at 255, 0.00 % at 0"
  std::string text() const {
    const auto percent = [this](std::uint64_t count) {
      return pixels_ == 0 ? 0.0 : 100.0 * double(count) / double(pixels_);
    };
    return fmt::format("{} clipped: {:.2f} % at 255 (red),\n{:.2f} % at 0 (blue)",
                       channels_ == 1 ? "Y" : "RGB", percent(high_), percent(low_));
  }

 private:
  std::size_t channels_ = 0;  // 1: luma; 3: blue, green, red
  std::array<std::array<std::uint32_t, 256>, 3> counts_{};
  std::uint64_t high_ = 0, low_ = 0, pixels_ = 0;
};

/// "0:01.240"
inline std::string time_text(double seconds) { return clock_text(seconds, true); }

/// Empty texts and null pointers are not drawn.
struct OverlayContent {
  std::string osd, message, help;
  std::string name_a, name_b;  ///< of the pictures that are compared
  bool side_by_side = false;   ///< `name_b` stands over the right half
  std::string metrics;         ///< text about the differences of A and B
  std::optional<SeekBarState> bar;
  const FrameGraph* graph = nullptr;
  const Histogram* histogram = nullptr;
};

class Overlay {
 public:
  explicit Overlay(Window& window) : window_(window), text_(window.renderer()) {}

  void draw(const OverlayContent& content) {
    const SDL_Point size = window_.size();
    text_.resize(size, window_.scale());
    free_ = {0, 0, size.x, size.y};
    if (content.bar) draw_bar(*content.bar);
    draw_names(content);
    SDL_Rect texts = free_;
    if (content.graph != nullptr || content.histogram != nullptr) {
      draw_panels(content);
      texts.w -= panel_size().x;
    }
    SDL_Rect bottom = texts;
    for (const std::string* const text : {&content.metrics, &content.message})
      if (const SDL_Rect box = text_.draw(*text, {bottom, -1, 1}); box.h > 0)
        bottom.h = std::max(0, box.y - bottom.y);
    text_.draw(content.osd, {{texts.x, texts.y, texts.w, bottom.h}, -1, -1});
    text_.draw(content.help, {{0, 0, size.x, size.y}, 0, 0});
  }
  /// Where the bar is, or would be.
  SeekBar bar(double duration) {
    text_.resize(window_.size(), window_.scale());
    constexpr double kLetterWidth = 0.62;  // of a monospaced font, over its size
    const auto letters = double(2 * time_text(duration).size() + 5);
    return {window_.size(), text_.points(),
            static_cast<int>(letters * kLetterWidth * text_.points())};
  }
  void forget() { text_.forget(); }
  const TextPainter& text() const noexcept { return text_; }

 private:
  void draw_names(const OverlayContent& content) {
    SDL_Rect left = free_, right = free_;
    if (content.side_by_side) {
      left.w /= 2;
      right.x = left.w;
      right.w -= left.w;
    }
    const SDL_Rect a = text_.draw(content.name_a, {left, 1, -1});
    const SDL_Rect b = text_.draw(content.name_b, {right, 1, -1});
    const int below = std::max(a.y + a.h, b.y + b.h);
    if (below == 0) return;
    free_.y = below;
    free_.h = std::max(0, free_.h - below);
  }
  void draw_bar(const SeekBarState& state) {
    const SeekBar shown = bar(state.duration);
    shown.draw(window_.renderer(), state);
    text_.draw(time_text(state.at) + " / " + time_text(state.duration), {shown.text_area(), 1, 0});
    free_.h = shown.area().y;
  }
  /// The histogram at the upper right with its text below, the graph at the lower right with its
  /// text above.
  void draw_panels(const OverlayContent& content) {
    const SDL_Point size = panel_size();
    const int half = free_.h / 2;
    SDL_Rect panel{free_.x + free_.w - size.x, free_.y, size.x, std::min(size.y, half)};
    if (content.histogram != nullptr) {
      content.histogram->draw(window_.renderer(), panel);
      const SDL_Rect below{panel.x, panel.y + panel.h, panel.w, half - panel.h};
      text_.draw(content.histogram->text(), {below, 1, -1});
    }
    if (content.graph == nullptr) return;
    panel.y = free_.y + free_.h - panel.h;
    content.graph->draw(window_.renderer(), panel);
    const SDL_Rect above{panel.x, panel.y - (half - panel.h), panel.w, half - panel.h};
    text_.draw(content.graph->text(), {above, 1, 1});
    const int line = content.graph->line_at(panel);
    text_.draw("16.7 ms", {{panel.x, panel.y, panel.w, line - panel.y}, -1, 1});
  }
  SDL_Point panel_size() const {
    const SDL_Point size = window_.size();
    return {std::clamp(24 * text_.points(), size.x / 3, std::max(size.x / 2, 1)),
            std::min(8 * text_.points(), size.y / 4)};
  }

  Window& window_;
  TextPainter text_;
  SDL_Rect free_{};  // of the window: without the bar and the names
};

}  // namespace zerorun::app
