// Coders report the steps of the device for each frame to a thread with DeviceSpans, and code the
// same without.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codec/base/step_times.hpp"
#include "codec/base/pixel_rows.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

using Steps = std::vector<DeviceStep>;

constexpr DeviceStep kUp = DeviceStep::upload, kRun = DeviceStep::kernels,
                     kDown = DeviceStep::download;

/// The steps, which follow each other in time.
Steps steps_of(const DeviceSpans& measured) {
  Steps steps;
  DeviceSpan::Time last{};
  for (const DeviceSpan& span : measured.spans) {
    EXPECT_LT(span.begin, span.end);
    EXPECT_LE(last, span.begin);
    EXPECT_EQ(span.device, 0);
    last = span.end;
    steps.push_back(span.step);
  }
  return steps;
}

class SpanClockParity : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    EncodeParams params;
    params.backend = Backend::cuda;
    encoder_ = make_coder<Encoder>(params);
    DecodeParams decode;
    decode.backend = Backend::cuda;
    decoder_ = make_coder<Decoder>(decode);
    ASSERT_TRUE(encoder_ && decoder_);
    ASSERT_TRUE(encoder_->encode(frame_.view(), jpeg_));
  }

  Steps decode(PixelFormat format, Frame& out) {
    const DeviceSpans measured;
    EXPECT_TRUE(decoder_->decode(jpeg_, format, out));
    return steps_of(measured);
  }

  const TestFrame frame_ = make_frame(Content::photo, PixelFormat::yuv420p, 641, 483, 1);
  std::optional<Encoder> encoder_;
  std::optional<Decoder> decoder_;
  std::vector<std::byte> jpeg_;  // by an encoder without DeviceSpans
};

TEST_F(SpanClockParity, AnEncoderTellsEachFrameOfAThreadThatAsks) {
  std::vector<std::byte> found;
  for (int i = 0; i < 3; ++i) {
    {
      const DeviceSpans measured;
      ASSERT_TRUE(encoder_->encode(frame_.view(), found));
      EXPECT_EQ(steps_of(measured), (Steps{kUp, kRun, kDown}));
      EXPECT_TRUE(found == jpeg_);
    }
    ASSERT_TRUE(encoder_->encode(frame_.view(), found));  // without DeviceSpans
    EXPECT_TRUE(found == jpeg_);
  }
}

TEST_F(SpanClockParity, AFrameThatFailsIsForgotten) {
  const DeviceSpans measured;
  std::vector<std::byte> too_small(1);
  EXPECT_FALSE(encoder_->encode(frame_.view(), std::span(too_small)));
  std::vector<std::byte> found;
  ASSERT_TRUE(encoder_->encode(frame_.view(), found));
  EXPECT_EQ(steps_of(measured), (Steps{kUp, kRun, kUp, kRun, kDown}));
}

TEST_F(SpanClockParity, ADecoderTellsScansAndTheFrame) {
  Frame plain, found;
  ASSERT_TRUE(decoder_->decode(jpeg_, PixelFormat::yuv420p, plain));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(decode(PixelFormat::yuv420p, found), (Steps{kUp, kRun, kDown}));
    EXPECT_EQ(squared_error(std::as_const(plain).view(), std::as_const(found).view()).sum,
              (std::array<std::uint64_t, 3>{}));
    EXPECT_EQ(decode(PixelFormat::rgb24, found), (Steps{kUp, kRun, kRun, kDown}));
    ASSERT_TRUE(decoder_->decode(jpeg_, PixelFormat::rgb24, found));  // without DeviceSpans
  }
}

TEST_F(SpanClockParity, ADamagedScanRunsOnTheDeviceFirst) {
  const std::vector<std::byte> whole = jpeg_;
  jpeg_.resize(jpeg_.size() * 3 / 4);  // the end is concealed
  Frame out;
  const Steps steps = decode(PixelFormat::yuv420p, out);
  ASSERT_GE(steps.size(), 3U);
  EXPECT_EQ(steps[0], kUp);
  EXPECT_EQ(steps[1], kRun);
  EXPECT_EQ(steps.back(), kDown);
  jpeg_ = whole;
  EXPECT_EQ(decode(PixelFormat::yuv420p, out), (Steps{kUp, kRun, kDown}));
}

}  // namespace
}  // namespace zerorun::test
