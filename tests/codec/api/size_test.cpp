// Streams of a wanted size: never above it, and at most 0.5 % below where the picture can fill it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "codec/arith/size_plan.hpp"
#include "codec/arith/tune.hpp"
#include "codec/pipeline/size_control.hpp"
#include "codec/syntax/tables.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::byte>;

/// Of any run of blocks in a row, a column or a square, about the same share comes before a turn.
TEST(SizeArith, TurnsAreSpreadEvenly) {
  for (const int wide : {1, 8, 64})
    for (int at = 0; at < 3000; at += 101)
      for (const std::uint32_t turn : {16u, 64u, 128u, 200u}) {
        int before = 0;
        for (int i = 0; i < 64; ++i)
          before += turn_of_block(at % 3, at + i % wide, 7 * at + i / wide) < turn ? 1 : 0;
        EXPECT_NEAR(before, static_cast<int>(turn) / 4, 7) << wide << " " << turn;
      }
}

/// Bits of all symbols with their appended bits.
std::uint64_t bits_with(const std::uint32_t (&counts)[256], const HuffmanSpec& spec) {
  std::uint64_t bits = 0;
  std::size_t next = 0;
  for (std::size_t length = 1; length <= kMaxCodeBits; ++length)
    for (int i = 0; i < spec.bits[length]; ++i) {
      const std::uint8_t symbol = spec.values[next++];
      bits += std::uint64_t{counts[symbol]} * (length + (symbol & 15u));
    }
  return bits;
}

/// Exactly where codes are known; for optimal ones nearly, and never more.
TEST(SizeArith, CountedSizeIsThatOfTheCodes) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    SymbolCounts counts{};
    for (int t = 0; t < kEncodeTables; ++t)
      for (int i = 0; i < 256; ++i)
        if (t >= 2 ? i % 16 != 0 || i == kEob || i == kZrl : i < 12)
          counts.count[t][i] = static_cast<std::uint32_t>(random.below(1 << random.below(20)));
    EncodeSetup setup{};
    setup.fixed_specs = &standard_huffman_specs();
    std::uint64_t fixed = 0, optimal = 0;
    for (std::size_t t = 0; t < kEncodeTables; ++t) {
      // Annex K has no codes for sizes above 10 of AC.
      for (int i = 0; t >= 2 && i < 256; ++i)
        if (i % 16 > 10) counts.count[t][i] = 0;
      fixed += bits_with(counts.count[t], standard_huffman_specs()[t]);
      optimal += bits_with(counts.count[t], optimal_huffman_spec(counts.count[t]));
    }
    EXPECT_EQ(size_of_counts(counts, setup).bits, fixed);
    setup.huffman = HuffmanTables::optimal;
    const CountedSize counted = size_of_counts(counts, setup);
    EXPECT_LE(counted.bits, optimal);
    EXPECT_GE(counted.bits * 100, optimal * 97);
    EXPECT_GT(counted.kinds, 200u);
  }
  EncodeSetup setup{};
  setup.huffman = HuffmanTables::optimal;
  SymbolCounts one{};
  one.count[0][3] = 1000;
  EXPECT_EQ(size_of_counts(one, setup).bits, 4000u);  // a code has one bit at least
  EXPECT_EQ(size_of_counts(one, setup).kinds, 1u);
}

SizeTask task_of(std::uint64_t target, std::uint64_t counted_blocks) {
  return {SizeWindow::of(target), 0, 600, 100000, counted_blocks, {kMostQuality, 0}, false};
}

