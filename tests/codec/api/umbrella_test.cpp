// One include gives the whole codec: encode, inspect, decode.
// SPDX-License-Identifier: MIT
#include "zerorun/zerorun.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Umbrella, EncodesInspectsAndDecodes) {
  auto frame = zerorun::Frame::create(zerorun::PixelFormat::rgb24, 48, 32);
  ASSERT_TRUE(frame.is_ok()) << frame.status().message();
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 48 * 3; ++x)
      frame->view().data[0][y * frame->view().stride_bytes[0] + x] =
          static_cast<std::uint8_t>(x + y);
  auto encoder = zerorun::Encoder::create({});
  ASSERT_TRUE(encoder.is_ok()) << encoder.status().message();
  std::vector<std::byte> jpeg;
  ASSERT_TRUE(encoder->encode(frame->view(), jpeg).is_ok());
  const auto info = zerorun::inspect(jpeg);
  ASSERT_TRUE(info.is_ok()) << info.status().message();
  EXPECT_EQ(info->width, 48);
  auto decoder = zerorun::Decoder::create();
  ASSERT_TRUE(decoder.is_ok()) << decoder.status().message();
  zerorun::Frame out;
  const auto report = decoder->decode(jpeg, zerorun::PixelFormat::rgb24, out);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_EQ(out.height(), 32);
}

}  // namespace
