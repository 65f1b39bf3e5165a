// The fast pipeline against the reference stages on one thread: the same samples, coefficients and
// reports, of sound and of damaged streams; intervals in parts on several threads, too. And frames
// of the decoder in every format, on every instruction set.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "codec/fast/decode_kernels.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "tests/codec/fast/any_stream.hpp"
#include "tests/hostile/small_streams.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/resources.hpp"

namespace zerorun::test {
namespace {

const std::vector<int> kThreadCounts =
    kSanitized ? std::vector{1, 3, 16} : std::vector{1, 2, 3, 7, 16};

/// What one call gives.
struct Decoded {
  std::string report;
  std::vector<ComponentPlane> planes;
  std::vector<ComponentCoefficients> coefficients;
};

/// What is compared: samples, samples at 1/8, of which the luma has the DC alone, or coefficients.
enum class Part { samples, eighth, coefficients };

Decoded decode(DecodePipeline& pipeline, std::span<const std::byte> jpeg, Part part) {
  DecodeParams params;
  params.limits.max_pixels = 1 << 21;  // a changed size must not make the test slow
  Decoded out;
  StoredFrame stored;
  const bool coefficients = part == Part::coefficients;
  const auto begin = [&](const HeaderParser& parser) -> Status {
    if (!coefficients) {
      const auto wanted = image_part(parser.frame(), part == Part::eighth ? 8 : 1, Region());
      return wanted ? pipeline.begin_planes(wanted->window, nullptr, false) : wanted.status();
    }
    stored.clear(parser.frame());
    return pipeline.begin_coefficients(stored);
  };
  const auto finish = [&](const HeaderParser& parser) -> Status {
    if (!coefficients) return pipeline.finish_planes(out.planes);
    ZR_TRY(pipeline.finish_coefficients());
    stored.copy(parser.frame().components.size(), out.coefficients);
    return Status::ok();
  };
  out.report = describe(walk_image(pipeline, params, jpeg, begin, finish));
  return out;
}

/// A pipeline for every instruction set and thread count, and the reference.
class Pipelines {
 public:
  explicit Pipelines(const ThreadLimits& limits)
      : reference_(make_cpu_decode_pipeline(1, cpu_stages())) {
    for (const InstructionSet target : fast_targets())
      for (const int threads : kThreadCounts)
        fast_.push_back({std::string(name(target)) + " " + std::to_string(threads),
                         make_fast_decode_pipeline(threads, target, limits, cpu_stages())});
  }

  void compare_all(std::span<const std::byte> jpeg) {
    for (const Part part : {Part::samples, Part::eighth, Part::coefficients}) {
      const Decoded wanted = decode(*reference_, jpeg, part);
      for (const Fast& fast : fast_) compare(fast, jpeg, part, wanted);
    }
  }
  void compare_one(std::span<const std::byte> jpeg, Random& random) {
    const auto part = static_cast<Part>(random.below(3));
    compare(fast_[static_cast<std::size_t>(random.below(static_cast<int>(fast_.size())))], jpeg,
            part, decode(*reference_, jpeg, part));
  }

 private:
  struct Fast {
    std::string name;
    std::unique_ptr<DecodePipeline> pipeline;
  };

  static void compare(const Fast& fast, std::span<const std::byte> jpeg, Part part,
                      const Decoded& wanted) {
    const Decoded got = decode(*fast.pipeline, jpeg, part);
    ASSERT_EQ(got.report, wanted.report) << fast.name;
    ASSERT_EQ(got.planes.size(), wanted.planes.size()) << fast.name;
    for (std::size_t c = 0; c < got.planes.size(); ++c)
      ASSERT_TRUE(got.planes[c].samples == wanted.planes[c].samples) << fast.name << " " << c;
    ASSERT_EQ(got.coefficients.size(), wanted.coefficients.size()) << fast.name;
    for (std::size_t c = 0; c < got.coefficients.size(); ++c)
      ASSERT_TRUE(got.coefficients[c].values == wanted.coefficients[c].values)
          << fast.name << " " << c;
  }

