// Scales of pictures, and how scores of two meters are compared.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/score_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace zerorun::rd {
namespace {

TEST(Scales, EndWhereAMetricHasNoMore) {
  EXPECT_EQ(ms_ssim_scales({1, 1}), (std::vector<Size>{{1, 1}}));
  EXPECT_EQ(ms_ssim_scales({23, 500}), (std::vector<Size>{{23, 500}}));
  EXPECT_EQ(ms_ssim_scales({49, 24}), (std::vector<Size>{{49, 24}, {24, 12}}));
  EXPECT_EQ(ms_ssim_scales({999, 777}).size(), kMsSsimScales);
  EXPECT_EQ(ssimulacra2_scales({7, 500}), std::vector<Size>{});
  EXPECT_EQ(ssimulacra2_scales({8, 31}), (std::vector<Size>{{8, 31}}));
  EXPECT_EQ(ssimulacra2_scales({15, 17}), (std::vector<Size>{{15, 17}, {8, 9}}));
  EXPECT_EQ(ssimulacra2_scales({999, 777}).size(), kSsimulacra2Scales);
}

TEST(ScoresDifference, IsThatOfTheMetricFarthestApart) {
  const Scores scores{40, 20, 20, 30, 80};
  EXPECT_EQ(difference(scores, scores), 0);
  for (const Metric metric : {psnr, psnr_hvs_m, ssimulacra2}) {
    Scores other = scores;
    other[metric] += 0.5;
    EXPECT_DOUBLE_EQ(difference(scores, other), 0.5) << kMetricNames[metric];
    EXPECT_DOUBLE_EQ(difference(other, scores), 0.5) << kMetricNames[metric];
  }
}

/// 20 dB are a similarity of 0.99, 30 dB one of 0.999; 80 and 90 dB are equal to eight digits.
TEST(ScoresDifference, ComparesSimilaritiesThemselves) {
  for (const Metric metric : {ssim, ms_ssim}) {
    Scores a{}, b{};
    a[metric] = 20, b[metric] = 30;
    EXPECT_NEAR(difference(a, b), 0.009, 1e-12);
    a[metric] = 80, b[metric] = 90;
    EXPECT_LT(difference(a, b), kSameScores);
  }
}

TEST(ScoresDifference, OfWhatIsNoNumber) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  Scores a{}, b{};
  a[psnr_hvs_m] = kNone;
  EXPECT_GT(difference(a, b), kSameScores);
  b[psnr_hvs_m] = kNone;
  EXPECT_EQ(difference(a, b), 0);
  b[psnr] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(difference(a, b) <= kSameScores);
}

}  // namespace
}  // namespace zerorun::rd
