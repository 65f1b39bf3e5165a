// Streams of a wanted PSNR or SSIM: near enough, and not so with the next lower setting.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "codec/api/pipelines.hpp"
#include "codec/api/quality_encoder.hpp"
#include "codec/arith/quality_search.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/header_writer.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::byte>;

static_assert(QualitySearch::kMostAsked == SizeGoal::kMostQualityCodings);

TEST(QualitySearch, TakesAdviceGoodAndBad) {
  for (const int wanted : {kLeastQuality, 17, 900, 1599, kMostQuality})
    for (const int advice : {1, kLeastQuality, 899, 901, kMostQuality, 5000}) {
      QualitySearch search(1000);
      int n = 0;
      for (; !search.is_done(); ++n) {
        const int at = search.next(advice);
        search.add({at >= wanted, at >= wanted ? 900u : 1100u});
      }
      EXPECT_EQ(search.found(), wanted);
      EXPECT_LE(n, QualitySearch::kMostAsked);
      if (std::abs(advice - wanted) <= 1) {
        EXPECT_LE(n, 4);
      }
    }
}

/// Makes streams of any setting without a search.
class Coder {
 public:
  Coder(const EncodeParams& given, const ConstFrameView& frame)
      : params_(without_goal(given)),
        frame_(frame),
        setup_(*make_encode_setup(params_, frame.format, frame.width, frame.height)),
        pipelines_(*make_pipelines<EncodePipeline>(Backend::cpu, params_)) {}

  Bytes stream(int quality_16ths) {
    change_setting(params_, {quality_16ths, 0}, setup_);
    std::array<HuffmanSpec, 4> specs;
    EncodePipeline& pipeline = pipelines_.active();
    EXPECT_TRUE(pipeline.encode_scan(setup_, frame_, specs));
    std::vector<std::uint8_t> header;
    (void)write_header(make_stream_header(params_, setup_, specs), header);
    Bytes out(header.size() + pipeline.scan_bytes() + 2);
    std::memcpy(out.data(), header.data(), header.size());
    EXPECT_TRUE(pipeline.copy_scan(out.data() + header.size()));
    out[out.size() - 2] = std::byte{0xFF};
    out[out.size() - 1] = std::byte{0xD9};
    return out;
  }

 private:
  static EncodeParams without_goal(EncodeParams params) {
    params.size = {};
    return params;
  }

  EncodeParams params_;
  ConstFrameView frame_;
  EncodeSetup setup_;
  PipelineAndSpare<EncodePipeline> pipelines_;
};

Bytes stream_at(const EncodeParams& params, const ConstFrameView& frame, int quality_16ths) {
  return Coder(params, frame).stream(quality_16ths);
}

/// Bytes of a row one after another are samples, whatever the format.
double plain_psnr(const ConstFrameView& a, const ConstFrameView& b) {
  const std::vector<std::uint8_t> one = packed(a), other = packed(b);
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double d = double{1} * one[i] - other[i];
    sum += d * d;
  }
  if (sum == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(one.size()) / sum);
}