/// Counts that have nothing to do with the sizes lead nowhere, but soon.
TEST(SizePlan, EndsWhateverTheCountsAre) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const auto below = [&](int bound) { return static_cast<std::uint64_t>(random.below(bound)); };
    SizeTask task = task_of(1 + below(100000), seed % 2 == 0 ? 100000 : 4000);
    task.tries_most = seed % 3 == 0;
    task.most.thrift = static_cast<int>(random.below(2));
    const auto at = [](const SizeSetting& setting) {
      return static_cast<std::uint64_t>(setting.quality_16ths * 2048 + setting.thrift);
    };
    const int scale = random.below(44);
    SizePlan plan;
    plan.start(task, kPhotoCurve);
    for (int steps = 0; plan.step() != SizePlan::Step::done; ++steps) {
      ASSERT_LE(steps, SizePoints::kMost + SizePlan::most_codings(task));
      ASSERT_GE(plan.setting().quality_16ths, kLeastQuality);
      ASSERT_LE(plan.setting().quality_16ths, kMostQuality);
      ASSERT_GE(plan.setting().thrift, 0);
      ASSERT_LE(plan.setting().thrift, kMostThrift);
      if (plan.step() == SizePlan::Step::count)
        plan.add_count({below(1 << 16) << scale >> 14, 0}, kPhotoCurve);
      else
        plan.add_code(1 + Random(seed * 5000000 + at(plan.setting())).next() % 200000, kPhotoCurve);
    }
    EXPECT_TRUE(!plan.is_reached() || plan.bytes() <= task.window.most);
  }
}

/// How far the entries are from those of other tables, in all.
int distance(const std::array<QuantTable, 2>& a, const std::array<QuantTable, 2>& b) {
  int sum = 0;
  for (std::size_t t = 0; t < 2; ++t)
    for (std::size_t i = 0; i < 64; ++i) sum += std::abs(a[t][i] - b[t][i]);
  return sum;
}

TEST(QuantTablesBetween, LeadFromOneQualityToTheNext) {
  for (const QuantTables tables : {QuantTables::annex_k, QuantTables::flat, QuantTables::tuned})
    for (int quality = 1; quality < 100; ++quality) {
      const auto from = named_quant_tables(tables, Subsampling::s420, quality);
      const auto to = named_quant_tables(tables, Subsampling::s420, quality + 1);
      EXPECT_EQ(quant_tables_between(tables, Subsampling::s420, 16 * quality), from);
      auto before = from;
      for (int part = 1; part < 16; ++part) {
        const auto now = quant_tables_between(tables, Subsampling::s420, 16 * quality + part);
        for (std::size_t t = 0; t < 2; ++t)
          for (std::size_t i = 0; i < 64; ++i) {
            const auto [low, high] = std::minmax(before[t][i], to[t][i]);
            EXPECT_TRUE(now[t][i] >= low && now[t][i] <= high);
          }
        // Part of the way, and not all entries at once.
        const int all = distance(from, to);
        EXPECT_NEAR(distance(from, now), all * part / 16.0, all / 8.0 + 8)
            << quality << " " << part;
        before = now;
      }
    }
}

/// A tile is found again in the frame at a multiple of 32 pixels.
TEST(SampleTiles, AreTilesOfTheFrame) {
  for (const PixelFormat format : kAllFormats) {
    const TestFrame frame = make_frame(Content::noise, format, 1031, 719, 5, Layout::bottom_up);
    Frame sample;
    auto made = sample_tiles(frame.view(), sample);
    ASSERT_TRUE(made && *made);
    const ConstFrameView view = std::as_const(sample).view();
    EXPECT_EQ(view.width % 32 + view.height % 32, 0);
    for (int p = 0; p < plane_count(format); ++p) {
      const std::size_t tile = plane_row_bytes(format, p, 32);
      const std::size_t step = plane_row_bytes(format, p, 32);
      const int rows = plane_rows(format, p, 32);
      const auto plane = static_cast<std::size_t>(p);
      const std::uint8_t* wanted = view.data[plane] + tile;
      const auto is_at = [&](std::size_t x, int y) {
        for (int row = 0; row < rows; ++row)
          if (std::memcmp(frame.row(p, y + row) + x, wanted + row * view.stride_bytes[plane],
                          tile) != 0)
            return false;
        return true;
      };
      bool found = false;
      for (int y = 0; y + rows <= frame.rows(p) && !found; y += rows)
        for (std::size_t x = 0; x + tile <= frame.row_bytes(p) && !found; x += step)
          found = is_at(x, y);
      EXPECT_TRUE(found) << name(format) << " plane " << p;
    }
  }
  const TestFrame small = make_frame(Content::noise, PixelFormat::gray8, 640, 480, 5);
  Frame sample;
  auto made = sample_tiles(small.view(), sample);
  ASSERT_TRUE(made);
  EXPECT_FALSE(*made);
}

