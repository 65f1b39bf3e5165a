// The threads of the GPU's meter, one by one on the host, against the CPU's meter.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/cuda/window_tile.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "apps/bench/quality/cuda/hvs_pair.hpp"
#include "apps/bench/quality/metrics.hpp"
#include "apps/bench/quality/pixel_rules.hpp"
#include "tests/cuda/quality/pairs.hpp"

namespace zerorun::rd {
namespace {

using test::Content;
using test::picture;
using test::with_noise;

constexpr Size kSizes[] = {{1, 1}, {7, 5}, {8, 8}, {17, 33}, {32, 16}, {33, 17}, {70, 49}};

struct LumaPair {
  Plane a, b;
  PlanePair planes() const { return {a.v.data(), b.v.data(), a.width, a.height}; }
};

LumaPair luma_pair(Size size) {
  const Image image = picture(Content::photo, size.width, size.height);
  return {luma_of(image), luma_of(with_noise(image, 30))};
}

/// Shared memory that nobody has written.
WindowTile poisoned_tile() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  WindowTile tile;
  std::fill_n(&tile.a[0][0], sizeof tile.a / sizeof(float), kNan);
  std::fill_n(&tile.b[0][0], sizeof tile.b / sizeof(float), kNan);
  std::fill_n(&tile.rows[0][0][0], sizeof tile.rows / sizeof(float), kNan);
  return tile;
}

/// The moments of all samples, by tiles as CTAs take them.
std::vector<Moments> moments_by_tiles(const PlanePair& planes) {
  std::vector<Moments> out(static_cast<std::size_t>(planes.width * planes.height));
  const BlurTaps taps = blur_taps();
  for (int y0 = 0; y0 < planes.height; y0 += kTileHeight)
    for (int x0 = 0; x0 < planes.width; x0 += kTileWidth) {
      WindowTile tile = poisoned_tile();
      for (int i = 0; i < kTileThreads; ++i) load_window(tile, planes, x0, y0, i);
      for (int i = 0; i < kTileThreads; ++i) blur_window_rows(tile, taps, i);
      for (int y = y0; y < std::min(y0 + kTileHeight, planes.height); ++y)
        for (int x = x0; x < std::min(x0 + kTileWidth, planes.width); ++x)
          out[static_cast<std::size_t>(y * planes.width + x)] =
              moments_at(tile, taps, x - x0, y - y0);
    }
  return out;
}

TEST(WindowTile, HasTheBitsOfBlur) {
  for (const Size size : kSizes) {
    SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
    const auto [a, b] = luma_pair(size);
    const std::vector<Moments> found =
        moments_by_tiles({a.v.data(), b.v.data(), a.width, a.height});
    const BlurTaps taps = blur_taps();
    const Plane expected[] = {a,
                              b,
                              blur(a, taps),
                              blur(b, taps),
                              blur(product(a, a), taps),
                              blur(product(b, b), taps),
                              blur(product(a, b), taps)};
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Moments& m = found[i];
      const float values[] = {m.a, m.b, m.mean_a, m.mean_b, m.square_a, m.square_b, m.both};
      for (std::size_t p = 0; p < std::size(expected); ++p)
        ASSERT_EQ(values[p], expected[p].v[i]) << "moment " << p << " of sample " << i;
    }
  }
}

double masked_by_threads(const PlanePair& luma) {
  const HvsTables tables = hvs_tables();
  double sum = 0;
  for (int y = 0; y < hvs_blocks(luma.height); ++y)
    for (int x = 0; x < hvs_blocks(luma.width); ++x) {
      HvsPair pair;
      std::fill_n(&pair.samples[0][0], sizeof pair / sizeof(double),
                  std::numeric_limits<double>::quiet_NaN());
      for (int k = 0; k < 64; ++k) load_pair(pair, luma, x * kHvsStep, y * kHvsStep, k);
      for (int k = 0; k < 64; ++k) transform_rows(pair, tables, k);
      for (int k = 0; k < 64; ++k) transform_columns(pair, tables, k);
      for (int k = 0; k < 64; ++k) find_parts(pair, tables, k);
      for (int k = 0; k < 64; ++k) sum += error_at(pair, tables, k);
    }
  return sum;
}

TEST(HvsPair, HasTheErrorsOfTheCpu) {
  for (const Size size : kSizes) {
    const LumaPair luma = luma_pair(size);
    const double expected = masked_errors(luma.a, luma.b);
    EXPECT_NEAR(masked_by_threads(luma.planes()), expected, 1e-12 * expected);
    EXPECT_EQ(expected > 0, size.width >= 8 && size.height >= 8) << size.width << size.height;
  }
}

TEST(HvsBlocks, LieInside) {
  EXPECT_EQ(hvs_blocks(7), 0);
  for (int samples = 8; samples < 60; ++samples) {
    const int last = (hvs_blocks(samples) - 1) * kHvsStep;
    EXPECT_LE(last + 8, samples);
    EXPECT_GT(last + kHvsStep + 8, samples);
  }
}

TEST(Halving, RepeatsTheLastRowAndColumn) {
  const std::vector<float> in = {1, 2, 30, 4, 5, 60, 700, 800, 9000};  // 3x3
  const auto at = [&](int x, int y) { return halved_at(in.data(), 3, 3, x, y); };
  EXPECT_EQ(at(0, 0), (1 + 2 + 4 + 5) / 4.0F);
  EXPECT_EQ(at(1, 0), (30 + 60) / 2.0F);
  EXPECT_EQ(at(0, 1), (700 + 800) / 2.0F);
  EXPECT_EQ(at(1, 1), 9000);
}

}  // namespace
}  // namespace zerorun::rd