/// Of planar frames, by its definition: means, variances and the covariance of each window.
double plain_ssim(const ConstFrameView& a, const ConstFrameView& b) {
  const auto at = [](const ConstFrameView& f, int x, int y) {
    return double{1} * f.data[0][y * f.stride_bytes[0] + x];
  };
  double sum = 0;
  int windows = 0;
  for (int y = 0; y + 8 <= a.height; y += 4)
    for (int x = 0; x + 8 <= a.width; x += 4, ++windows) {
      double ma = 0, mb = 0, va = 0, vb = 0, cov = 0;
      for (int i = 0; i < 64; ++i) {
        ma += at(a, x + i % 8, y + i / 8) / 64;
        mb += at(b, x + i % 8, y + i / 8) / 64;
      }
      for (int i = 0; i < 64; ++i) {
        const double da = at(a, x + i % 8, y + i / 8) - ma, db = at(b, x + i % 8, y + i / 8) - mb;
        va += da * da / 63, vb += db * db / 63, cov += da * db / 63;
      }
      const double c1 = 0.01 * 0.01 * 255 * 255 / 64, c2 = 0.03 * 0.03 * 255 * 255;
      sum += (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
    }
  return sum / windows;
}

struct Scores {
  double psnr = 0, ssim = 0;
  double of(bool by_ssim) const { return by_ssim ? ssim : psnr; }
};

class Judge {
 public:
  explicit Judge(const ConstFrameView& frame) : frame_(frame) {}

  Frame decoded(const Bytes& jpeg) {
    Frame out;
    EXPECT_TRUE(decoder_.decode(jpeg, frame_.format, out));
    return out;
  }
  Scores scores(const Bytes& jpeg) {
    const Frame frame = decoded(jpeg);
    return {plain_psnr(frame_, frame.view()), plain_ssim(frame_, frame.view())};
  }

 private:
  ConstFrameView frame_;
  Decoder decoder_ = cpu_decoder({.threads = 1});
};

/// The settings of a planar frame. What is asked for is coded and measured once.
class Settings {
 public:
  struct Measured {
    Bytes jpeg;
    Scores scores;
  };

  Settings(const EncodeParams& params, const ConstFrameView& frame)
      : coder_(params, frame), judge_(frame) {}

  const Measured& at(int quality_16ths) {
    const auto [place, is_new] = known_.try_emplace(quality_16ths);
    if (is_new) {
      place->second.jpeg = coder_.stream(quality_16ths);
      place->second.scores = judge_.scores(place->second.jpeg);
    }
    return place->second;
  }

 private:
  Coder coder_;
  Judge judge_;
  std::map<int, Measured> known_;
};

SizeGoal goal_of(double target, bool by_ssim) {
  SizeGoal goal;
  (by_ssim ? goal.target_ssim : goal.target_psnr) = target;
  return goal;
}

struct Coded {
  Bytes jpeg;
  EncodeReport report;
};

Coded coded_to(const EncodeParams& given, const ConstFrameView& frame, const SizeGoal& goal) {
  EncodeParams params = given;
  params.size = goal;
  Coded out;
  out.jpeg = encoded_on_cpu(frame, params, &out.report);
  return out;
}

/// Every setting there is, coded and measured by the plain definitions: what the search finds is
/// the setting at which they say that the target is reached, and not one step below it. Scores are
/// almost monotone, so it is the lowest of all, or little more.
TEST(TargetQuality, IsThatOfTheBruteForce) {
  int searches = 0, lowest = 0;
  for (const auto& [tune, effort, huffman] :
       {std::tuple{Tune::exact, Effort::fast, HuffmanTables::standard},
        std::tuple{Tune::photo, Effort::fast, HuffmanTables::optimal},
        std::tuple{Tune::text, Effort::best, HuffmanTables::optimal}})
    for (const Content content : {Content::photo, Content::noise, Content::checker}) {
      if (kSanitized && content != Content::photo) break;
      const EncodeParams params = cpu_params(tune, effort, huffman);
      const TestFrame frame = make_frame(content, PixelFormat::yuv420p, 40, 32, 5);
      Settings settings(params, frame.view());
      for (const bool by_ssim : {false, true})
        for (const int aim : {200, 801, 1240, 1500, 1590}) {
          // Just below a score, so that the rounding of a sum does not decide.
          const double target = settings.at(aim).scores.of(by_ssim) - 1e-9;
          if (!(target > 0) || target > 200) continue;
          const Coded coded = coded_to(params, frame.view(), goal_of(target, by_ssim));
          const int found = static_cast<int>(std::lround(coded.report.quality * 16));
          ASSERT_TRUE(found >= kLeastQuality && found <= kMostQuality);
          const Settings::Measured& expected = settings.at(found);
          EXPECT_GE(expected.scores.of(by_ssim), target);
          if (found > kLeastQuality) {
            EXPECT_LT(settings.at(found - 1).scores.of(by_ssim), target);
          }
          EXPECT_NEAR(coded.report.reached, expected.scores.of(by_ssim), 1e-9);
          EXPECT_EQ(coded.jpeg, expected.jpeg);
          EXPECT_LE(coded.report.codings, SizeGoal::kMostQualityCodings);
          EXPECT_EQ(coded.report.thrift, 0);
          int least = kLeastQuality;
          while (settings.at(least).scores.of(by_ssim) < target) ++least;
          // In text every sample of a checker moves where the smallest step of a table changes, and
          // the score goes back by up to 1.5 dB.
          EXPECT_LE(found - least, 16 * (tune == Tune::text ? 9 : 6)) << "target " << target;
          ++searches;
          lowest += found == least ? 1 : 0;
        }
    }
  std::printf("%d searches, %d found the lowest setting of all\n", searches, lowest);
  EXPECT_GE(searches, kSanitized ? 20 : 60);
  EXPECT_GE(lowest * 3, searches * 2);
}

TEST(TargetQuality, LargePicturesTakeFewCodings) {
  int codings = 0, searches = 0;
  for (const Content content : {Content::photo, Content::noise}) {
    if (kSanitized && content != Content::noise) continue;
    const TestFrame frame = make_frame(content, PixelFormat::yuv422p, 1000, 540, 3);
    for (const Tune tune : {Tune::exact, Tune::photo}) {
      const EncodeParams params = cpu_params(tune, Effort::fast, HuffmanTables::standard);
      Settings settings(params, frame.view());
      for (const bool by_ssim : {false, true})
        for (const int aim : {800, 1441}) {
          const double target = settings.at(aim).scores.of(by_ssim) - 1e-9;
          const Coded coded = coded_to(params, frame.view(), goal_of(target, by_ssim));
          const int found = static_cast<int>(std::lround(coded.report.quality * 16));
          EXPECT_EQ(coded.jpeg, settings.at(found).jpeg);
          EXPECT_GE(settings.at(found).scores.of(by_ssim), target);
          EXPECT_LT(settings.at(found - 1).scores.of(by_ssim), target);
          codings += coded.report.codings;
          ++searches;
        }
    }
  }
  std::printf("%.2f codings of each\n", static_cast<double>(codings) / searches);
  EXPECT_LE(codings, 5 * searches);
}

TEST(TargetQuality, WorksWithAllFormats) {
  for (const PixelFormat format : kAllFormats) {
    const TestFrame frame = make_frame(Content::photo, format, 98, 70, 7, Layout::bottom_up);
    const EncodeParams params = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
    for (const bool by_ssim : {false, true}) {
      const double target = by_ssim ? 0.9 : 25;
      const Coded coded = coded_to(params, frame.view(), goal_of(target, by_ssim));
      EXPECT_GE(coded.report.reached, target) << name(format);
      EXPECT_LT(coded.report.quality, 100) << name(format);
      const bool has_spare_bytes = format >= PixelFormat::rgbx32;
      if (!by_ssim && !has_spare_bytes) {
        const Frame decoded = Judge(frame.view()).decoded(coded.jpeg);
        EXPECT_NEAR(plain_psnr(frame.view(), decoded.view()), coded.report.reached, 1e-9)
            << name(format);
      }
    }
  }
}

TEST(TargetQuality, OneColourNeedsTheLowestAlone) {
  for (const int width : {40, 1280}) {
    const TestFrame frame(PixelFormat::yuv420p, width, 720, Layout::tight, 0x80);
    const EncodeParams params = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
    const Coded psnr = coded_to(params, frame.view(), goal_of(200, false));
    EXPECT_EQ(psnr.report.quality, 1.0);
    EXPECT_TRUE(std::isinf(psnr.report.reached));
    const Coded ssim = coded_to(params, frame.view(), goal_of(1, true));
    EXPECT_EQ(ssim.report.quality, 1.0);
    EXPECT_EQ(ssim.report.reached, 1.0);
  }
}

TEST(TargetQuality, WhatCannotBeReachedIsSaid) {
  for (const int width : {64, 1280}) {
    const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv420p, width, 720, 1);
    EncodeParams params = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
    for (const SizeGoal& goal : {goal_of(70, false), goal_of(1, true)}) {
      params.size = goal;
      Encoder encoder = cpu_encoder(params);
      Bytes out;
      const auto report = encoder.encode(frame.view(), out);
      ASSERT_FALSE(report);
      EXPECT_EQ(report.status().code(), Errc::quality_not_reached);
      const char* asked = goal.target_psnr != 0 ? "70.000 dB was asked for" : "1.000000 was asked";
      EXPECT_NE(report.status().message().find(asked), std::string::npos)
          << report.status().message();
      // The encoder goes on.
      ASSERT_TRUE(encoder.set_size({}));
      EXPECT_TRUE(encoder.encode(frame.view(), out));
      EXPECT_EQ(out, stream_at(params, frame.view(), 90 * 16));
    }
  }
}

