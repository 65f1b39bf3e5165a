// Trained Huffman tables: a code for every symbol, and streams of the same coefficients.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "codec/syntax/huffman_spec.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::byte>;

/// DC categories 0 to 11; AC: EOB, ZRL, and runs of 0 to 15 before categories 1 to 10.
std::set<int> symbols_of_baseline(bool is_dc) {
  std::set<int> symbols;
  for (int size = 0; size <= 11 && is_dc; ++size) symbols.insert(size);
  for (int run = 0; run < 16 && !is_dc; ++run)
    for (int size = 1; size <= 10; ++size) symbols.insert(run << 4 | size);
  if (!is_dc) symbols.insert({0x00, 0xF0});
  return symbols;
}

TEST(TrainedCodes, HaveACodeForEverySymbol) {
  for (const Tune tune : kAllTunes)
    for (const bool is_420 : {false, true})
      for (int quality = 16; quality <= 1600; ++quality) {
        const auto& specs = trained_huffman_specs(tune, is_420, quality);
        for (int t = 0; t < 4; ++t) {
          const HuffmanSpec& spec = specs[static_cast<std::size_t>(t)];
          const bool is_dc = t < 2;
          ASSERT_TRUE(check_huffman_spec(spec, is_dc));
          const std::set<int> found(spec.values.begin(), spec.values.begin() + spec.count());
          ASSERT_EQ(found, symbols_of_baseline(is_dc));
          ASSERT_EQ(static_cast<int>(found.size()), spec.count());
          // The bits of a DC difference stay within what Annex K's tables may take.
          for (std::size_t length = 12; is_dc && length <= 16; ++length)
            ASSERT_EQ(spec.bits[length], 0);
        }
      }
}

TEST(TrainedCodes, ChangeNothingButTheCode) {
  for (const Tune tune : kAllTunes)
    for (const Effort effort : kAllEfforts)
      for (const Content content : kContents)
        for (const PixelFormat format :
             {PixelFormat::yuv420p, PixelFormat::yuv444p, PixelFormat::gray8})
          for (const int quality : {1, 40, 75, 90, 100}) {
            EncodeParams params = cpu_params(tune, effort, HuffmanTables::trained);
            params.quality = quality;
            const TestFrame frame = make_frame(content, format, 77, 50, 3);
            const Bytes trained = encoded_on_cpu(frame.view(), params);
            EncodeParams scalar = params;
            scalar.instruction_set = InstructionSet::scalar;
            EXPECT_EQ(encoded_on_cpu(frame.view(), scalar), trained);
            params.huffman = HuffmanTables::standard;
            EXPECT_TRUE(same_coefficients(trained, encoded_on_cpu(frame.view(), params)))
                << name(tune) << " " << quality;
          }
}

/// One encoder, whose tables change with quality, sampling and back.
TEST(TrainedCodes, FollowTheQuality) {
  EncodeParams params = cpu_params(Tune::photo, Effort::fast, HuffmanTables::trained);
  auto encoder = Encoder::create(params);
  ASSERT_TRUE(encoder);
  for (const int quality : {95, 20, 75, 95, 100, 1})
    for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::yuv422p}) {
      const TestFrame frame = make_frame(Content::photo, format, 320, 200, 4);
      ASSERT_TRUE(encoder->set_quality(quality));
      Bytes out;
      ASSERT_TRUE(encoder->encode(frame.view(), out));
      params.quality = quality;
      EXPECT_EQ(out, encoded_on_cpu(frame.view(), params));
    }
}

}  // namespace
}  // namespace zerorun::test
