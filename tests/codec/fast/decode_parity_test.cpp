// The fast decoder against the reference stages: the same samples, coefficients and reports on
// every instruction set, of sound and of damaged streams.
// SPDX-License-Identifier: MIT
#include <vector>

#include <gtest/gtest.h>

#include "tests/codec/fast/cpu_choice.hpp"
#include "tests/hostile/small_streams.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

/// Decodes with all instruction sets and compares with the reference stages.
class Decoders {
 public:
  explicit Decoders(DecodeParams params) {
    params.limits.max_pixels = 1 << 21;  // a changed size must not make the test slow
    for (const CpuTarget target : cpu_targets()) decoders_.push_back(make_decoder(target, params));
  }

  void planes(std::span<const std::byte> jpeg) {
    std::vector<ComponentPlane> wanted, got;
    const std::string report = describe(decoders_[0].decode_planes(jpeg, wanted));
    for (std::size_t d = 1; d < decoders_.size(); ++d) {
      const auto result = decoders_[d].decode_planes(jpeg, got);
      ASSERT_EQ(describe(result), report) << name(cpu_targets()[d]);
      if (!result) continue;
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t c = 0; c < got.size(); ++c)
        ASSERT_TRUE(got[c].samples == wanted[c].samples) << name(cpu_targets()[d]) << " " << c;
    }
  }

  void coefficients(std::span<const std::byte> jpeg) {
    std::vector<ComponentCoefficients> wanted, got;
    const std::string report = describe(decoders_[0].decode_coefficients(jpeg, wanted));
    for (std::size_t d = 1; d < decoders_.size(); ++d) {
      const auto result = decoders_[d].decode_coefficients(jpeg, got);
      ASSERT_EQ(describe(result), report) << name(cpu_targets()[d]);
      if (!result) continue;
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t c = 0; c < got.size(); ++c)
        ASSERT_TRUE(got[c].values == wanted[c].values) << name(cpu_targets()[d]) << " " << c;
    }
  }

  void frame(std::span<const std::byte> jpeg, PixelFormat format, Layout layout) {
    const auto info = inspect(jpeg);
    if (!info || std::int64_t{info->width} * info->height > 1 << 20) return;
    TestFrame wanted(format, info->width, info->height, layout);
    const std::string report = describe(decoders_[0].decode(jpeg, wanted.view()));
    for (std::size_t d = 1; d < decoders_.size(); ++d) {
      TestFrame got(format, info->width, info->height, layout);
      const auto result = decoders_[d].decode(jpeg, got.view());
      ASSERT_EQ(describe(result), report) << name(cpu_targets()[d]);
      // The padding between the rows too: nothing is written there.
      if (result) {
        ASSERT_TRUE(got == wanted) << name(cpu_targets()[d]) << " " << name(format);
      }
    }
  }

  void any(std::span<const std::byte> jpeg, Random& random) {
    const int kind = random.below(8);
    if (kind == 0) return coefficients(jpeg);
    if (kind < 4) return planes(jpeg);
    frame(jpeg, kAllFormats[random.below(kPixelFormatCount)], static_cast<Layout>(random.below(3)));
  }

 private:
  std::vector<Decoder> decoders_;
};

DecodeParams threads(int count, ChromaUpsampling upsampling = ChromaUpsampling::fancy) {
  DecodeParams params;
  params.threads = count;
  params.upsampling = upsampling;
  return params;
}

Bytes any_stream(Random& random, int width, int height, Subsampling sampling) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.threads = 1;
  params.subsampling = sampling;
  params.quality = random.between(1, 100);
  params.huffman = random.below(2) == 0 ? HuffmanTables::standard : HuffmanTables::optimal;
  const int restart = random.below(3);
  if (restart == 0) params.restart = RestartPolicy::none();
  if (restart == 1) params.restart = RestartPolicy::mcus(random.between(1, 9));
  const TestFrame frame = make_frame(kContents[random.below(std::size(kContents))],
                                     planar_format(sampling), width, height, random.next());
  auto encoder = Encoder::create(params);
  Bytes out;
  EXPECT_TRUE(encoder->encode(frame.view(), out).is_ok());
  return out;
}

TEST(FastDecode, EverySizeAndSampling) {
  Random random(1);
  Decoders fancy(threads(1)), nearest(threads(1, ChromaUpsampling::nearest));
  const int step = kSanitized ? 7 : 1;
  for (int height = 1; height <= 40; height += step)
    for (int width = 1; width <= 40; width += step)
      for (const Subsampling sampling : kAllSubsamplings) {
        const Bytes jpeg = any_stream(random, width, height, sampling);
        fancy.planes(jpeg);
        if (!HasFatalFailure()) (random.below(2) ? fancy : nearest).any(jpeg, random);
        if (HasFatalFailure()) FAIL() << width << "x" << height << " " << name(sampling);
      }
}

TEST(FastDecode, EveryFormat) {
  Random random(2);
  Decoders fancy(threads(1)), nearest(threads(2, ChromaUpsampling::nearest));
  for (const Subsampling sampling : kAllSubsamplings)
    for (const PixelFormat format : kAllFormats)
      for (const int width : {3, 64, 131, 200}) {
        const Bytes jpeg = any_stream(random, width, 35, sampling);
        fancy.frame(jpeg, format, Layout::padded);
        if (!HasFatalFailure()) nearest.frame(jpeg, format, Layout::bottom_up);
        if (HasFatalFailure()) FAIL() << width << " " << name(sampling) << " to " << name(format);
      }
}

TEST(FastDecode, LibjpegStreams) {
  Random random(3);
  Decoders decoders(threads(2));
  for (int i = 0; i < (kSanitized ? 40 : 600); ++i) {
    LibjpegOptions options;
    options.quality = random.between(1, 100);
    options.optimal = random.below(2) == 0;
    options.force_baseline = random.below(2) == 0;
    options.restart_mcus = random.below(3) == 0 ? random.between(1, 20) : 0;
    if (random.below(3) == 0) options.scans = {{0}, {1}, {2}};
    options.rgb_stream = random.below(8) == 0;
    const auto sampling = kAllSubsamplings[random.below(options.rgb_stream ? 1 : 5)];
    const Bytes jpeg = libjpeg_sample(random.between(1, 300), random.between(1, 150), sampling,
                                      options, random.next());
    decoders.planes(jpeg);
    if (!HasFatalFailure()) decoders.any(jpeg, random);
    if (HasFatalFailure()) FAIL() << "stream " << i << ", quality " << options.quality;
  }
}

TEST(FastDecode, DamagedStreams) {
  Random random(5);
  Decoders one(threads(1)), two(threads(2, ChromaUpsampling::nearest));
  std::vector<Bytes> streams;
  for (const NamedStream& stream : small_streams()) streams.push_back(stream.jpeg);
  for (int i = 0; i < 8; ++i)
    streams.push_back(any_stream(random, random.between(20, 120), random.between(20, 60),
                                 kAllSubsamplings[random.below(6)]));
  const int count = mutations(kSanitized ? 1500 : 15000);
  for (int i = 0; i < count; ++i) {
    const Bytes jpeg = damaged_one(streams, random);
    (random.below(8) == 0 ? two : one).any(jpeg, random);
    if (HasFatalFailure()) FAIL() << "mutation " << i;
  }
}

}  // namespace
}  // namespace zerorun::test
