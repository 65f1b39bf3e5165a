// The encoder writes libjpeg-turbo's bytes, for planes and for pixels.
// SPDX-License-Identifier: MIT
#include <string>

#include "tests/oracle/compare.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr int kQualities[] = {1, 2, 5, 10, 24, 25, 49, 50, 51, 75, 85, 90, 95, 99, 100};

std::string describe(const EncodeParams& params, int width, int height, Content content) {
  return std::string(name(content)) + " " + to_string(Size{width, height}) + ", quality " +
         std::to_string(params.quality) +
         (params.huffman == HuffmanTables::optimal ? ", optimal" : ", standard") + ", restart " +
         std::to_string(static_cast<int>(params.restart.kind)) + ":" +
         std::to_string(params.restart.count);
}

RestartPolicy some_restart(Random& random) {
  switch (random.below(6)) {
    case 0:
      return RestartPolicy::mcus(1);
    case 1:
      return RestartPolicy::mcus(7);
    case 2:
      return RestartPolicy::mcu_rows(1);
    case 3:
      return RestartPolicy::mcu_rows(2);
    default:
      return RestartPolicy::none();
  }
}

EncodeParams some_params(Random& random) {
  EncodeParams params;
  params.quality = kQualities[random.below(std::size(kQualities))];
  params.huffman = random.below(2) == 0 ? HuffmanTables::standard : HuffmanTables::optimal;
  params.restart = some_restart(random);
  params.threads = random.between(1, 3);
  return params;
}

void compare_planes(Content content, Subsampling sampling, int width, int height,
                    const EncodeParams& params, std::uint64_t seed) {
  SCOPED_TRACE(describe(params, width, height, content));
  const TestFrame frame = make_frame(content, planar_format(sampling), width, height, seed);
  EXPECT_TRUE(same_stream(encoded_on_cpu(frame.view(), params),
                          libjpeg_encode_frame(frame.view(), libjpeg_options(params))));
}

/// Encodes RGB pixels, down-sampled to `sampling` (gray: luma alone).
void compare_pixels(Content content, Subsampling sampling, int width, int height,
                    EncodeParams params, std::uint64_t seed) {
  SCOPED_TRACE(describe(params, width, height, content));
  const TestFrame frame = make_frame(content, PixelFormat::rgb24, width, height, seed);
  params.subsampling = sampling;
  LibjpegOptions options = libjpeg_options(params);
  options.factors = factors_of(sampling);
  const Bytes expected = libjpeg_encode_pixels(width, height, PixelInput::rgb, frame.row(0, 0),
                                               3 * width, options, sampling == Subsampling::gray);
  EXPECT_TRUE(same_stream(encoded_on_cpu(frame.view(), params), expected));
}

class EncodeBytes : public testing::TestWithParam<Subsampling> {};

/// `compare` is compare_planes() or compare_pixels().
template <typename Compare>
void compare_small_sizes(std::uint64_t seed, Subsampling sampling, const Compare& compare) {
  Random random(seed + static_cast<std::uint64_t>(sampling));
  for (int i = 0; i < (kSanitized ? 80 : 600) && !testing::Test::HasFailure(); ++i) {
    const int width = random.between(1, 40), height = random.between(1, 40);
    const Content content = kContents[random.below(std::size(kContents))];
    compare(content, sampling, width, height, some_params(random), random.next());
  }
}

TEST_P(EncodeBytes, PlanesOfSmallOddSizes) {
  compare_small_sizes(1000, GetParam(), compare_planes);
}

TEST_P(EncodeBytes, PlanesOfLargerPictures) {
  Random random(5);
  for (const Size size : {Size{641, 363}, Size{257, 129}, Size{1999, 9}, Size{5, 1033}})
    for (int i = 0; i < (kSanitized ? 1 : 3); ++i) {
      compare_planes(Content::photo, GetParam(), size.width, size.height, some_params(random),
                     random.next());
      if (HasFailure()) return;
    }
}

TEST_P(EncodeBytes, PixelsOfSmallOddSizes) {
  compare_small_sizes(2000, GetParam(), compare_pixels);
}

TEST_P(EncodeBytes, PixelsOfLargerPictures) {
  Random random(6);
  compare_pixels(Content::photo, GetParam(), 641, 363, some_params(random), 1);
  compare_pixels(Content::noise, GetParam(), 333, 222, some_params(random), 2);
}

TEST_P(EncodeBytes, OwnQuantisationTables) {
  Random random(9);
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    EncodeParams params;
    params.restart = RestartPolicy::none();
    QuantTable luma{}, chroma{};
    for (std::size_t k = 0; k < 64; ++k) {
      luma[k] = static_cast<std::uint16_t>(random.between(1, i < 10 ? 16 : 255));
      chroma[k] = static_cast<std::uint16_t>(random.between(1, 255));
    }
    params.luma_table = luma;
    if (i % 2 == 0) params.chroma_table = chroma;
    compare_planes(Content::noise, GetParam(), 40, 24, params, static_cast<std::uint64_t>(i));
  }
}

TEST_P(EncodeBytes, EveryQualityHasLibjpegsTables) {
  for (int quality = 1; quality <= 100 && !HasFailure(); ++quality) {
    EncodeParams params;
    params.quality = quality;
    params.restart = RestartPolicy::none();
    compare_planes(Content::photo, GetParam(), 24, 16, params, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(AllSamplings, EncodeBytes, testing::ValuesIn(kAllSubsamplings),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace zerorun::test