std::size_t size_at(const EncodeParams& params, const ConstFrameView& frame, int quality) {
  EncodeParams fixed = params;
  fixed.size = {};
  fixed.quality = quality;
  return encoded_on_cpu(frame, fixed).size();
}

struct Tally {
  int above = 0, within = 0, all = 0, codings = 0;
};

/// Targets from that of quality 20 to that of quality 97.
void try_targets(const EncodeParams& given, const ConstFrameView& frame, int targets,
                 Tally& tally) {
  const auto low = static_cast<double>(size_at(given, frame, 20));
  const auto high = static_cast<double>(size_at(given, frame, 97));
  EncodeParams params = given;
  params.size.target_bytes = 1;
  Encoder encoder = cpu_encoder(params);
  Bytes out;
  for (int n = 0; n < targets; ++n) {
    const auto target = static_cast<std::size_t>(low * std::pow(high / low, (n + 0.5) / targets));
    ASSERT_TRUE(encoder.set_size({target, 0}));
    const auto report = encoder.encode(frame, out);
    ASSERT_TRUE(report) << report.status().message();
    EXPECT_EQ(report->bytes, out.size());
    Pixels pixels;
    EXPECT_TRUE(libjpeg_pixels(out, PixelOutput::rgb, true, pixels).clean());
    ++tally.all;
    tally.codings += report->codings;
    tally.above += out.size() > target ? 1 : 0;
    tally.within += out.size() <= target && out.size() >= target - target / 200 ? 1 : 0;
  }
}

/// Noise at the highest qualities, and squares of black and white, jump by more than 0.5 % where an
/// entry of a table changes, and thrift has little to take there: one of 48 may miss.
void expect_exact(const Tally& tally, const char* what) {
  std::printf("%s: %d streams, %d above, %d within 0.5 %%, %.2f codings of each\n", what, tally.all,
              tally.above, tally.within, static_cast<double>(tally.codings) / tally.all);
  EXPECT_EQ(tally.above, 0) << what;
  EXPECT_GE(tally.within * 48, tally.all * 47) << what;
}

TEST(TargetSize, SmallPicturesHaveIt) {
  Tally tally;
  for (const Content content : {Content::photo, Content::noise, Content::checker})
    for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal})
      for (const Tune tune : {Tune::exact, Tune::photo}) {
        const TestFrame frame = make_frame(content, PixelFormat::yuv420p, 320, 240, 3);
        try_targets(cpu_params(tune, Effort::best, huffman), frame.view(), 4, tally);
      }
  expect_exact(tally, "small pictures");
}

TEST(TargetSize, LargePicturesHaveItAfterTwoCodings) {
  Tally tally;
  for (const Content content : {Content::photo, Content::noise})
    for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal})
      for (const Tune tune : {Tune::exact, Tune::photo}) {
        const TestFrame frame = make_frame(content, PixelFormat::rgb24, 1000, 540, 3);
        try_targets(cpu_params(tune, Effort::fast, huffman), frame.view(), 3, tally);
      }
  expect_exact(tally, "large pictures");
  EXPECT_LE(tally.codings, 3 * tally.all);
}

TEST(TargetSize, BytesDoNotDependOnThreadsAndInstructions) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv422p, 1024, 640, 9);
  Bytes first;
  for (const int threads : {1, 3})
    for (const InstructionSet set : {InstructionSet::best, InstructionSet::scalar}) {
      EncodeParams params = cpu_params(Tune::photo, Effort::best, HuffmanTables::optimal);
      params.threads = threads;
      params.instruction_set = set;
      params.size.target_bytes = 90000;
      const Bytes out = encoded_on_cpu(frame.view(), params);
      if (first.empty()) first = out;
      EXPECT_EQ(out, first);
    }
}

TEST(TargetSize, OneColourIsCodedAsWellAsItCanBe) {
  const TestFrame frame = make_frame(Content::flat, PixelFormat::yuv420p, 1024, 640, 1);
  EncodeParams params = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
  const std::size_t most = size_at(params, frame.view(), 100);
  params.size.target_bytes = 200000;
  EncodeReport report;
  EXPECT_EQ(encoded_on_cpu(frame.view(), params, &report).size(), most);
  EXPECT_EQ(report.quality, 100.0);
  EXPECT_EQ(report.thrift, 1);
}

