// The encoder's contract: arguments, headers, output memory, reports.
// SPDX-License-Identifier: MIT
#include "zerorun/encoder.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "codec/base/pixel_rows.hpp"
#include "codec/encode/color_subsample.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

EncodeParams cpu() {
  EncodeParams params;
  params.backend = Backend::cpu;
  return params;
}

using Change = std::function<void(EncodeParams&)>;

void expect_create_refuses(const char* what, const Change& change) {
  EncodeParams params = cpu();
  change(params);
  const auto encoder = Encoder::create(params);
  EXPECT_EQ(encoder.status().code(), Errc::invalid_argument) << what;
  EXPECT_FALSE(encoder.status().message().empty());
  const auto bound = max_encoded_bytes(params, PixelFormat::rgb24, 16, 16);
  EXPECT_EQ(bound.status().code(), Errc::invalid_argument) << what;
}

TEST(EncoderArguments, AreChecked) {
  for (const int quality : {0, -1, 101, std::numeric_limits<int>::max()})
    expect_create_refuses("quality", [&](auto& p) { p.quality = quality; });
  for (const int entry : {0, 256, 65535}) {
    QuantTable table;
    table.fill(16);
    table[63] = static_cast<std::uint16_t>(entry);
    expect_create_refuses("luma table", [&](auto& p) { p.luma_table = table; });
    expect_create_refuses("chroma table", [&](auto& p) { p.chroma_table = table; });
  }
  for (const int count : {0, -1, 65536}) {
    expect_create_refuses("restart MCUs", [&](auto& p) { p.restart = RestartPolicy::mcus(count); });
    expect_create_refuses("restart rows",
                          [&](auto& p) { p.restart = RestartPolicy::mcu_rows(count); });
  }
  for (const int aspect : {0, -1, 65536}) {
    expect_create_refuses("aspect x", [&](auto& p) { p.pixel_aspect_x = aspect; });
    expect_create_refuses("aspect y", [&](auto& p) { p.pixel_aspect_y = aspect; });
  }
  for (const int marker : {0x00, 0xC0, 0xD8, 0xDA, 0xDB, 0xDF, 0xF0, 0xFF})
    expect_create_refuses("segment marker", [&](auto& p) {
      p.segments = {{static_cast<std::uint8_t>(marker), {}}};
    });
  expect_create_refuses("segment size", [](auto& p) {
    p.segments = {{0xE1, std::vector<std::uint8_t>(65534)}};
  });
  expect_create_refuses("threads", [](auto& p) { p.threads = -1; });
  expect_create_refuses("more threads than a process should have",
                        [](auto& p) { p.threads = 4097; });
}

TEST(EncoderArguments, LimitsThemselvesAreAccepted) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::rgb24, 20, 20, 1);
  const auto expect_accepted = [&](const Change& change) {
    EncodeParams params = cpu();
    change(params);
    EXPECT_FALSE(encoded_on_cpu(frame.view(), params).empty());
  };
  expect_accepted([](auto& p) { p.quality = 1; });
  expect_accepted([](auto& p) { p.quality = 100; });
  expect_accepted([](auto& p) { p.restart = RestartPolicy::mcus(65535); });
  expect_accepted([](auto& p) { p.segments = {{0xE1, std::vector<std::uint8_t>(65533)}}; });
  expect_accepted([](auto& p) { p.segments = {{0xEF, {}}, {0xFE, {}}}; });
  expect_accepted([](auto& p) { p.pixel_aspect_x = p.pixel_aspect_y = 65535; });
  expect_accepted([](auto& p) { p.threads = 64; });
  QuantTable ones, most;
  ones.fill(1);
  most.fill(255);
  expect_accepted([&](auto& p) { p.luma_table = ones, p.chroma_table = most; });
}

TEST(EncoderArguments, RowsThatDoNotFitInDriAreRefusedWithTheFrame) {
  // 4:4:4, 5,000 MCUs a row: 14 rows are 70,000 MCUs, more than DRI's 65,535.
  const TestFrame frame = make_frame(Content::flat, PixelFormat::yuv444p, 40000, 8, 1);
  EncodeParams params = cpu();
  params.restart = RestartPolicy::mcu_rows(14);
  Bytes out;
  EXPECT_EQ(cpu_encoder(params).encode(frame.view(), out).status().code(), Errc::invalid_argument);
  params.restart = RestartPolicy::mcu_rows(13);
  EXPECT_TRUE(cpu_encoder(params).encode(frame.view(), out).is_ok());
}

TEST(EncoderOutput, SpanOfTheExactSizeIsEnoughAndEverySmallerOneIsRefused) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 50, 40, 3);
  const Bytes expected = encoded_on_cpu(frame.view());
  Encoder encoder = cpu_encoder();
  const auto encode_to = [&](std::span<std::byte> out) {
    return encoder.encode(frame.view(), out);
  };
  for (std::size_t bytes = 0; bytes < expected.size(); bytes += bytes < 700 ? 1 : 37) {
    Bytes small(bytes);
    ASSERT_EQ(encode_to(small).status().code(), Errc::output_too_small) << bytes;
  }
  Bytes exact(expected.size());
  EXPECT_EQ(encode_to(std::span(exact).first(exact.size() - 1)).status().code(),
            Errc::output_too_small);
  const auto report = encode_to(exact);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_EQ(report->bytes, expected.size());
  EXPECT_EQ(exact, expected);
}