TEST(TargetQuality, RefusesWhatMakesNoSense) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EncodeParams params = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
  Encoder encoder = cpu_encoder(params);
  const SizeGoal bad[] = {
      goal_of(-1, false),        goal_of(200.1, false),      goal_of(kNan, false),
      goal_of(kInfinity, false), goal_of(-kInfinity, false), goal_of(-0.5, true),
      goal_of(1.0000001, true),  goal_of(kNan, true),        {0, 0, 40, 0.9},
      {5000, 0, 40, 0},          {0, 5000, 0, 0.9}};
  for (const SizeGoal& goal : bad) {
    EXPECT_EQ(encoder.set_size(goal).code(), Errc::invalid_argument);
    EXPECT_FALSE(encoder.params().size.any());
    params.size = goal;
    EXPECT_FALSE(Encoder::create(params));
  }
  params.size = goal_of(40, false);
  params.luma_table.emplace().fill(9);
  EXPECT_FALSE(Encoder::create(params));
  params.size = {};
  EXPECT_EQ(cpu_encoder(params).set_size({1000, 0}).code(), Errc::invalid_argument);
  // What is tiny is no error: the lowest quality has it.
  const TestFrame frame = make_frame(Content::noise, PixelFormat::gray8, 33, 9, 1);
  for (const SizeGoal& goal : {goal_of(1e-300, false), goal_of(1e-300, true)}) {
    ASSERT_TRUE(encoder.set_size(goal));
    Bytes out;
    EXPECT_TRUE(encoder.encode(frame.view(), out));
  }
}

