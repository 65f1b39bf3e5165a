// Frames that are made by name and size, synthetic:WIDTHxHEIGHT:KIND: the same on every machine,
// fast enough for 16384x16384, because every sample comes from hashes and interpolation.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/bench/frames.hpp"
#include "apps/common/figures.hpp"
#include "apps/common/process.hpp"
#include "codec/arith/host_device.hpp"
#include "codec/base/thread_pool.hpp"

namespace zerorun::app::bench {
namespace {

enum class Kind {
  photo,    ///< light, edges and fine texture; about the bits per pixel of a photograph
  grain,    ///< a photo with the grain of film: strong, in lumps of two samples, without colour
  sensor,   ///< a photo with the noise of a sensor: strong, in every sample and colour by itself
  noise,    ///< every sample random
  ramp,     ///< smooth gradients
  flat,     ///< one colour
  text,     ///< dark glyphs on white
  screen,   ///< a window with coloured glyphs on a dark background, and empty space
  lineart,  ///< thin black lines on white
  pattern,  ///< checkerboards, stripes, dots, dither and tiles: the same blocks again and again
};

/// A row of a plane. One sample stands for `step_x` x `step_y` samples of the picture.
struct RowPlace {
  std::uint32_t seed;  ///< of the plane
  bool chroma;
  int step_x, step_y;
};

std::uint32_t hash(std::uint32_t a, std::uint32_t b, std::uint32_t c) noexcept {
  std::uint32_t h = a * 0x9E3779B1u ^ b * 0x85EBCA77u ^ c * 0xC2B2AE3Du;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return h ^ h >> 15;
}

std::uint8_t clamp_sample(int value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

/// One row of value noise: random values on a lattice of 2^shift samples, interpolated.
void add_noise_row(std::vector<int>& row, std::uint32_t seed, int y, int shift, int weight) {
  const int cell = 1 << shift, fy = y & (cell - 1);
  const auto lattice = [&](int x) {
    const auto ux = static_cast<std::uint32_t>(x), uy = static_cast<std::uint32_t>(y >> shift);
    const int top = static_cast<int>(hash(seed, ux, uy) & 255);
    const int bottom = static_cast<int>(hash(seed, ux, uy + 1) & 255);
    return top * (cell - fy) + bottom * fy;
  };
  const int width = static_cast<int>(row.size());
  int left = lattice(0);
  for (int x0 = 0; x0 < width; x0 += cell) {
    const int right = lattice((x0 >> shift) + 1);
    for (int x = x0; x < std::min(x0 + cell, width); ++x) {
      const int value = (left * (cell - (x - x0)) + right * (x - x0)) >> (2 * shift);
      row[static_cast<std::size_t>(x)] += (value - 128) * weight;
    }
    left = right;
  }
}

/// Sixteenths of a level in 0..255, before grain. Octaves of noise make light and texture; one of
/// them is cut into steps, whose borders are the edges that photographs have.
void photo_row(std::vector<int>& row, std::uint32_t seed, int y) {
  std::fill(row.begin(), row.end(), 0);
  add_noise_row(row, seed, y, 8, 24);
  for (int& value : row) value = value / 1024 * 1024 + value / 3;
  add_noise_row(row, seed + 1, y, 6, 8);
  add_noise_row(row, seed + 2, y, 4, 3);
  add_noise_row(row, seed + 3, y, 2, 2);
  add_noise_row(row, seed + 4, y, 1, 1);
  for (int& value : row) value += 128 * 16;
}

void make_photo_row(std::vector<int>& row, std::uint8_t* out, std::uint32_t seed, int y,
                    bool chroma) {
  photo_row(row, seed, y);
  for (std::size_t x = 0; x < row.size(); ++x) {
    const auto grain =
        static_cast<int>(hash(seed, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)) %
                         7) -
        3;
    const int level = chroma ? 128 + (row[x] / 16 - 128) / 4 + grain / 2 : row[x] / 16 + grain;
    out[x] = clamp_sample(level);
  }
}

/// Letters are 5 x 7 random dots of 2 x 3 samples, with spaces between words and lines.
std::uint8_t text_sample(int x, int y, std::uint32_t seed) noexcept {
  const int column = x / 12, line = y / 30, dot_x = x % 12 / 2, dot_y = y % 30 / 3;
  const auto letter =
      hash(seed, static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(line));
  const bool space = letter % 6 == 0 || dot_x == 5 || dot_y >= 7;
  if (space) return 250;
  const auto alphabet = letter / 6 % 64;
  const auto dot =
      hash(alphabet, static_cast<std::uint32_t>(dot_x), static_cast<std::uint32_t>(dot_y));
  return dot % 5 < 2 ? 24 : 250;
}

/// About a normal distribution with a deviation of 1: a sum of four even ones, in 1/64.
int bell(std::uint32_t h) noexcept {
  const auto sum = static_cast<int>((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24));
  return (sum - 510) * 64 / 148;
}

int grain_at(std::uint32_t seed, int x, int y) noexcept {
  return bell(hash(seed, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)));
}

/// Adds the mean of four neighbours, so that grain comes in lumps; a deviation of 9 levels.
void add_film_grain(std::uint8_t* out, int width, int y, std::uint32_t seed) {
  for (int x = 0; x < width; ++x) {
    const int lump = grain_at(seed, x, y) + grain_at(seed, x + 1, y) + grain_at(seed, x, y + 1) +
                     grain_at(seed, x + 1, y + 1);
    out[x] = clamp_sample(out[x] + lump * 9 / 128);
  }
}

void add_sensor_noise(std::uint8_t* out, int width, int y, std::uint32_t seed, int levels) {
  for (int x = 0; x < width; ++x)
    out[x] = clamp_sample(out[x] + grain_at(seed, x, y) * levels / 64);
}

/// An editor: a bar at the left, and lines of words in four colours that end somewhere.
std::uint8_t screen_sample(int x, int y, const RowPlace& place) noexcept {
  const std::uint32_t seed = place.seed - place.seed % 1000;  // the same glyphs in all planes
  const int line = y / 30, bar = 260;
  if (x < bar) return place.chroma ? 128 : text_sample(x, y, seed) < 128 ? 200 : 37;
  const auto row = static_cast<std::uint32_t>(line);
  const int end = bar + 40 + static_cast<int>(hash(seed, row, 1) % 1200);
  if (x >= end || hash(seed, row, 2) % 5 == 0 || text_sample(x, y, seed) > 128)
    return place.chroma ? 128 : 30;
  const std::uint32_t colour = hash(seed, row, static_cast<std::uint32_t>(x / 72)) % 4;
  if (place.chroma) return static_cast<std::uint8_t>(96 + 21 * ((colour + place.seed / 100) % 4));
  return static_cast<std::uint8_t>(140 + 25 * colour);
}

/// Straight lines, one to three samples wide.
void draw_lines(std::uint8_t* out, int width, int y, std::uint32_t seed) {
  std::fill_n(out, width, std::uint8_t{255});
  for (std::uint32_t line = 0; line < 150; ++line) {
    const auto pick = [&](std::uint32_t what, int most) {
      return static_cast<int>(hash(seed, line, what) % static_cast<std::uint32_t>(most));
    };
    const int top = pick(0, 4096) - 1024, rows = 16 + pick(1, 1200), down = y - top;
    if (down < 0 || down >= rows) continue;
    const int run = pick(2, 2400) - 1200;  // samples to the right over all rows
    const int from = pick(3, width) + run * down / rows,
              to = pick(3, width) + run * (down + 1) / rows;
    const int thick = 1 + pick(4, 3);
    for (int x = std::max(std::min(from, to), 0); x < std::min(std::max(from, to) + thick, width);
         ++x)
      out[x] = 0;
  }
}

/// Bands of six patterns without colour.
std::uint8_t pattern_sample(int x, int y, std::uint32_t seed) noexcept {
  const auto is_dark = [&] {
    const auto ux = static_cast<std::uint32_t>(x), uy = static_cast<std::uint32_t>(y);
    const int dx = x % 16 - 8, dy = y % 16 - 8;
    switch (y / 180 % 6) {
      case 0:
        return (x + y) % 2 == 0;
      case 1:
        return (x / 8 + y / 8) % 2 == 0;
      case 2:
        return (x + y) / 8 % 2 == 0;
      case 3:
        return dx * dx + dy * dy < 25;
      case 4:
        return x % 2 == 0 && (x / 2 + y) % 2 == 0;
      default:
        return hash(seed, ux % 16, uy % 16) % 2 == 0;
    }
  };
  return is_dark() ? 16 : 235;
}

/// Makes row `y` of a plane of `width` samples. `scratch` may be used again for other rows.
void make_synthetic_row(Kind kind, std::uint8_t* out, int width, int y, const RowPlace& place,
                        std::vector<int>& scratch) {
  switch (kind) {
    case Kind::photo:
    case Kind::grain:
    case Kind::sensor:
      scratch.resize(static_cast<std::size_t>(width));
      make_photo_row(scratch, out, place.seed, y, place.chroma);
      if (kind == Kind::grain && !place.chroma) add_film_grain(out, width, y, place.seed);
      if (kind == Kind::sensor)
        add_sensor_noise(out, width, y, place.seed + 7, place.chroma ? 5 : 10);
      return;
    case Kind::noise:
      for (int x = 0; x < width; ++x)
        out[x] = static_cast<std::uint8_t>(
            hash(place.seed, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)));
      return;
    case Kind::ramp:
      for (int x = 0; x < width; ++x) {  // up and down again: no edges
        const int value = (x / 5 + y / 7 + static_cast<int>(place.seed % 511)) % 511;
        out[x] = static_cast<std::uint8_t>(value > 255 ? 510 - value : value);
      }
      return;
    case Kind::flat:
      std::fill_n(out, width, static_cast<std::uint8_t>(place.chroma ? 128 : 96));
      return;
    case Kind::text:
      for (int x = 0; x < width; ++x) out[x] = place.chroma ? 128 : text_sample(x, y, place.seed);
      return;
    case Kind::screen:
      for (int x = 0; x < width; ++x)
        out[x] = screen_sample(x * place.step_x, y * place.step_y, place);
      return;
    case Kind::lineart:
      if (place.chroma) {
        std::fill_n(out, width, std::uint8_t{128});
      } else {
        draw_lines(out, width, y, place.seed);
      }
      return;
    case Kind::pattern:
      for (int x = 0; x < width; ++x)
        out[x] = place.chroma ? 128 : pattern_sample(x, y, place.seed);
      return;
  }
}

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
