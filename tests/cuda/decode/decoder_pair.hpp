// A decoder of each backend side by side: their reports and samples for the same stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/base/memory.hpp"
#include "cuda/base/this_device.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

using Jpeg = std::vector<std::byte>;

/// Whether the device has so little shared memory that some sound scans find no room for their
/// tables or for all states in which a subsequence may end, and go to the CPU.
inline bool has_little_shared_memory() {
  constexpr std::size_t kEnoughForAll = 99 * 1024;
  const auto limits = current_limits();
  return limits && limits->shared_of_cta < kEnoughForAll;
}

/// A picture coded by the CPU.
inline Jpeg encode(const TestFrame& frame, const EncodeParams& params) {
  return encoded_on_cpu(frame.view(), params);
}
/// The same of an RGB picture.
inline Jpeg encode(Content content, int width, int height, const EncodeParams& params) {
  return encode(make_frame(content, PixelFormat::rgb24, width, height, 7), params);
}

/// How two reports differ; empty if they do not. Which decoder took a scan makes no difference.
inline std::string difference(const Result<DecodeReport>& cpu, const Result<DecodeReport>& cuda) {
  std::ostringstream out;
  const auto compare = [&](const char* what, const auto& expected, const auto& found) {
    if (expected != found) out << what << ' ' << expected << " on the CPU, " << found << "; ";
  };
  compare("status", cpu.status().message(), cuda.status().message());
  if (cpu.status() != cuda.status()) out << "another status; ";
  if (!cpu || !cuda) return out.str();
  compare("bytes_consumed", cpu->bytes_consumed, cuda->bytes_consumed);
  compare("intervals", cpu->intervals, cuda->intervals);
  compare("concealed_intervals", cpu->concealed_intervals, cuda->concealed_intervals);
  compare("first_problem", cpu->first_problem.message(), cuda->first_problem.message());
  if (cpu->first_problem != cuda->first_problem) out << "another first_problem; ";
  return out.str();
}

/// What both made of one stream.
struct Compared {
  std::string difference;       ///< of reports and samples; empty: none
  Result<DecodeReport> report;  ///< of the CUDA backend
};

/// Used for image after image. One thread at a time.
class DecoderPair {
 public:
  explicit DecoderPair(ChromaUpsampling upsampling = ChromaUpsampling::fancy,
                       std::int64_t max_pixels = std::int64_t{1} << 25) {
    DecodeParams params;
    params.upsampling = upsampling;
    params.threads = 1;
    params.limits.max_pixels = max_pixels;
    params.backend = Backend::cpu;
    cpu_ = make_coder<Decoder>(params);
    params.backend = Backend::cuda;
    cuda_ = make_coder<Decoder>(params);
  }

  bool ready() const { return cpu_ && cuda_ && cuda_->backend() == Backend::cuda; }

  Compared planes(const Jpeg& jpeg) {
    std::vector<ComponentPlane> planes[2];
    const auto expected = cpu_->decode_planes(jpeg, planes[0]);
    auto found = cuda_->decode_planes(placed(jpeg), planes[1]);
    std::string text = difference(expected, found);
    if (planes[0].size() != planes[1].size()) return {text + "another number of planes", found};
    for (std::size_t c = 0; c < planes[0].size() && expected && found; ++c)
      if (planes[0][c].samples != planes[1][c].samples)
        text += "other samples in plane " + std::to_string(c);
    return {std::move(text), std::move(found)};
  }

  Compared coefficients(const Jpeg& jpeg) {
    std::vector<ComponentCoefficients> values[2];
    const auto expected = cpu_->decode_coefficients(jpeg, values[0]);
    auto found = cuda_->decode_coefficients(placed(jpeg), values[1]);
    std::string text = difference(expected, found);
    if (values[0].size() != values[1].size()) return {text + "another number of components", found};
    for (std::size_t c = 0; c < values[0].size() && expected && found; ++c)
      if (values[0][c].values != values[1][c].values)
        text += "other coefficients in component " + std::to_string(c);
    return {std::move(text), std::move(found)};
  }

  Compared frame(const Jpeg& jpeg, PixelFormat format) {
    Frame frames[2];
    const auto expected = cpu_->decode(jpeg, format, frames[0]);
    auto found = cuda_->decode(placed(jpeg), format, frames[1]);
    std::string text = difference(expected, found);
    if (expected && found && packed(frames[0]) != packed(frames[1]))
      text += "other samples in the frame";
    return {std::move(text), std::move(found)};
  }

  void expect_same(const Jpeg& jpeg, PixelFormat format = PixelFormat::rgb24) {
    ASSERT_EQ(coefficients(jpeg).difference, "");
    ASSERT_EQ(planes(jpeg).difference, "");
    expect_same_frame(jpeg, format);
  }

  void expect_same_frame(const Jpeg& jpeg, PixelFormat format) {
    SCOPED_TRACE(name(format));
    ASSERT_EQ(frame(jpeg, format).difference, "");
  }

  /// Where the CUDA backend gets a stream from, until the next one: as it is, or if kernels are to
  /// follow the bus, in pinned memory, and each at another place in a vector of the device.
  std::span<const std::byte> placed(const Jpeg& jpeg) {
    if (!default_decode_choices().always_follows_bus) return jpeg;
    constexpr std::size_t kVector = 16;
    EXPECT_TRUE(pinned_.reserve(static_cast<std::int64_t>(jpeg.size() + kVector)));
    place_ = (place_ + 1) % kVector;
    std::ranges::copy(jpeg, pinned_.data() + place_);
    return {pinned_.data() + place_, jpeg.size()};
  }

  Decoder& cpu() { return *cpu_; }
  Decoder& cuda() { return *cuda_; }

 private:
  std::optional<Decoder> cpu_, cuda_;
  PinnedBuffer<std::byte> pinned_;
  std::size_t place_ = 0;
};

}  // namespace zerorun::test