  std::unique_ptr<DecodePipeline> reference_;
  std::vector<Fast> fast_;
};

/// Everything is cut into parts, however small.
constexpr ThreadLimits kNoLimits{0, 64, 1};

TEST(FastParts, EveryContentAndSampling) {
  Random random(11);
  Pipelines pipelines(kNoLimits);
  for (const Content content : kContents)
    for (const Subsampling sampling : kAllSubsamplings) {
      const int width = random.between(1, 400), height = random.between(1, 300);
      pipelines.compare_all(any_stream(content, sampling, width, height, random));
      if (HasFatalFailure())
        FAIL() << name(content) << " " << name(sampling) << " " << width << "x" << height;
    }
}

TEST(FastParts, LongIntervals) {
  Random random(12);
  Pipelines pipelines(kNoLimits);
  for (int i = 0; i < (kSanitized ? 5 : 30); ++i) {
    const Content content = any_content(random);
    const Subsampling sampling = kAllSubsamplings[random.below(6)];
    const int restart = random.below(3) == 0 ? 0 : random.between(1, 2000);
    pipelines.compare_all(any_stream(content, sampling, random.between(100, 500),
                                     random.between(100, 300), random, restart));
    if (HasFatalFailure()) FAIL() << "stream " << i;
  }
}

TEST(FastParts, UsualLimits) {
  Random random(13);
  Pipelines pipelines{ThreadLimits()};
  for (const Content content : {Content::photo, Content::noise, Content::gradient}) {
    pipelines.compare_all(any_stream(content, Subsampling::s420, 1500, 1000, random));
    if (HasFatalFailure()) FAIL() << name(content);
    if (kSanitized) break;
  }
}

/// A stream that ends early, goes on behind its last MCU, or has no end at all.
TEST(FastParts, TooShortAndTooLong) {
  Random random(14);
  Pipelines pipelines(kNoLimits);
  for (const Content content : {Content::photo, Content::noise, Content::flat}) {
    const Bytes jpeg = any_stream(content, Subsampling::s420, 200, 120, random);
    const auto info = inspect(jpeg);
    ASSERT_TRUE(info.is_ok());
    Bytes no_eoi(jpeg.begin(), jpeg.end() - 2);
    pipelines.compare_all(no_eoi);
    Bytes longer = no_eoi;
    for (int i = 0; i < 100; ++i) longer.push_back(static_cast<std::byte>(random.below(255)));
    pipelines.compare_all(longer);
    for (const int extra : {1, 2, 9}) {
      Bytes few = no_eoi;
      few.resize(few.size() + static_cast<std::size_t>(extra), std::byte{0x55});
      few.insert(few.end(), jpeg.end() - 2, jpeg.end());
      pipelines.compare_all(few);
    }
    for (int i = 0; i < 12; ++i) {
      const auto room = static_cast<int>(jpeg.size() - info->header_bytes);
      pipelines.compare_one(
          std::span(jpeg).first(info->header_bytes + static_cast<std::size_t>(random.below(room))),
          random);
    }
    // Half the height: more MCUs than there is room for.
    Bytes lower = jpeg;
    for (std::size_t at = 2; at + 9 < info->header_bytes; ++at)
      if (lower[at] == std::byte{0xFF} && lower[at + 1] == std::byte{0xC0}) {
        lower[at + 6] = std::byte{60};
        break;
      }
    pipelines.compare_all(lower);
    if (HasFatalFailure()) FAIL() << name(content);
  }
}

TEST(FastParts, DamagedStreams) {
  Random random(15);
  Pipelines pipelines(kNoLimits);
  std::vector<Bytes> streams;
  for (const NamedStream& stream : small_streams()) {
    pipelines.compare_all(stream.jpeg);
    streams.push_back(stream.jpeg);
  }
  for (int i = 0; i < 24; ++i)
    streams.push_back(any_stream(any_content(random), kAllSubsamplings[random.below(6)],
                                 random.between(20, 160), random.between(20, 100), random,
                                 random.below(3) == 0 ? random.between(1, 60) : 0));
  const int count = mutations(kSanitized ? 500 : 5000);
  for (int i = 0; i < count; ++i) {
    const Bytes jpeg = damaged_one(streams, random);
    pipelines.compare_one(jpeg, random);
    if (HasFatalFailure()) FAIL() << "mutation " << i;
  }
}

/// Streams of one and of several scans, each with tables of its own, with short intervals.
TEST(FastDamage, RestartMarkers) {
  Random random(16);
  Pipelines pipelines(kNoLimits);
  std::vector<Bytes> streams;
  const std::vector<std::vector<int>> orders[] = {
      {}, {{0}, {1}, {2}}, {{0}, {1, 2}}, {{2}, {0, 1}}, {{1}, {0}, {2}}};
  for (const Subsampling sampling : kAllSubsamplings)
    for (const auto& scans : orders) {
      if (sampling == Subsampling::gray && !scans.empty()) continue;
      LibjpegOptions options;
      options.quality = random.between(20, 95);
      options.optimal = random.below(2) == 0;
      options.restart_mcus = random.between(1, 9);
      options.scans = scans;
      streams.push_back(
          libjpeg_sample(random.between(8, 120), random.between(8, 90), sampling, options));
    }
  const int count = mutations(kSanitized ? 300 : 3000);
  for (int i = 0; i < count; ++i) {
    Bytes jpeg = streams[static_cast<std::size_t>(random.below(static_cast<int>(streams.size())))];
    const auto info = inspect(jpeg);
    ASSERT_TRUE(info.is_ok());
    damage_markers(jpeg, random, info->header_bytes);
    pipelines.compare_one(jpeg, random);
    if (HasFatalFailure()) FAIL() << "mutation " << i;
  }
}

std::atomic<std::int64_t> reference_blocks;

Status count_blocks(const HuffmanDecodeArgs& args, Exec& exec) {
  for (std::int64_t c = 0; c < args.cursor_count; ++c) reference_blocks += args.cursors[c].blocks;
  return cpu_stages().huffman_decode(args, exec);
}

/// The reference gets one run of MCUs of each damaged interval, and of sound ones nothing, whatever
/// their number of bytes and the order of the markers.
TEST(FastDamage, OnlyTheDamageGoesToTheReference) {
  static const StageTable counting = [] {
    StageTable table = cpu_stages();
    table.huffman_decode = count_blocks;
    return table;
  }();
  Random random(17);
  std::int64_t all_blocks = 0, all_damaged = 0;
  for (const int restart_mcus : {0, 7, 40})
    for (const int threads : {1, 2, 5}) {
      const auto pipeline =
          make_fast_decode_pipeline(threads, fast_targets().back(), kNoLimits, counting);
      const Bytes sound =
          any_stream(Content::photo, Subsampling::s420, 640, 480, random, restart_mcus);
      const std::size_t header = inspect(sound)->header_bytes;
      for (int i = 0; i < (kSanitized ? 16 : 40); ++i) {
        Bytes jpeg = sound;
        for (int place = 0; place < 8; ++place) {
          if (i % 2 == 0)
            damage(jpeg, random, header);
          else
            damage_markers(jpeg, random, header);
        }
        reference_blocks = 0;
        std::vector<ComponentPlane> planes;
        const auto report = walk_image(
            *pipeline, {}, jpeg,
            [&](const HeaderParser& parser) {
              return pipeline->begin_planes(parser.frame(), nullptr, false);
            },
            [&](const HeaderParser&) { return pipeline->finish_planes(planes); });
        if (!report) continue;  // a marker that ends the image, in the middle
        EXPECT_LE(reference_blocks, report->concealed_intervals * fast::kDecodeRunMcus * 6)
            << restart_mcus << " MCUs, " << threads << " threads, stream " << i;
        all_blocks += reference_blocks;
        all_damaged += report->concealed_intervals;
      }
    }
  EXPECT_GT(all_damaged, kSanitized ? 200 : 500);
  EXPECT_GT(all_blocks, 0);
}

/// Decodes with all instruction sets and compares with the reference stages.
class Decoders {
 public:
  explicit Decoders(int threads, ChromaUpsampling upsampling) {
    DecodeParams params;
    params.threads = threads;
    params.upsampling = upsampling;
    for (const InstructionSet target : instruction_sets()) {
      params.instruction_set = target;
      decoders_.push_back(cpu_decoder(params));
    }
  }

