// Scaled pictures are libjpeg-turbo's, and regions are parts of the whole picture, on every
// instruction set and on the GPU.
// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/compare.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

struct Way {
  std::string name;
  DecodeParams params;
};

/// The reference, the fast stages with one thread and with three, and the GPU where there is one.
std::vector<Way> all_ways() {
  std::vector<Way> ways;
  const auto add = [&](const char* name, InstructionSet set, int threads) {
    DecodeParams params;
    params.backend = Backend::cpu;
    params.instruction_set = set;
    params.threads = threads;
    if (Decoder::create(params)) ways.push_back({name, params});
  };
  add("reference", InstructionSet::scalar, 1);
  add("sse4", InstructionSet::sse4, 1);
  add("avx2", InstructionSet::avx2, 1);
  add("avx512", InstructionSet::avx512, 1);
  add("neon", InstructionSet::neon, 1);
  add("three threads", InstructionSet::best, 3);
  DecodeParams cuda;
  cuda.backend = Backend::cuda;
  if (Decoder::create(cuda)) ways.push_back({"cuda", cuda});
  return ways;
}

/// Compares RGB and grey at 1/2, 1/4 and 1/8, with both up-samplings.
void compare_scaled(std::span<const std::byte> jpeg, bool clean = true) {
  for (const Way& way : all_ways())
    for (const ChromaUpsampling upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest}) {
      DecodeParams params = way.params;
      params.upsampling = upsampling;
      auto decoder = make_coder<Decoder>(params);
      ASSERT_TRUE(decoder);
      for (const int scale : {2, 4, 8})
        for (const PixelOutput space : {PixelOutput::rgb, PixelOutput::gray}) {
          SCOPED_TRACE(way.name + ", 1/" + std::to_string(scale) +
                       (space == PixelOutput::rgb ? ", rgb" : ", gray") +
                       (upsampling == ChromaUpsampling::fancy ? "" : ", nearest"));
          Pixels theirs;
          const bool fancy = upsampling == ChromaUpsampling::fancy;
          ASSERT_TRUE(
              libjpeg_pixels(jpeg, space, fancy, theirs, static_cast<unsigned>(scale)).delivered);
          ASSERT_TRUE(decoder->select(scale));
          const PixelFormat format =
              space == PixelOutput::rgb ? PixelFormat::rgb24 : PixelFormat::gray8;
          TestFrame ours(format, theirs.width, theirs.height);
          const auto report = decoder->decode(jpeg, ours.view());
          ASSERT_TRUE(report) << report.status().message();
          EXPECT_EQ(static_cast<bool>(report->first_problem), clean)
              << report->first_problem.message();
          EXPECT_TRUE(ours.packed() == theirs.samples);
        }
    }
}

LibjpegOptions options_of(bool progressive, int restart_mcus = 0) {
  LibjpegOptions options;
  options.progressive = progressive;
  options.restart_mcus = restart_mcus;
  return options;
}

TEST(ScaledDecode, SamplesAreLibjpegsInAllSamplingsAndSizes) {
  for (const Subsampling sampling : kAllSubsamplings)
    for (const bool progressive : {false, true})
      for (const Size size : {Size{1, 1}, Size{8, 8}, Size{17, 9}, Size{33, 47}, Size{203, 131}}) {
        SCOPED_TRACE(std::string(name(sampling)) + " " + to_string(size) +
                     (progressive ? ", progressive" : ""));
        compare_scaled(libjpeg_sample(size.width, size.height, sampling, options_of(progressive)));
      }
}

/// libjpeg enlarges chroma of 4:4:2 and others by its inverse transform as far as both directions
/// allow.
TEST(ScaledDecode, OddSamplingFactors) {
  for (const Factors& factors :
       {Factors{{{4, 2}, {1, 1}, {1, 1}}}, Factors{{{2, 2}, {2, 1}, {1, 2}}},
        Factors{{{1, 4}, {1, 1}, {1, 1}}}, Factors{{{4, 1}, {2, 1}, {1, 1}}},
        Factors{{{2, 2}, {2, 2}, {1, 1}}}, Factors{{{1, 1}, {2, 2}, {1, 1}}}}) {
    LibjpegOptions options;
    options.factors = factors;
    std::vector<std::uint8_t> pixels(std::size_t{150} * 97 * 3);
    Random random(7);
    for (auto& sample : pixels) sample = static_cast<std::uint8_t>(random.byte() / 2 + 60);
    const Bytes jpeg = libjpeg_encode_pixels(150, 97, PixelInput::rgb, pixels.data(), 450, options);
    ASSERT_FALSE(jpeg.empty());
    SCOPED_TRACE(std::to_string(factors[0].h) + "x" + std::to_string(factors[0].v));
    compare_scaled(jpeg);
  }
}

