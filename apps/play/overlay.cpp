// What lies over the pictures.
// SPDX-License-Identifier: MIT
#include "apps/play/overlay.hpp"

#include <algorithm>

#include "apps/play/osd.hpp"

namespace zerorun::app {
namespace {

std::string bar_text(const SeekBarState& state) {
  return time_text(state.at) + " / " + time_text(state.duration);
}

}  // namespace

SeekBar Overlay::bar(double duration) {
  text_.resize(window_.size(), window_.scale());
  constexpr double kLetterWidth = 0.62;  // of a monospaced font, over its size
  const auto letters = static_cast<double>(2 * time_text(duration).size() + 5);
  return {window_.size(), text_.points(),
          static_cast<int>(letters * kLetterWidth * text_.points())};
}

void Overlay::draw(const OverlayContent& content) {
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
  if (!content.metrics.empty()) {
    const SDL_Rect box = text_.draw(Label::metrics, content.metrics, {bottom, -1, 1});
    bottom.h = std::max(0, box.y - bottom.y);
  }
  const SDL_Rect message = text_.draw(Label::message, content.message, {bottom, -1, 1});
  if (message.h > 0) bottom.h = std::max(0, message.y - bottom.y);
  text_.draw(Label::osd, content.osd, {{texts.x, texts.y, texts.w, bottom.h}, -1, -1});
  text_.draw(Label::help, content.help, {{0, 0, size.x, size.y}, 0, 0});
}

void Overlay::draw_bar(const SeekBarState& state) {
  const SeekBar shown = bar(state.duration);
  shown.draw(window_.renderer(), state);
  text_.draw(Label::time, bar_text(state), {shown.text_area(), 1, 0});
  free_.h = shown.area().y;
}

void Overlay::draw_names(const OverlayContent& content) {
  SDL_Rect left = free_, right = free_;
  if (content.side_by_side) {
    left.w /= 2;
    right.x = left.w;
    right.w -= left.w;
  }
  const SDL_Rect a = text_.draw(Label::name_a, content.name_a, {left, 1, -1});
  const SDL_Rect b = text_.draw(Label::name_b, content.name_b, {right, 1, -1});
  const int below = std::max(a.y + a.h, b.y + b.h);
  if (below == 0) return;
  free_.y = below;
  free_.h = std::max(0, free_.h - below);
}

SDL_Point Overlay::panel_size() const {
  const SDL_Point size = window_.size();
  return {std::clamp(24 * text_.points(), size.x / 3, std::max(size.x / 2, 1)),
          std::min(8 * text_.points(), size.y / 4)};
}

/// The histogram at the upper right with its text below, the graph at the lower right with its text
/// above.
void Overlay::draw_panels(const OverlayContent& content) {
  const SDL_Point size = panel_size();
  const int half = free_.h / 2;
  SDL_Rect panel{free_.x + free_.w - size.x, free_.y, size.x, std::min(size.y, half)};
  if (content.histogram != nullptr) {
    content.histogram->draw(window_.renderer(), panel);
    const SDL_Rect below{panel.x, panel.y + panel.h, panel.w, half - panel.h};
    text_.draw(Label::histogram, content.histogram->text(), {below, 1, -1});
  }
  if (content.graph == nullptr) return;
  panel.y = free_.y + free_.h - panel.h;
  content.graph->draw(window_.renderer(), panel);
  const SDL_Rect above{panel.x, panel.y - (half - panel.h), panel.w, half - panel.h};
  text_.draw(Label::graph, content.graph->text(), {above, 1, 1});
  const int line = content.graph->line_at(panel);
  text_.draw(Label::graph_line, "16.7 ms", {{panel.x, panel.y, panel.w, line - panel.y}, -1, 1});
}

}  // namespace zerorun::app
