// Pictures from hashes and interpolation: the same on every machine, fast enough for 16384x16384.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/text.hpp"
#include "codec/base/thread_pool.hpp"

namespace zerorun::app::bench {
namespace {

constexpr std::string_view kPrefix = "synthetic:";

enum class Kind {
  photo,  ///< light, edges and grain; about the bits per pixel of a photograph
  noise,  ///< every sample random
  ramp,   ///< smooth gradients
  text,   ///< dark glyphs on white
};

struct Spec {
  int width, height;
  Kind kind;
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

struct PlanePlace {
  std::uint32_t seed;
  bool chroma;
};

void make_row(Kind kind, std::uint8_t* out, int width, int y, PlanePlace place,
              std::vector<int>& scratch) {
  switch (kind) {
    case Kind::photo:
      scratch.resize(static_cast<std::size_t>(width));
      return make_photo_row(scratch, out, place.seed, y, place.chroma);
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
    case Kind::text:
      for (int x = 0; x < width; ++x) out[x] = place.chroma ? 128 : text_sample(x, y, place.seed);
      return;
  }
}

void fill_plane(Kind kind, const FrameView& view, int p, PlanePlace place) {
  const auto plane = static_cast<std::size_t>(p);
  const int rows = plane_rows(view.format, p, view.height);
  const auto width = static_cast<int>(plane_row_bytes(view.format, p, view.width));
  ThreadPool pool(rows < 256 ? 1 : 0);
  std::vector<std::vector<int>> scratch(static_cast<std::size_t>(pool.workers()));
  pool.run(rows, [&](std::int64_t y, int worker) {
    make_row(kind, view.data[plane] + y * view.stride_bytes[plane], width, static_cast<int>(y),
             place, scratch[static_cast<std::size_t>(worker)]);
  });
}

Spec parse(const std::string& input) {
  static constexpr std::array<std::pair<std::string_view, Kind>, 4> kinds = {
      {{"photo", Kind::photo}, {"noise", Kind::noise}, {"ramp", Kind::ramp}, {"text", Kind::text}}};
  const std::string text = input.substr(kPrefix.size());
  const std::size_t times = text.find('x'), colon = text.find(':');
  if (times != std::string::npos && colon != std::string::npos && times < colon) {
    const auto width = parse_integer(text.substr(0, times));
    const auto height = parse_integer(text.substr(times + 1, colon - times - 1));
    const auto fits = [](auto n) { return n && *n >= 1 && *n <= kMaxDimension; };
    for (const auto& [word, kind] : kinds)
      if (fits(width) && fits(height) && text.substr(colon + 1) == word)
        return {static_cast<int>(*width), static_cast<int>(*height), kind};
  }
  fail(Exit::usage, "'" + input + "' is not synthetic:WIDTHxHEIGHT:photo|noise|ramp|text");
}

}  // namespace

bool is_synthetic(const std::string& input) noexcept { return input.rfind(kPrefix, 0) == 0; }

void check_synthetic(const std::string& input) { (void)parse(input); }

Result<Frame> make_synthetic(const std::string& input, PixelFormat format, std::size_t number) {
  const Spec spec = parse(input);
  auto frame = Frame::create(format, spec.width, spec.height);
  if (!frame) return frame;
  for (int p = 0; p < plane_count(format); ++p) {
    const auto seed = static_cast<std::uint32_t>(1000 * number + 100 * static_cast<unsigned>(p));
    fill_plane(spec.kind, frame->view(), p, {seed, p > 0 && is_planar_yuv(format)});
  }
  return frame;
}

}  // namespace zerorun::app::bench
