// The frame-time graph.
// SPDX-License-Identifier: MIT
#include "apps/play/frame_graph.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace zerorun::app {
namespace {

constexpr std::size_t kShown = 180;  ///< frames: three seconds at 60 frames/s

void fill(SDL_Renderer* renderer, SDL_Color c, double x, double y, double w, double h) {
  const SDL_FRect box{static_cast<float>(x), static_cast<float>(y), static_cast<float>(w),
                      static_cast<float>(h)};
  SDL_SetRenderDrawColor(renderer, c.r, c.g, c.b, c.a);
  SDL_RenderFillRectF(renderer, &box);
}

}  // namespace

void FrameGraph::add(double decode_ms, double interval_ms) {
  times_.push_back({decode_ms, interval_ms});
  if (times_.size() > kShown) times_.pop_front();
}

double FrameGraph::top_ms() const {
  double most = 2 * kLineMs;
  for (const Times& t : times_)
    most = std::max({most, t.decode_ms, std::min(t.interval_ms, 100.0)});
  return most;
}

int FrameGraph::line_at(const SDL_Rect& area) const {
  return area.y + static_cast<int>(area.h * (1 - kLineMs / top_ms()));
}

void FrameGraph::draw(SDL_Renderer* renderer, const SDL_Rect& area) const {
  constexpr SDL_Color kBack{0, 0, 0, 170}, kDecode{64, 150, 255, 255}, kInterval{255, 160, 60, 255},
      kLine{255, 70, 70, 255};
  fill(renderer, kBack, area.x, area.y, area.w, area.h);
  const double each = area.w / static_cast<double>(kShown), top = top_ms();
  double x =
      area.x + area.w - each * static_cast<double>(times_.size());  // the newest at the right
  for (const Times& t : times_) {
    // At least a pixel: a frame that took next to no time is there, too.
    const double decode = std::max(1.0, area.h * std::min(t.decode_ms / top, 1.0));
    fill(renderer, kDecode, x, area.y + area.h - decode, each, decode);
    const double interval = area.h * std::min(t.interval_ms / top, 1.0);
    if (t.interval_ms > 0) fill(renderer, kInterval, x, area.y + area.h - interval, each, 2);
    x += each;
  }
  fill(renderer, kLine, area.x, line_at(area), area.w, 1);
}

std::string FrameGraph::text() const {
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
  std::string text =
      fmt::format("decode {:.1f} ms, max {:.1f}",
                  sum.decode_ms / static_cast<double>(times_.size()), most.decode_ms);
  if (intervals > 0)
    text += fmt::format("\nshown every {:.1f} ms, max {:.1f}", sum.interval_ms / intervals,
                        most.interval_ms);
  return text;
}

}  // namespace zerorun::app