/// The rows of a plane that belong to the region, by what decoder.hpp says.
std::vector<std::uint8_t> part_of(const TestFrame& whole, const Region& region) {
  const PixelFormat format = whole.view().format;
  std::vector<std::uint8_t> part;
  for (int p = 0; p < plane_count(format); ++p) {
    int h = 1, v = 1, bytes = 1;
    if (is_rgb(format)) {
      bytes = static_cast<int>(plane_row_bytes(format, 0, 1));
    } else if (format == PixelFormat::yuyv || format == PixelFormat::uyvy) {
      h = 2;
      bytes = 4;
    } else if (p > 0) {
      const LumaFactors luma = luma_factors(native_subsampling(format));
      h = luma.h;
      v = luma.v;
      bytes = plane_count(format) == 2 ? 2 : 1;
    }
    const std::size_t row_bytes = plane_row_bytes(format, p, region.width);
    for (int y = 0; y < plane_rows(format, p, region.height); ++y) {
      const std::uint8_t* const row = whole.row(p, region.y / v + y) + region.x / h * bytes;
      part.insert(part.end(), row, row + row_bytes);
    }
  }
  return part;
}

Region random_region(Random& random, int width, int height) {
  Region region;
  region.width = random.between(1, width);
  region.height = random.between(1, height);
  region.x = random.below(width - region.width + 1);
  region.y = random.below(height - region.height + 1);
  return region;
}

void compare_regions(const Way& way, const Bytes& jpeg, Random& random, int rounds) {
  auto decoder = make_coder<Decoder>(way.params);
  ASSERT_TRUE(decoder);
  const auto info = inspect(jpeg);
  ASSERT_TRUE(info);
  for (int round = 0; round < rounds; ++round) {
    const int scale = 1 << random.below(4);
    const PixelFormat format = kAllFormats[random.below(kPixelFormatCount)];
    const ImageSize size = scaled_size(info->width, info->height, scale);
    TestFrame whole(format, size.width, size.height);
    ASSERT_TRUE(decoder->select(scale));
    ASSERT_TRUE(decoder->decode(jpeg, whole.view()));
    for (int i = 0; i < 4; ++i) {
      Region region = random_region(random, size.width, size.height);
      if (format == PixelFormat::yuyv || format == PixelFormat::uyvy) region.x &= ~1;
      SCOPED_TRACE(way.name + ", 1/" + std::to_string(scale) + " of " +
                   to_string(Size{info->width, info->height}) + ", " + std::string(name(format)) +
                   ", " + to_string(Size{region.width, region.height}) + "+" +
                   std::to_string(region.x) + "+" + std::to_string(region.y));
      ASSERT_TRUE(decoder->select(scale, region));
      TestFrame part(format, region.width, region.height);
      const auto report = decoder->decode(jpeg, part.view());
      ASSERT_TRUE(report) << report.status().message();
      EXPECT_TRUE(report->first_problem) << report->first_problem.message();
      ASSERT_TRUE(part.packed() == part_of(whole, region));
    }
  }
}

TEST(RegionDecode, SamplesAreThoseOfTheWholePicture) {
  Random random(3);
  for (const Way& way : all_ways())
    for (const Subsampling sampling : kAllSubsamplings)
      for (const int kind : {0, 1, 2, 3}) {
        SCOPED_TRACE(std::string(name(sampling)) + ", kind " + std::to_string(kind));
        const int restart = kind == 2 ? random.between(1, 40) : 0;
        LibjpegOptions options = options_of(kind == 1, restart);
        if (kind == 3 && sampling != Subsampling::gray) options.scans = {{1}, {0}, {2}};
        const int width = random.between(1, 400), height = random.between(1, 300);
        compare_regions(way, libjpeg_sample(width, height, sampling, options), random,
                        kSanitized ? 2 : 5);
      }
}

