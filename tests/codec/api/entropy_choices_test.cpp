// Trained Huffman tables: a code for every symbol, and streams of the same coefficients. And
// progressive streams of the encoder: the coefficients of the baseline stream, in fewer bytes, for
// every tune, size and number of threads. Reuse.EncoderForgetsTheFrameBefore has other shapes one
// after another, EncodeInput.TheBoundHoldsForTheWorstPictures the bound.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "codec/syntax/tables.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::byte>;

EncodeParams progressive(Tune tune = Tune::exact, Effort effort = Effort::fast) {
  EncodeParams params = cpu_params(tune, effort, HuffmanTables::standard);
  params.progressive = true;
  return params;
}

TEST(ProgressiveEncoder, HasTheCoefficientsOfTheBaselineStream) {
  Random random(3);
  for (const Tune tune : kAllTunes)
    for (const Effort effort : kAllEfforts)
      for (const Subsampling sampling : kAllSubsamplings)
        for (const bool is_small : {true, false}) {
          if (kSanitized && !is_small && sampling != Subsampling::s420) continue;
          const int width = is_small ? random.between(1, 70) : 520, height = is_small ? 41 : 333;
          SCOPED_TRACE(std::string(name(tune)) + " " + std::string(name(effort)) + " " +
                       std::string(name(sampling)) + " " + std::to_string(width));
          const TestFrame frame = make_frame(Content::photo, PixelFormat::rgb24, width, height, 7);
          EncodeParams params = progressive(tune, effort);
          params.subsampling = sampling;
          params.quality = random.between(30, 100);
          const Bytes scans = encoded_on_cpu(frame.view(), params);
          for (const InstructionSet set : {InstructionSet::scalar, InstructionSet::best}) {
            params.instruction_set = set;
            params.threads = 3;
            EXPECT_EQ(encoded_on_cpu(frame.view(), params), scans);
          }
          params.progressive = false;
          params.huffman = HuffmanTables::optimal;
          params.restart = RestartPolicy::none();
          const Bytes baseline = encoded_on_cpu(frame.view(), params);
          EXPECT_TRUE(same_coefficients(scans, baseline));
          if (!is_small) {
            EXPECT_LT(scans.size(), baseline.size());
          }
          const auto info = inspect(scans);
          ASSERT_TRUE(info);
          EXPECT_TRUE(info->progressive);
          if (HasFailure()) return;
        }
}

TEST(ProgressiveEncoder, HuffmanTablesDoNotCount) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 200, 100, 7);
  EncodeParams params = progressive();
  const Bytes scans = encoded_on_cpu(frame.view(), params);
  for (const HuffmanTables huffman : {HuffmanTables::optimal, HuffmanTables::trained}) {
    params.huffman = huffman;
    EXPECT_EQ(encoded_on_cpu(frame.view(), params), scans);
  }
}

/// The numbers of all DRI segments.
std::set<int> sent_intervals(const Bytes& jpeg) {
  const auto at = [&](std::size_t i) { return std::to_integer<int>(jpeg[i]); };
  std::set<int> intervals;
  for (std::size_t i = 0; i + 5 < jpeg.size(); ++i)
    if (at(i) == 0xFF && at(i + 1) == 0xDD) intervals.insert(at(i + 4) << 8 | at(i + 5));
  return intervals;
}

TEST(ProgressiveEncoder, RestartIntervalsCountTheMcusOfEachScan) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 203, 131, 7);
  EncodeParams params = progressive();
  const Bytes none = encoded_on_cpu(frame.view(), params);
  params.restart = RestartPolicy::none();
  EXPECT_EQ(encoded_on_cpu(frame.view(), params), none);
  for (const RestartPolicy& restart : {RestartPolicy::mcus(1), RestartPolicy::mcus(13),
                                       RestartPolicy::mcu_rows(1), RestartPolicy::mcu_rows(40)}) {
    params.restart = restart;
    EncodeReport report;
    const Bytes scans = encoded_on_cpu(frame.view(), params, &report);
    EXPECT_TRUE(same_coefficients(scans, none));
    // An MCU of luma alone is a block, and there are twice as many in a row.
    const bool is_rows = restart.kind == RestartPolicy::Kind::mcu_rows;
    std::set<int> wanted{restart.count};
    if (is_rows) wanted = {13 * restart.count, 26 * restart.count};
    EXPECT_EQ(sent_intervals(scans), wanted);
    EXPECT_EQ(report.restart_interval_mcus, restart.count * (is_rows ? 13 : 1));
  }
  params.restart = RestartPolicy::mcu_rows(60000);
  EXPECT_EQ(
      Encoder::create(params)->encode(frame.view(), *std::make_unique<Bytes>()).status().code(),
      Errc::invalid_argument);
}

TEST(ProgressiveEncoder, ReachesSizes) {
  int near = 0, all = 0;
  for (const Tune tune : kAllTunes)
    for (const std::size_t target : {9000u, 30000u, 61000u, 100000u, 170000u}) {
      if (kSanitized && target > 61000) continue;
      SCOPED_TRACE(std::string(name(tune)) + " " + std::to_string(target));
      EncodeParams params = progressive(tune, target > 50000 ? Effort::fast : Effort::best);
      params.size.target_bytes = target;
      params.note_setting = true;
      const bool is_large = target > 50000;  // one whose sample is counted
      const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p,
                                         is_large ? 1500 : 600, is_large ? 900 : 400, target);
      EncodeReport report;
      const Bytes scans = encoded_on_cpu(frame.view(), params, &report);
      EXPECT_EQ(report.bytes, scans.size());
      EXPECT_LE(scans.size(), target);
      ++all;
      near += scans.size() + target / 200 >= target ? 1 : 0;
      params.threads = 4;
      EXPECT_EQ(encoded_on_cpu(frame.view(), params), scans);
    }
  EXPECT_GE(near, all - 1);
}

TEST(ProgressiveEncoder, CapsAndQualityTargetsCountIt) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 640, 400, 4);
  EncodeParams params = progressive(Tune::photo, Effort::best);
  const Bytes plain = encoded_on_cpu(frame.view(), params);
  params.size.max_bytes = plain.size();
  EXPECT_EQ(encoded_on_cpu(frame.view(), params), plain);
  params.size.max_bytes = plain.size() * 4 / 5;
  const Bytes capped = encoded_on_cpu(frame.view(), params);
  EXPECT_LE(capped.size(), params.size.max_bytes);
  EXPECT_GE(capped.size(), params.size.max_bytes * 199 / 200);
  params.size = {};
  params.size.target_psnr = 36;
  EncodeReport report, baseline;
  const Bytes near = encoded_on_cpu(frame.view(), params, &report);
  EXPECT_GE(report.reached, 36.0);
  params.progressive = false;
  params.restart = RestartPolicy::none();
  const Bytes sequential = encoded_on_cpu(frame.view(), params, &baseline);
  EXPECT_EQ(report.quality, baseline.quality);
  EXPECT_TRUE(same_coefficients(near, sequential));
}

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
      for (int quality = 16; quality <= 1600; quality += 16) {
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
  Encoder encoder = cpu_encoder(params);
  for (const int quality : {95, 20, 75, 95, 100, 1})
    for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::yuv422p}) {
      const TestFrame frame = make_frame(Content::photo, format, 320, 200, 4);
      ASSERT_TRUE(encoder.set_quality(quality));
      params.quality = quality;
      EXPECT_EQ(encoded_by(encoder, frame.view()), encoded_on_cpu(frame.view(), params));
    }
}

}  // namespace
}  // namespace zerorun::test
