// The meter on a GPU gives the sums and scores of the one on the CPU.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/cuda/cuda_meter.hpp"

#include <cmath>
#include <cstring>

#include "apps/bench/quality/hvs_block.hpp"
#include "apps/bench/quality/metrics.hpp"
#include "tests/cuda/quality/pairs.hpp"
#include "tests/support/gpu.hpp"

namespace zerorun::rd {
namespace {

using test::Content;
using test::grey;
using test::kContents;
using test::kDamages;
using test::picture;
using test::with_noise;

/// Each of the `count` values that are added has the same bits on both sides. In any order, their
/// sum is off by less than 2^-53 count of the sum of their magnitudes.
void expect_same_sum(double cpu, double gpu, double count, double magnitudes, const char* what) {
  EXPECT_NEAR(cpu, gpu, std::ldexp(count * magnitudes, -52)) << what;
}

void expect_same_errors(const ErrorSums& cpu, const ErrorSums& gpu, double count) {
  expect_same_sum(cpu.sum, gpu.sum, count, cpu.sum, "errors");
  expect_same_sum(cpu.fourth, gpu.fourth, count, cpu.fourth, "their fourth powers");
}

void expect_same_sums(const ScoreSums& cpu, const ScoreSums& gpu, Size size) {
  const auto count = static_cast<double>(size.pixels());
  const double frequencies = 64.0 * hvs_blocks(size.width) * hvs_blocks(size.height);
  expect_same_sum(cpu.squares, gpu.squares, count, cpu.squares, "squares");
  expect_same_sum(cpu.masked, gpu.masked, frequencies, cpu.masked, "masked");
  for (std::size_t scale = 0; scale < kMsSsimScales; ++scale) {
    // A similarity is -1 to 1.
    expect_same_sum(cpu.ssim[scale].structure, gpu.ssim[scale].structure, count, count,
                    "structure");
    expect_same_sum(cpu.ssim[scale].whole, gpu.ssim[scale].whole, count, count, "whole");
  }
  for (std::size_t scale = 0; scale < kSsimulacra2Scales; ++scale)
    for (std::size_t c = 0; c < 3; ++c) {
      SCOPED_TRACE(testing::Message() << "scale " << scale << ", component " << c);
      const FeatureSums &a = cpu.features[scale][c], &b = gpu.features[scale][c];
      expect_same_errors(a.structure, b.structure, count);
      expect_same_errors(a.artefact, b.artefact, count);
      expect_same_errors(a.lost, b.lost, count);
    }
}

class MetricsParity : public test::GpuTest {
 protected:
  CudaMeter& gpu() {
    if (!gpu_) {
      auto made = make_cuda_meter(0);
      EXPECT_TRUE(made) << made.status().message();
      gpu_ = *std::move(made);
    }
    return *gpu_;
  }

  ScoreSums gpu_sums(const Image& distorted) {
    const auto sums = gpu().sums(distorted);
    EXPECT_TRUE(sums) << sums.status().message();
    return sums ? *sums : ScoreSums{};
  }

  void expect_parity(const Image& original) {
    const Meter cpu(original);
    const Status status = gpu().set_original(original);
    ASSERT_TRUE(status) << status.message();
    const Size size{original.width, original.height};
    for (const auto& damage : kDamages) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", " << damage.name);
      const Image distorted = damage.make(original);
      const ScoreSums expected = cpu.sums(distorted), found = gpu_sums(distorted);
      expect_same_sums(expected, found, size);
      EXPECT_LE(difference(scores_of(expected, size), scores_of(found, size)), kSameScores);
    }
  }

 private:
  std::unique_ptr<CudaMeter> gpu_;
};

/// From one meter, whose memory keeps what the pictures before have left.
TEST_F(MetricsParity, SmallPicturesOfAllContents) {
  for (const Content content : kContents)
    for (const Size size : {Size{64, 48}, {1, 1}, {7, 5}, {8, 8}, {17, 33}, {33, 16}, {11, 90}}) {
      SCOPED_TRACE(name(content));
      expect_parity(picture(content, size.width, size.height));
    }
}

TEST_F(MetricsParity, OddPictures) {
  expect_parity(picture(Content::photo, 403, 317));
  expect_parity(picture(Content::extreme, 129, 257));
}

TEST_F(MetricsParity, LargePictures) {
  expect_parity(picture(Content::photo, 1283, 723));
  expect_parity(picture(Content::noise, 1283, 723));
  expect_parity(picture(Content::photo, 3840, 16));
  expect_parity(picture(Content::photo, 16, 3840));
}

TEST_F(MetricsParity, GreyPictures) {
  expect_parity(grey(Content::photo, 131, 77));
  expect_parity(grey(Content::checker, 64, 64));
}

TEST_F(MetricsParity, TheSamePictureHasTheSameBitsEachTime) {
  const Image original = picture(Content::photo, 131, 77), distorted = with_noise(original, 9);
  ASSERT_TRUE(gpu().set_original(original));
  const ScoreSums first = gpu_sums(distorted);
  EXPECT_GT(first.squares, 0);
  for (int i = 0; i < 5; ++i) {
    (void)gpu_sums(original);
    const ScoreSums again = gpu_sums(distorted);
    EXPECT_EQ(std::memcmp(&first, &again, sizeof first), 0);
  }
  auto other = make_cuda_meter(0);
  ASSERT_TRUE(other && (*other)->set_original(original));
  const auto again = (*other)->sums(distorted);
  ASSERT_TRUE(again);
  EXPECT_EQ(std::memcmp(&first, &*again, sizeof first), 0);
}

TEST_F(MetricsParity, AnEqualPictureIsPerfect) {
  const Image original = picture(Content::photo, 300, 280);
  ASSERT_TRUE(gpu().set_original(original));
  const Scores scores = scores_of(gpu_sums(original), {300, 280});
  EXPECT_EQ(scores[ssimulacra2], 100);
  EXPECT_GT(scores[ssim], 80);
  EXPECT_GT(scores[psnr], 100);
}

TEST_F(MetricsParity, AnotherSizeThanTheOriginalIsRefused) {
  EXPECT_FALSE(gpu().sums(picture(Content::flat, 8, 8)));  // there is no original yet
  ASSERT_TRUE(gpu().set_original(picture(Content::flat, 16, 8)));
  EXPECT_EQ(gpu().sums(picture(Content::flat, 8, 16)).status().code(), Errc::invalid_argument);
  EXPECT_TRUE(gpu().sums(picture(Content::flat, 16, 8)));
}

}  // namespace
}  // namespace zerorun::rd
