// Frames of the fast decoder against the reference stages: the same samples and reports in every
// format, on every instruction set. decode_parts_test.cpp compares planes and coefficients.
// SPDX-License-Identifier: MIT
#include <vector>

#include <gtest/gtest.h>

#include "tests/codec/fast/cpu_choice.hpp"
#include "tests/support/resources.hpp"

namespace zerorun::test {
namespace {

/// Decodes with all instruction sets and compares with the reference stages.
class Decoders {
 public:
  explicit Decoders(int threads, ChromaUpsampling upsampling) {
    DecodeParams params;
    params.threads = threads;
    params.upsampling = upsampling;
    for (const InstructionSet target : instruction_sets())
      decoders_.push_back(make_decoder(target, params));
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
        const Bytes jpeg = any_stream(any_content(random), sampling, width, 35, random);
        fancy.frame(jpeg, format, Layout::padded);
        if (!HasFatalFailure()) nearest.frame(jpeg, format, Layout::bottom_up);
        if (HasFatalFailure()) FAIL() << width << " " << name(sampling) << " to " << name(format);
      }
}

}  // namespace
}  // namespace zerorun::test
