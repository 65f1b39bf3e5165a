// Frames that are made by name and size: synthetic:WIDTHxHEIGHT:KIND.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/bench/frames/synthetic_rows.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/text.hpp"
#include "codec/arith/integer.hpp"
#include "codec/base/thread_pool.hpp"

namespace zerorun::app::bench {
namespace {

constexpr std::string_view kPrefix = "synthetic:";

struct Spec {
  int width, height;
  Kind kind;
};

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"photo", Kind::photo},    {"grain", Kind::grain},   {"sensor", Kind::sensor},
    {"noise", Kind::noise},    {"ramp", Kind::ramp},     {"flat", Kind::flat},
    {"text", Kind::text},      {"screen", Kind::screen}, {"lineart", Kind::lineart},
    {"pattern", Kind::pattern}};

void fill_plane(Kind kind, const FrameView& view, int p, RowPlace place) {
  const auto plane = static_cast<std::size_t>(p);
  const int rows = plane_rows(view.format, p, view.height);
  const auto width = static_cast<int>(plane_row_bytes(view.format, p, view.width));
  ThreadPool pool(rows < 256 ? 1 : 0);
  std::vector<std::vector<int>> scratch(static_cast<std::size_t>(pool.workers()));
  pool.run(rows, [&](std::int64_t y, int worker) {
    make_synthetic_row(kind, view.data[plane] + y * view.stride_bytes[plane], width,
                       static_cast<int>(y), place, scratch[static_cast<std::size_t>(worker)]);
  });
}

Spec parse(const std::string& input) {
  const std::string text = input.substr(kPrefix.size());
  const std::size_t times = text.find('x'), colon = text.find(':');
  if (times != std::string::npos && colon != std::string::npos && times < colon) {
    const auto width = parse_integer(text.substr(0, times));
    const auto height = parse_integer(text.substr(times + 1, colon - times - 1));
    const auto fits = [](auto n) { return n && *n >= 1 && *n <= kMaxDimension; };
    for (const auto& [word, kind] : kKinds)
      if (fits(width) && fits(height) && text.substr(colon + 1) == word)
        return {static_cast<int>(*width), static_cast<int>(*height), kind};
  }
  fail(Exit::usage, "'" + input + "' is not synthetic:WIDTHxHEIGHT:" +
                        fmt::format("{}", fmt::join(synthetic_kinds(), "|")));
}

}  // namespace

std::vector<std::string> synthetic_kinds() {
  std::vector<std::string> names;
  for (const auto& [word, kind] : kKinds) names.emplace_back(word);
  return names;
}

bool is_synthetic(const std::string& input) noexcept { return input.rfind(kPrefix, 0) == 0; }

void check_synthetic(const std::string& input) { (void)parse(input); }

Result<Frame> make_synthetic(const std::string& input, PixelFormat format, std::size_t number) {
  const Spec spec = parse(input);
  auto frame = Frame::create(format, spec.width, spec.height);
  if (!frame) return frame;
  for (int p = 0; p < plane_count(format); ++p) {
    const auto seed = static_cast<std::uint32_t>(1000 * number + 100 * static_cast<unsigned>(p));
    const bool chroma = p > 0 && is_planar_yuv(format);
    const auto luma_width = static_cast<int>(plane_row_bytes(format, 0, spec.width));
    const auto width = static_cast<int>(plane_row_bytes(format, p, spec.width));
    const int rows = plane_rows(format, p, spec.height);
    fill_plane(spec.kind, frame->view(), p,
               {seed, chroma, chroma ? ceil_div(luma_width, width) : 1,
                chroma ? ceil_div(spec.height, rows) : 1});
  }
  return frame;
}

}  // namespace zerorun::app::bench
