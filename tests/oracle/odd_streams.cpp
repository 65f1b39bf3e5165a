// Legal streams that few encoders make.
// SPDX-License-Identifier: MIT
#include "tests/oracle/odd_streams.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/pictures.hpp"

namespace zerorun::test {

std::string to_string(const Factors& factors) {
  std::string text;
  for (const SamplingFactors& f : factors) {
    if (!text.empty()) text += ',';
    text.append(std::to_string(f.h)).append("x").append(std::to_string(f.v));
  }
  return text;
}

std::vector<Factors> all_factors() {
  return {
      {{{1, 1}, {1, 1}, {1, 1}}}, {{{2, 1}, {1, 1}, {1, 1}}}, {{{2, 2}, {1, 1}, {1, 1}}},
      {{{1, 2}, {1, 1}, {1, 1}}}, {{{4, 1}, {1, 1}, {1, 1}}}, {{{1, 4}, {1, 1}, {1, 1}}},
      {{{4, 2}, {1, 1}, {1, 1}}}, {{{2, 4}, {1, 1}, {1, 1}}}, {{{1, 3}, {1, 1}, {1, 1}}},
      {{{3, 1}, {1, 1}, {1, 1}}}, {{{3, 2}, {1, 1}, {1, 1}}}, {{{2, 3}, {1, 1}, {1, 1}}},
      {{{2, 2}, {1, 2}, {2, 1}}}, {{{2, 2}, {2, 1}, {2, 1}}}, {{{1, 2}, {1, 1}, {1, 2}}},
      {{{4, 1}, {2, 1}, {1, 1}}}, {{{1, 1}, {2, 2}, {2, 2}}}, {{{1, 1}, {2, 1}, {1, 2}}},
      {{{2, 2}, {2, 2}, {1, 1}}}, {{{1, 1}, {1, 1}, {2, 2}}}, {{{3, 1}, {2, 1}, {1, 1}}},
      {{{2, 1}, {2, 1}, {2, 1}}}, {{{1, 3}, {1, 2}, {1, 1}}}, {{{2, 1}, {1, 2}, {1, 1}}},
  };
}

Bytes odd_stream(int width, int height, LibjpegOptions options, std::uint64_t seed) {
  int h_max = 1, v_max = 1;
  for (const SamplingFactors& f : options.factors) {
    h_max = std::max(h_max, f.h);
    v_max = std::max(v_max, f.v);
  }
  std::array<std::vector<std::uint8_t>, 3> samples;
  std::vector<ComponentSource> components;
  for (std::size_t c = 0; c < 3; ++c) {
    const int w = (width * options.factors[c].h + h_max - 1) / h_max;
    const int h = (height * options.factors[c].v + v_max - 1) / v_max;
    samples[c] = make_picture(Content::photo, w, h, 1, seed + c);
    components.push_back({w, h, samples[c].data(), w});
  }
  std::string error;
  Bytes out = libjpeg_encode_planes(width, height, components, options, &error);
  EXPECT_FALSE(out.empty()) << error;
  return out;
}

}  // namespace zerorun::test
