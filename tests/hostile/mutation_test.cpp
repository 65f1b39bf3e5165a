// Cut streams are errors if they end in the headers, and else pictures with a report. Of changed
// bytes no crash comes, and no clean result that differs from libjpeg's coefficients.
// SPDX-License-Identifier: MIT
#include "tests/hostile/small_streams.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/page_end_buffer.hpp"
#include "tests/support/resources.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

class Mutator {
 public:
  Mutator() : decoder_(create()) {}

  void check(std::span<const std::byte> jpeg) {
    const PageEndBuffer input(jpeg);
    const auto report = decoder_.decode_coefficients(input.bytes(), ours_);
    if (!report.is_ok()) {
      EXPECT_FALSE(report.status().message().empty());
      return;
    }
    EXPECT_LE(report->bytes_consumed, jpeg.size());
    EXPECT_LE(report->concealed_intervals, report->intervals);
    EXPECT_EQ(report->is_concealed() && report->first_problem.is_ok(), false);
    if (report->is_concealed()) return;
    const LibjpegVerdict verdict = libjpeg_coefficients(jpeg, theirs_);
    if (!verdict.clean()) return;
    ASSERT_EQ(ours_.size(), theirs_.size());
    for (std::size_t c = 0; c < ours_.size(); ++c)
      ASSERT_TRUE(ours_[c].values == theirs_[c].values) << "component " << c;
  }

 private:
  static Decoder create() {
    DecodeParams params;
    params.backend = Backend::cpu;
    params.threads = 1;
    params.limits.max_pixels = 1 << 18;  // a changed size must not make the test slow
    auto decoder = Decoder::create(params);
    EXPECT_TRUE(decoder.is_ok());
    return *std::move(decoder);
  }
  Decoder decoder_;
  std::vector<ComponentCoefficients> ours_, theirs_;
};

TEST(Cut, EveryPrefixIsAnErrorOrReported) {
  for (const NamedStream& stream : small_streams()) {
    SCOPED_TRACE(stream.name);
    DecodeParams params;
    params.backend = Backend::cpu;
    params.threads = 1;
    auto decoder = Decoder::create(params);
    ASSERT_TRUE(decoder.is_ok());
    const std::size_t data = parse_headers(stream.jpeg).data_offset;
    std::vector<ComponentCoefficients> whole, cut;
    ASSERT_TRUE(decoder->decode_coefficients(stream.jpeg, whole).is_ok());
    const std::size_t step = kSanitized ? 3 : 1;
    for (std::size_t size = 0; size < stream.jpeg.size(); size += step) {
      const PageEndBuffer input{std::span(stream.jpeg).first(size)};
      const auto report = decoder->decode_coefficients(input.bytes(), cut);
      if (size < data) {
        ASSERT_FALSE(report.is_ok()) << "prefix of " << size << " bytes";
        ASSERT_EQ(group(report.status().code()), ErrorGroup::corrupt) << report.status().message();
        continue;
      }
      if (!report.is_ok()) {  // between scans, in another header
        ASSERT_EQ(group(report.status().code()), ErrorGroup::corrupt) << report.status().message();
        continue;
      }
      ASSERT_FALSE(report->first_problem.is_ok()) << "prefix of " << size << " bytes";
      ASSERT_LE(report->bytes_consumed, size);
      ASSERT_EQ(cut.size(), whole.size());
      for (std::size_t c = 0; c < cut.size(); ++c)
        ASSERT_EQ(cut[c].values.size(), whole[c].values.size());
      // Scans of a progressive frame that are missing leave coarser coefficients.
      if (report->is_concealed() || parse_headers(stream.jpeg).find(0xC2) != nullptr) continue;
      // Not concealed: each component is whole, or its scan is missing.
      for (std::size_t c = 0; c < cut.size(); ++c) {
        const auto& values = cut[c].values;
        const bool absent = std::ranges::all_of(values, [](int value) { return value == 0; });
        ASSERT_TRUE(absent || values == whole[c].values)
            << "prefix of " << size << " bytes, component " << c;
      }
    }
  }
}

TEST(Mutation, SingleBytesAreSurvived) {
  Mutator mutator;
  for (const NamedStream& stream : small_streams()) {
    const std::size_t step = kSanitized ? 5 : 1;
    for (std::size_t at = 0; at < stream.jpeg.size(); at += step) {
      const int original = std::to_integer<int>(stream.jpeg[at]);
      for (const int value : {0x00, 0xFF, original ^ 0x01, original ^ 0x08, original ^ 0x10,
                              original ^ 0x80, (original + 1) & 255, (original - 1) & 255}) {
        if (value == original) continue;
        Bytes jpeg = stream.jpeg;
        jpeg[at] = static_cast<std::byte>(value);
        mutator.check(jpeg);
        if (testing::Test::HasFailure()) {
          FAIL() << stream.name << ", byte " << at << " from " << original << " to " << value;
        }
      }
    }
  }
}

TEST(Mutation, RemovedAndDoubledBytesAreSurvived) {
  Mutator mutator;
  for (const NamedStream& stream : small_streams()) {
    const std::size_t step = kSanitized ? 5 : 1;
    for (std::size_t at = 0; at < stream.jpeg.size(); at += step) {
      Bytes jpeg = stream.jpeg;
      const auto place = jpeg.begin() + static_cast<std::ptrdiff_t>(at);
      jpeg.insert(place, *place);
      mutator.check(jpeg);
      jpeg = stream.jpeg;
      jpeg.erase(jpeg.begin() + static_cast<std::ptrdiff_t>(at));
      mutator.check(jpeg);
      if (testing::Test::HasFailure()) {
        FAIL() << stream.name << ", byte " << at;
      }
    }
  }
}

}  // namespace
}  // namespace zerorun::test
