// Pictures and what becomes of them, for tests of the metrics.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "apps/bench/quality/image.hpp"
#include "tests/support/pictures.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {

inline rd::Image picture(Content content, int width, int height) {
  return {width, height, make_picture(content, width, height, 3, 1)};
}

/// Red, green and blue are the same.
inline rd::Image grey(Content content, int width, int height) {
  rd::Image image = picture(content, width, height);
  for (std::size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = image.rgb[i - i % 3];
  return image;
}

/// Each sample moves by up to `most`, and stays in its range.
inline rd::Image with_noise(rd::Image image, int most) {
  Random random(7);
  for (std::uint8_t& sample : image.rgb)
    sample = static_cast<std::uint8_t>(std::clamp(sample + random.between(-most, most), 0, 255));
  return image;
}

/// One sample alone is another: the last one.
inline rd::Image with_another_sample(rd::Image image) {
  image.rgb.back() = static_cast<std::uint8_t>(image.rgb.back() ^ 0x80);
  return image;
}

/// Every pixel is the one at its right, as behind a damaged scan.
inline rd::Image moved(rd::Image image) {
  if (image.pixels() > 1) std::rotate(image.rgb.begin(), image.rgb.begin() + 3, image.rgb.end());
  return image;
}

struct Damage {
  std::string_view name;
  rd::Image (*make)(rd::Image);
};
inline constexpr Damage kDamages[] = {
    {"equal", [](rd::Image image) { return image; }},
    {"one sample", with_another_sample},
    {"a little noise", [](rd::Image image) { return with_noise(std::move(image), 2); }},
    {"much noise", [](rd::Image image) { return with_noise(std::move(image), 90); }},
    {"moved", moved},
};

}  // namespace zerorun::test
