// The fast encoder against the reference stages: the same bytes on every instruction set.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "codec/arith/zigzag.hpp"
#include "tests/codec/fast/cpu_choice.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr int kThreads = 1;

std::vector<std::byte> encode(Encoder& encoder, const TestFrame& frame) {
  std::vector<std::byte> out;
  const auto report = encoder.encode(frame.view(), out);
  EXPECT_TRUE(report.is_ok()) << report.status().message();
  return out;
}

/// Any parameters, from a seed.
EncodeParams any_params(Random& random, int threads) {
  EncodeParams params;
  params.threads = threads;
  params.quality = random.between(1, 100);
  params.huffman = random.below(2) == 0 ? HuffmanTables::standard : HuffmanTables::optimal;
  const int restart = random.below(4);
  if (restart == 0) params.restart = RestartPolicy::none();
  if (restart == 1) params.restart = RestartPolicy::mcus(random.between(1, 9));
  if (restart == 2) params.restart = RestartPolicy::mcu_rows(1);
  if (random.below(2) == 0) {
    params.tune = kAllTunes[random.below(std::size(kAllTunes))];
    params.effort = kAllEfforts[random.below(std::size(kAllEfforts))];
    params.tables = kAllQuantTables[random.below(std::size(kAllQuantTables))];
  }
  return params;
}

void compare(const EncodeParams& params, const TestFrame& frame) {
  Encoder reference = make_encoder(InstructionSet::scalar, params);
  const std::vector<std::byte> wanted = encode(reference, frame);
  for (const InstructionSet target : fast_targets()) {
    Encoder encoder = make_encoder(target, params);
    ASSERT_TRUE(encode(encoder, frame) == wanted)
        << name(target) << ", quality " << params.quality << ", tables "
        << static_cast<int>(params.huffman) << ", restart " << static_cast<int>(params.restart.kind)
        << " " << params.restart.count;
  }
}

TEST(FastEncode, EverySizeAndSampling) {
  Random random(1);
  const int step = kSanitized ? 7 : 1;
  for (int height = 1; height <= 40; height += step)
    for (int width = 1; width <= 40; width += step)
      for (const Subsampling sampling : kAllSubsamplings) {
        EncodeParams params = any_params(random, kThreads);
        params.subsampling = sampling;
        const Content content = kContents[random.below(std::size(kContents))];
        const auto format = random.below(3) == 0 ? kAllFormats[random.below(kPixelFormatCount)]
                                                 : planar_format(sampling);
        const auto layout = static_cast<Layout>(random.below(3));
        const TestFrame frame = make_frame(content, format, width, height, random.next(), layout);
        compare(params, frame);
        if (HasFatalFailure())
          FAIL() << width << "x" << height << " " << name(format) << " as " << name(sampling)
                 << ", " << name(content);
      }
}

TEST(FastEncode, ClippedBlocksOfText) {
  for (const Subsampling sampling : {Subsampling::s420, Subsampling::s444, Subsampling::gray})
    for (const Effort effort : kAllEfforts)
      for (const int quality : {1, 20, 50, 75, 90, 97, 100}) {
        EncodeParams params;
        params.tune = Tune::text;
        params.effort = effort;
        params.quality = quality;
        params.subsampling = sampling;
        params.threads = kThreads;
        const PixelFormat format = planar_format(sampling);
        for (const int width : {131, 300})
          compare(params, make_clipped_frame(format, width, 77, 4));
        if (HasFatalFailure()) FAIL() << name(sampling) << " " << name(effort);
      }
}

TEST(FastEncode, EveryDivisor) {
  // All entries 1..255 in every column and row, with samples that reach the largest coefficients.
  for (int first = 1; first <= 255; first += kSanitized ? 50 : 3) {
    EncodeParams params;
    params.threads = kThreads;
    params.luma_table.emplace();
    for (int i = 0; i < kBlockSize; ++i)
      (*params.luma_table)[static_cast<std::size_t>(i)] =
          static_cast<std::uint16_t>((first + 4 * i - 1) % 255 + 1);
    params.chroma_table = params.luma_table;
    std::reverse(params.chroma_table->begin(), params.chroma_table->end());
    params.tune = first % 2 == 0 ? Tune::exact : first % 8 < 4 ? Tune::photo : Tune::text;
    params.effort = first % 4 == 1 ? Effort::best : Effort::fast;
    for (const Content content : {Content::checker, Content::noise, Content::extreme})
      compare(params, make_frame(content, PixelFormat::yuv444p, 65, 33, 5));
    if (HasFatalFailure()) FAIL() << "from " << first;
  }
}

TEST(FastEncode, LargePicturesOnSeveralThreads) {
  Random random(2);
  for (int i = 0; i < (kSanitized ? 6 : 40); ++i) {
    const auto format = kAllFormats[random.below(kPixelFormatCount)];
    EncodeParams params = any_params(random, random.between(1, 4));
    const TestFrame frame =
        make_frame(kContents[random.below(std::size(kContents))], format, random.between(300, 1100),
                   random.between(200, 500), random.next(), Layout::padded);
    compare(params, frame);
    if (HasFatalFailure()) FAIL() << "picture " << i << " " << name(format);
  }
}

}  // namespace
}  // namespace zerorun::test