TEST(EncoderOutput, BoundIsRefusedForWhatCannotBeEncoded) {
  EXPECT_EQ(max_encoded_bytes(cpu(), PixelFormat::rgb24, 0, 5).status().code(),
            Errc::invalid_frame);
  EXPECT_EQ(max_encoded_bytes(cpu(), PixelFormat::rgb24, 5, 65536).status().code(),
            Errc::invalid_frame);
  const auto largest = max_encoded_bytes(cpu(), PixelFormat::yuv444p, 65535, 65535);
  ASSERT_TRUE(largest.is_ok());
  // 3 x 8192 x 8192 blocks of 63 x 26 + 27 bits, doubled; no 32-bit wrap.
  EXPECT_GE(*largest, std::size_t{3} * 8192 * 8192 * ((63 * 26 + 27) / 8) * 2);
}

TEST(EncoderHeaders, SegmentsAreCarriedThroughInOrder) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::gray8, 33, 21, 3);
  EncodeParams params = cpu();
  params.segments = {{0xE1, {'E', 'x', 'i', 'f', 0, 0, 1, 2, 0xFF}},
                     {0xE2, std::vector<std::uint8_t>(65533, 0xFF)},
                     {0xFE, {'c', 'o', 'm', 'm', 'e', 'n', 't'}},
                     {0xE1, {}}};
  const auto info = inspect(encoded_on_cpu(frame.view(), params));
  ASSERT_TRUE(info.is_ok()) << info.status().message();
  ASSERT_EQ(info->segments.size(), 1 + params.segments.size());  // JFIF first
  for (std::size_t i = 0; i < params.segments.size(); ++i) {
    EXPECT_EQ(info->segments[i + 1].marker, params.segments[i].marker);
    EXPECT_EQ(info->segments[i + 1].payload, params.segments[i].payload);
  }
}

TEST(EncoderHeaders, ReportedIntervalIsTheOneWritten) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 200, 100, 3);
  // The automatic one is whatever pays.
  for (const auto& [restart, mcus] :
       {std::pair{RestartPolicy::none(), 0}, std::pair{RestartPolicy::automatic(), -1},
        std::pair{RestartPolicy::mcus(3), 3}, std::pair{RestartPolicy::mcu_rows(2), 26}}) {
    EncodeParams params = cpu();
    params.restart = restart;
    EncodeReport report;
    const Bytes jpeg = encoded_on_cpu(frame.view(), params, &report);
    EXPECT_EQ(report.restart_interval_mcus, parse_tables(parse_headers(jpeg)).restart_interval);
    if (mcus >= 0) {
      EXPECT_EQ(report.restart_interval_mcus, mcus);
    }
  }
}

/// The planes of 4:2:0 that are made of a picture whose sides 16 divides. `is_photo`: with noise
/// shaping. `fits`: and chroma that makes up for what box and triangle take from it, by arithmetic
/// of this test.
TestFrame planes_of(const TestFrame& picture, bool is_photo, bool fits) {
  const ConstFrameView in = picture.view();
  TestFrame boxes(PixelFormat::yuv420p, in.width, in.height);
  ColorSubsampleArgs args{in, 3, 2, 2, {}, 0, in.height, is_photo};
  for (int c = 0; c < 3; ++c) {
    const int width = in.width / (c == 0 ? 1 : 2);
    args.plane[c] = {boxes.row(c, 0), width, width, boxes.rows(c)};
  }
  Exec exec;
  EXPECT_TRUE(color_subsample_cpu(args, exec));
  TestFrame fitted = boxes;
  for (int c = 1; fits && c < 3; ++c)
    for (int y = 0; y < boxes.rows(c); ++y)
      for (int x = 0; x < in.width / 2; ++x) {
        double blurred = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            blurred += (dy == 0 ? 0.75 : 0.125) * (dx == 0 ? 0.75 : 0.125) *
                       boxes.row(c, std::clamp(y + dy, 0,
                                               boxes.rows(c) -
                                                   1))[std::clamp(x + dx, 0, in.width / 2 - 1)];
        const double value = std::floor(2.0 * boxes.row(c, y)[x] - blurred + 0.5);
        fitted.row(c, y)[x] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
      }
  return fitted;
}

TEST(Chroma, OfPhotosIsFittedWhereItIsReducedBoth) {
  for (const PixelFormat format : {PixelFormat::rgb24, PixelFormat::xbgr32, PixelFormat::yuv444p,
                                   PixelFormat::yuv422p, PixelFormat::yuv440p})
    for (const Tune tune : {Tune::exact, Tune::photo, Tune::text})
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(testing::Message() << name(format) << ' ' << name(tune));
        const TestFrame picture = make_frame(Content::photo, format, 208, 176, 5);
        EncodeParams params;
        params.tune = tune;
        params.threads = threads;
        params.subsampling = Subsampling::s420;
        const bool is_whole = is_rgb(format) || format == PixelFormat::yuv444p;
        const bool is_photo = tune == Tune::photo;
        const TestFrame planes = planes_of(picture, is_photo, is_photo && is_whole);
        EXPECT_EQ(encoded_on_cpu(picture.view(), params), encoded_on_cpu(planes.view(), params));
      }
}

}  // namespace
}  // namespace zerorun::test
