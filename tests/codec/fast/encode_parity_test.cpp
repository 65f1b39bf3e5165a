// The fast encoder against the reference stages: the same bytes on every instruction set.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "codec/arith/zigzag.hpp"
#include "tests/codec/fast/any_stream.hpp"
#include "tests/support/extreme_block.hpp"
#include "tests/support/resources.hpp"

namespace zerorun::test {
namespace {

constexpr int kThreads = 1;

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

void compare(EncodeParams params, const TestFrame& frame) {
  params.instruction_set = InstructionSet::scalar;
  const Bytes wanted = encoded_on_cpu(frame.view(), params);
  for (const InstructionSet target : fast_targets()) {
    params.instruction_set = target;
    ASSERT_TRUE(encoded_on_cpu(frame.view(), params) == wanted)
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

/// At the ends of all ranges, and at random.
std::vector<BlockSamples> hard_blocks() {
  std::vector<BlockSamples> blocks;
  for (std::size_t at = 0; at < kBlockSize; ++at)
    for (const bool reverse : {false, true}) blocks.push_back(extreme(at, reverse));
  for (std::size_t at = 0; at < kBlockSize; ++at) {  // one sample alone
    blocks.emplace_back().fill(0);
    blocks.back()[at] = 255;
  }
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    const bool two_values = round % 2 == 0;
    for (auto& sample : blocks.emplace_back())
      sample = static_cast<std::uint8_t>(two_values ? 255 * random.below(2) : random.below(256));
  }
  return blocks;
}

/// The forward transform, of samples that text moves beyond their range, too; with divisors that
/// are the same at all places or none is.
TEST(FastEncode, HardBlocks) {
  const std::vector<BlockSamples> blocks = hard_blocks();
  for (const Tune tune : {Tune::exact, Tune::text})
    for (const int q : {1, 2, 3, 16, 99, 254, 255, 0}) {
      EncodeParams params;
      params.threads = kThreads;
      params.tune = tune;
      params.luma_table.emplace();
      for (std::size_t i = 0; i < kBlockSize; ++i)
        (*params.luma_table)[i] =
            static_cast<std::uint16_t>(q != 0 ? q : static_cast<int>(1 + 3 * i));
      constexpr std::size_t kMost = 24;  // blocks side by side: several vectors, and a part of one
      for (std::size_t from = 0; from < blocks.size();) {
        const std::size_t count = std::min(blocks.size() - from, 1 + from % kMost);
        TestFrame frame(PixelFormat::gray8, static_cast<int>(8 * count), 8);
        for (std::size_t i = 0; i < count * kBlockSize; ++i)
          frame.row(0, static_cast<int>(i % kBlockSize / 8))[i / kBlockSize * 8 + i % 8] =
              blocks[from + i / kBlockSize][i % kBlockSize];
        compare(params, frame);
        if (HasFatalFailure()) FAIL() << name(tune) << " divisor " << q << ", from block " << from;
        from += count;
      }
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