TEST(TargetQuality, TheSettingIsNotedAndTheNextFrameHasItsOwn) {
  EncodeParams params = cpu_params(Tune::photo, Effort::best, HuffmanTables::optimal);
  params.note_setting = true;
  params.size = goal_of(35, false);
  Encoder encoder = cpu_encoder(params);
  for (const Content content : {Content::photo, Content::checker, Content::flat}) {
    const TestFrame frame = make_frame(content, PixelFormat::yuv420p, 160, 120, 4);
    Bytes out;
    const auto report = encoder.encode(frame.view(), out);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->bytes, out.size());
    char text[64];
    std::snprintf(text, sizeof text, "zerorun: quality %08.4f thrift 0000", report->quality);
    const auto* begin = reinterpret_cast<const char*>(out.data());
    EXPECT_NE(std::string(begin, out.size()).find(text), std::string::npos) << text;
    // Into memory of the caller, too.
    Bytes room(out.size());
    ASSERT_TRUE(encoder.encode(frame.view(), std::span(room)));
    EXPECT_EQ(room, out);
    EXPECT_EQ(encoder.encode(frame.view(), std::span(room).first(9)).status().code(),
              Errc::output_too_small);
  }
}

TEST(TargetQuality, AsynchronousFramesHaveTheirOwn) {
  AsyncEncodeParams params;
  params.encode = cpu_params(Tune::exact, Effort::fast, HuffmanTables::standard);
  params.lanes = 3;
  params.depth = 6;
  auto async = AsyncEncoder::create(params);
  ASSERT_TRUE(async);
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 320, 240, 4);
  const auto goal_at = [](int i) {
    return i == 0       ? SizeGoal{}
           : i % 2 == 0 ? goal_of(0.8 + i * 0.02, true)
                        : goal_of(28 + i, false);
  };
  for (int i = 0; i < 6; ++i) {
    SubmitOptions options;
    options.size = goal_at(i);
    ASSERT_TRUE(async->submit(frame.view(), options));
  }
  EncodedFrame coded;
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(async->receive(coded, true), Received::frame);
    ASSERT_TRUE(coded.status) << coded.status.message();
    const Coded alone = coded_to(params.encode, frame.view(), goal_at(i));
    EXPECT_TRUE(std::ranges::equal(alone.jpeg, std::span(coded.jpeg.data(), coded.jpeg.size())));
    EXPECT_EQ(coded.report.reached, alone.report.reached);
  }
}

}  // namespace
}  // namespace zerorun::test
