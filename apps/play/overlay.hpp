// What lies over the pictures: texts, the bar, the graph and the histogram, each in its place.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>
#include <SDL_ttf.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "apps/play/window.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app {

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
  SDL_Rect draw(const std::string& text, const TextPlace& place);
  void forget();                                   ///< call it if the renderer lost its textures
  int points() const noexcept { return points_; }  ///< size of the letters
  int margin() const noexcept { return std::max(4, points_ / 2); }
  const std::string& problem() const noexcept { return problem_; }

 private:
  struct FontRelease {
    void operator()(TTF_Font* font) const noexcept { TTF_CloseFont(font); }
  };
  struct Painted {
    SdlPtr<SDL_Texture> texture;
    SDL_Point size{0, 0};
  };

  TTF_Font* font(int points);
  SdlPtr<SDL_Surface> letters(const std::string& text, SDL_Point room);
  const Painted& painted(const std::string& text, SDL_Point room);

  SDL_Renderer* renderer_;
  std::string font_path_, problem_;
  std::unique_ptr<TTF_Font, FontRelease> font_;
  int points_ = 14;
  std::map<std::tuple<std::string, int, int, int>, Painted> painted_;  // by text, room and points
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
  SeekBar(SDL_Point window, int unit, int text_width);

  const SDL_Rect& area() const noexcept { return area_; }  ///< what reacts to the mouse
  SDL_Rect text_area() const noexcept;
  bool contains(SDL_FPoint point) const noexcept;
  /// The time that lies under a point of the window, also beside the bar.
  double time_at(float x, double duration) const noexcept;
  void draw(SDL_Renderer* renderer, const SeekBarState& state) const;

 private:
  float place(double seconds, double duration) const noexcept;

  SDL_Rect area_;
  SDL_FRect track_;
};

class FrameGraph {
 public:
  static constexpr double kLineMs = 1000.0 / 60;  ///< 16.7 ms

  /// `decode_ms` of the frame; `interval_ms` since the frame before it was shown, 0 = not known.
  void add(double decode_ms, double interval_ms);
  void draw(SDL_Renderer* renderer, const SDL_Rect& area) const;
  /// "decode 4.2 ms, max 9.1; shown every 16.6 ms, max 33.4"
  std::string text() const;
  /// Where the line of kLineMs lies in `area`.
  int line_at(const SDL_Rect& area) const;

 private:
  struct Times {
    double decode_ms, interval_ms;
  };
  double top_ms() const;  // of the graph

  std::deque<Times> times_;
};

/// Of a frame in yuv420p or gray8 (luma), or bgrx32 (red, green, blue).
class Histogram {
 public:
  /// Counts all samples. Fills `mask`, a frame in bgrx32 with the alpha in its fourth byte: red
  /// where a sample is 255, blue where it is 0 (RGB: where all three are), else transparent.
  Status update(const ConstFrameView& frame, Frame& mask);
  void draw(SDL_Renderer* renderer, const SDL_Rect& area) const;
  /// "clipped: 1.25 % at 255, 0.00 % at 0"
  std::string text() const;

 private:
  using Counts = std::array<std::uint32_t, 256>;
  int channels_ = 0;  // 1: luma; 3: blue, green, red
  std::array<Counts, 3> counts_{};
  std::uint64_t high_ = 0, low_ = 0, pixels_ = 0;
};

/// "0:01.240"
std::string time_text(double seconds);

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

  void draw(const OverlayContent& content);
  /// Where the bar is, or would be.
  SeekBar bar(double duration);
  void forget() { text_.forget(); }
  const TextPainter& text() const noexcept { return text_; }

 private:
  void draw_names(const OverlayContent& content);
  void draw_bar(const SeekBarState& state);
  void draw_panels(const OverlayContent& content);
  SDL_Point panel_size() const;

  Window& window_;
  TextPainter text_;
  SDL_Rect free_{};  // of the window: without the bar and the names
};

}  // namespace zerorun::app
