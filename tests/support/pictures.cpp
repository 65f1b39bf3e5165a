// Synthetic pictures for tests and the golden table.
// SPDX-License-Identifier: MIT
#include "tests/support/pictures.hpp"

#include <algorithm>
#include <array>

#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"flat",  "gradient", "checker",
                                                    "noise", "extreme",  "photo"};

/// A value 0..255 at a lattice point.
int lattice(std::uint64_t seed, int x, int y) noexcept {
  Random random(seed ^ (static_cast<std::uint64_t>(x) << 32) ^ static_cast<std::uint64_t>(y));
  return random.byte();
}

/// Value noise with cells of 2^shift samples, 0..255: bilinear between lattice values.
int value_noise(std::uint64_t seed, int x, int y, int shift) noexcept {
  const int cell = 1 << shift;
  const int x0 = x >> shift, y0 = y >> shift;
  const int fx = x & (cell - 1), fy = y & (cell - 1);
  const int top = lattice(seed, x0, y0) * (cell - fx) + lattice(seed, x0 + 1, y0) * fx;
  const int bottom = lattice(seed, x0, y0 + 1) * (cell - fx) + lattice(seed, x0 + 1, y0 + 1) * fx;
  return (top * (cell - fy) + bottom * fy) >> (2 * shift);
}

struct Disc {
  std::int64_t x, y, radius;
  int level;
};

std::uint8_t clamp_sample(int value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

/// Light and shade shared by all channels, a hue for each channel, edges and grain.
std::vector<std::uint8_t> make_photo(int width, int height, int channels, std::uint64_t seed) {
  Random random(seed);
  std::vector<Disc> discs(12);
  const int extent = std::max(std::max(width, height) / 6, 2);
  for (Disc& disc : discs)
    disc = {random.below(width), random.below(height), random.between(1, extent),
            random.between(-70, 70)};
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
              static_cast<std::size_t>(channels));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int light = (value_noise(seed + 1, x, y, 7) * 8 + value_noise(seed + 2, x, y, 5) * 4 +
                   value_noise(seed + 3, x, y, 3) * 2 + value_noise(seed + 4, x, y, 1)) /
                  15;
      for (const Disc& disc : discs) {
        const std::int64_t dx = x - disc.x, dy = y - disc.y;
        if (dx * dx + dy * dy < disc.radius * disc.radius) light += disc.level;
      }
      for (int c = 0; c < channels; ++c) {
        const auto channel = static_cast<std::uint64_t>(c);
        const int hue = (value_noise(seed + 10 + channel, x, y, 6) - 128) / 3;
        out.push_back(clamp_sample(light + hue + random.between(-3, 3)));
      }
    }
  }
  return out;
}

}  // namespace

std::string_view name(Content content) noexcept {
  return kNames[static_cast<std::size_t>(content)];
}

std::optional<Content> content_from_name(std::string_view text) noexcept {
  for (const Content content : kContents)
    if (name(content) == text) return content;
  return std::nullopt;
}

void PrintTo(Content content, std::ostream* out) { *out << name(content); }

std::vector<std::uint8_t> make_picture(Content content, int width, int height, int channels,
                                       std::uint64_t seed) {
  if (content == Content::photo) return make_photo(width, height, channels, seed);
  Random random(seed);
  std::array<int, 4> base{};
  for (int& value : base) value = random.byte();
  const int square = 1 + static_cast<int>(seed % 9);
  std::vector<std::uint8_t> out;
  out.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
              static_cast<std::size_t>(channels));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int start = base[static_cast<std::size_t>(c)];
        int value = 0;
        switch (content) {
          case Content::flat:
            value = start;
            break;
          case Content::gradient:
            value = (start + x * (3 + c) + y * (5 - c)) % 511;
            break;
          case Content::checker:
            value = ((x / square + y / square + c) & 1) * 255;
            break;
          case Content::noise:
            value = random.byte();
            break;
          case Content::extreme:
            value = (random.byte() & 1) * 255;
            break;
          case Content::photo:
            break;  // made above
        }
        // A ramp runs up and down again, so that it has no edge.
        if (content == Content::gradient && value > 255) value = 510 - value;
        out.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return out;
}

}  // namespace zerorun::test