  void frame(std::span<const std::byte> jpeg, PixelFormat format, Layout layout) {
    const auto info = inspect(jpeg);
    ASSERT_TRUE(info);
    TestFrame wanted(format, info->width, info->height, layout);
    const std::string report = describe(decoders_[0].decode(jpeg, wanted.view()));
    for (std::size_t d = 1; d < decoders_.size(); ++d) {
      TestFrame got(format, info->width, info->height, layout);
      ASSERT_EQ(describe(decoders_[d].decode(jpeg, got.view())), report)
          << name(instruction_sets()[d]);
      // The padding between the rows too: nothing is written there.
      ASSERT_TRUE(got == wanted) << name(instruction_sets()[d]) << " " << name(format);
    }
  }

 private:
  std::vector<Decoder> decoders_;
};

TEST(FastDecode, EverySizeAndSampling) {
  Random random(1);
  Decoders fancy(1, ChromaUpsampling::fancy), nearest(1, ChromaUpsampling::nearest);
  const int step = kSanitized ? 7 : 1;
  for (int height = 1; height <= 40; height += step)
    for (int width = 1; width <= 40; width += step)
      for (const Subsampling sampling : kAllSubsamplings) {
        const Bytes jpeg = any_stream(any_content(random), sampling, width, height, random,
                                      random.below(3) == 0 ? random.between(1, 9) : 0);
        fancy.frame(jpeg, planar_format(sampling), Layout::tight);
        if (!HasFatalFailure())
          (random.below(2) ? fancy : nearest)
              .frame(jpeg, kAllFormats[random.below(kPixelFormatCount)],
                     static_cast<Layout>(random.below(3)));
        if (HasFatalFailure()) FAIL() << width << "x" << height << " " << name(sampling);
      }
}

TEST(FastDecode, EveryFormat) {
  Random random(2);
  Decoders fancy(1, ChromaUpsampling::fancy), nearest(2, ChromaUpsampling::nearest);
  for (const Subsampling sampling : kAllSubsamplings)
    for (const PixelFormat format : kAllFormats)
      for (const int width : {3, 64, 131, 200}) {
        if (kSanitized && width % 2 == 0) continue;
        const Bytes jpeg = any_stream(any_content(random), sampling, width, 35, random);
        fancy.frame(jpeg, format, Layout::padded);
        if (!HasFatalFailure()) nearest.frame(jpeg, format, Layout::bottom_up);
        if (HasFatalFailure()) FAIL() << width << " " << name(sampling) << " to " << name(format);
      }
}

}  // namespace
}  // namespace zerorun::test