TEST(TargetSize, WhatCannotBeReachedIsSaid) {
  for (const int width : {64, 1280}) {
    const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv420p, width, 720, 1);
    EncodeParams params = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
    params.size.target_bytes = 900;
    Encoder encoder = cpu_encoder(params);
    Bytes out;
    const auto report = encoder.encode(frame.view(), out);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.status().code(), Errc::size_not_reached);
    EXPECT_NE(report.status().message().find("900 were asked for; ask for more"), std::string::npos)
        << report.status().message();
    // The encoder goes on.
    ASSERT_TRUE(encoder.set_size({}));
    EXPECT_TRUE(encoder.encode(frame.view(), out));
  }
}

TEST(TargetSize, ThePictureMayOverrunWithItsSmallestStreamAlone) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 320, 240, 4);
  EncodeParams params = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
  params.size.target_bytes = 900;
  params.size.overrun_bytes = 100000;
  Encoder encoder = cpu_encoder(params);
  Bytes smallest, out;
  const auto report = encoder.encode(frame.view(), smallest);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->quality, 1.0);
  EXPECT_EQ(report->bytes, smallest.size());
  EXPECT_GT(smallest.size(), 900u);
  params.size.overrun_bytes = smallest.size();
  ASSERT_TRUE(encoder.set_size(params.size));
  ASSERT_TRUE(encoder.encode(frame.view(), out));
  EXPECT_EQ(out, smallest);
  params.size.overrun_bytes = smallest.size() - 1;
  ASSERT_TRUE(encoder.set_size(params.size));
  const auto refused = encoder.encode(frame.view(), out);
  EXPECT_EQ(refused.status().code(), Errc::size_not_reached);
  EXPECT_NE(
      refused.status().message().find("there is room for " + std::to_string(smallest.size() - 1)),
      std::string::npos)
      << refused.status().message();
  // A picture that reaches its size overruns nothing.
  params.size = {9000, 0};
  ASSERT_TRUE(encoder.set_size(params.size));
  Bytes plain;
  ASSERT_TRUE(encoder.encode(frame.view(), plain));
  params.size.overrun_bytes = 50000;
  ASSERT_TRUE(encoder.set_size(params.size));
  ASSERT_TRUE(encoder.encode(frame.view(), out));
  EXPECT_EQ(out, plain);
}

/// Own tables have no quality.
TEST(NotedSetting, IsWhatTheTablesAre) {
  const auto note_of = [](const EncodeParams& params, PixelFormat format) {
    const TestFrame frame = make_frame(Content::photo, format, 64, 48, 4);
    const Bytes out = encoded_on_cpu(frame.view(), params);
    const std::string text(reinterpret_cast<const char*>(out.data()), out.size());
    const std::size_t at = text.find("zerorun: ");
    if (at == std::string::npos) return std::string();
    const auto length = static_cast<unsigned char>(text[at - 1]);  // of the segment
    return text.substr(at, length - 2u);
  };
  EncodeParams params = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
  params.note_setting = true;
  params.quality = 77;
  EXPECT_EQ(note_of(params, PixelFormat::yuv420p), "zerorun: quality 077.0000 thrift 0000");
  QuantTable table;
  table.fill(9);
  params.chroma_table = table;
  EXPECT_EQ(note_of(params, PixelFormat::yuv420p),
            "zerorun: own chroma table, quality 077.0000 thrift 0000");
  EXPECT_EQ(note_of(params, PixelFormat::gray8), "zerorun: quality 077.0000 thrift 0000");
  params.luma_table = table;
  EXPECT_EQ(note_of(params, PixelFormat::yuv420p), "zerorun: own tables");
  params.chroma_table.reset();
  EXPECT_EQ(note_of(params, PixelFormat::gray8), "zerorun: own tables");
  EXPECT_EQ(note_of(params, PixelFormat::yuv420p),
            "zerorun: own luma table, quality 077.0000 thrift 0000");
}

}  // namespace
}  // namespace zerorun::test