/// 96 bits of ones: more than a codeword and its appended bits have.
void damage(Bytes& jpeg, std::size_t at) {
  for (std::size_t i = 0; i < 24; ++i) jpeg[at + i] = static_cast<std::byte>(i % 2 == 0 ? 0xFF : 0);
}

/// Restart intervals outside the region are not decoded: damage there is not found.
TEST(RegionDecode, DamageOutsideIsNotFound) {
  Bytes jpeg = libjpeg_sample(256, 256, Subsampling::s420, options_of(false, 16));
  const auto info = inspect(jpeg);
  ASSERT_TRUE(info);
  // In the first and the last of 16 intervals.
  damage(jpeg, info->header_bytes + 5);
  damage(jpeg, jpeg.size() - 40);
  Decoder decoder = cpu_decoder({.strict = true});
  Frame frame;
  EXPECT_FALSE(decoder.decode(jpeg, PixelFormat::rgb24, frame));
  ASSERT_TRUE(decoder.select(1, {10, 40, 200, 100}));
  EXPECT_TRUE(decoder.decode(jpeg, PixelFormat::rgb24, frame));
  ASSERT_TRUE(decoder.select(1, {10, 4, 200, 100}));
  EXPECT_FALSE(decoder.decode(jpeg, PixelFormat::rgb24, frame));
}

/// A damaged scaled picture has the blocks of the damage as flat as a whole one has.
TEST(ScaledDecode, DamageIsConcealedAlike) {
  Bytes jpeg = libjpeg_sample(256, 256, Subsampling::s444, options_of(false, 32));
  const auto info = inspect(jpeg);
  ASSERT_TRUE(info);
  damage(jpeg, info->header_bytes + 200);
  for (const int scale : {2, 4, 8}) {
    std::vector<TestFrame> frames;
    for (const Way& way : all_ways()) {
      DecodeParams params = way.params;
      params.scale = scale;
      auto decoder = make_coder<Decoder>(params);
      ASSERT_TRUE(decoder);
      frames.emplace_back(PixelFormat::rgb24, 256 / scale, 256 / scale);
      const auto report = decoder->decode(jpeg, frames.back().view());
      ASSERT_TRUE(report);
      EXPECT_EQ(report->concealed_intervals, 1) << way.name;
      EXPECT_TRUE(frames.back() == frames.front()) << way.name;
    }
  }
}

TEST(RegionDecode, WhatNoPictureHasIsRefused) {
  const Bytes jpeg = libjpeg_sample(120, 80, Subsampling::s420);
  Decoder decoder = cpu_decoder();
  for (const int scale : {0, 3, 16, -1})
    EXPECT_EQ(decoder.select(scale).code(), Errc::invalid_argument) << scale;
  for (const Region& region : {Region{0, 0, 0, 5}, Region{-1, 0, 5, 5}, Region{0, 0, 5, -5}})
    EXPECT_EQ(decoder.select(1, region).code(), Errc::invalid_argument);
  EXPECT_EQ(Decoder::create({.scale = 5}).status().code(), Errc::invalid_argument);
  Frame frame;
  for (const Region& region :
       {Region{100, 0, 21, 5}, Region{0, 80, 1, 1}, Region{2147483647, 0, 2147483647, 1}}) {
    ASSERT_TRUE(decoder.select(1, region));
    const auto report = decoder.decode(jpeg, PixelFormat::rgb24, frame);
    EXPECT_EQ(report.status().code(), Errc::invalid_argument);
    EXPECT_NE(report.status().message().find("120x80"), std::string::npos);
  }
  ASSERT_TRUE(decoder.select(2, {3, 0, 10, 10}));
  EXPECT_EQ(decoder.decode(jpeg, PixelFormat::yuyv, frame).status().code(), Errc::invalid_argument);
  std::vector<ComponentPlane> planes;
  EXPECT_EQ(decoder.decode_planes(jpeg, planes).status().code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace zerorun::test
