// Where CUDA fails although there is a usable device, an automatic choice takes the CPU.
// SPDX-License-Identifier: MIT
#include <vector>

#include "cuda/base/this_device.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

/// No coder of the CUDA backend can be made in this program: its limits are those of no device.
class BackendChoiceParity : public GpuTest {
 protected:
  void SetUp() override {
    set_test_unusable();
    GpuTest::SetUp();
  }
};

TEST_F(BackendChoiceParity, AutomaticCodersTakeTheCpu) {
  ASSERT_TRUE(resolve_backend(Backend::cuda)) << "the device itself is usable";
  const TestFrame frame = make_frame(Content::photo, PixelFormat::rgb24, 64, 48, 1);
  auto encoder = Encoder::create({});
  ASSERT_TRUE(encoder) << encoder.status().message();
  EXPECT_EQ(encoder->backend(), Backend::cpu);
  std::vector<std::byte> jpeg;
  ASSERT_TRUE(encoder->encode(frame.view(), jpeg));
  auto decoder = Decoder::create({});
  ASSERT_TRUE(decoder) << decoder.status().message();
  EXPECT_EQ(decoder->backend(), Backend::cpu);
  Frame decoded;
  EXPECT_TRUE(decoder->decode(jpeg, PixelFormat::rgb24, decoded));
}

TEST_F(BackendChoiceParity, LanesTakeTheCpu) {
  auto encoder = AsyncEncoder::create({});
  ASSERT_TRUE(encoder) << encoder.status().message();
  EXPECT_EQ(encoder->backend(), Backend::cpu);
  auto decoder = AsyncDecoder::create({});
  ASSERT_TRUE(decoder) << decoder.status().message();
  EXPECT_EQ(decoder->backend(), Backend::cpu);
}

TEST_F(BackendChoiceParity, AnExplicitChoiceFails) {
  EncodeParams encode;
  encode.backend = Backend::cuda;
  EXPECT_EQ(Encoder::create(encode).status().code(), Errc::device_failure);
  EXPECT_EQ(DeviceEncoder::create(encode).status().code(), Errc::device_failure);
  DecodeParams decode;
  decode.backend = Backend::cuda;
  EXPECT_EQ(Decoder::create(decode).status().code(), Errc::device_failure);
  EXPECT_EQ(DeviceDecoder::create(decode).status().code(), Errc::device_failure);
}

}  // namespace
}  // namespace zerorun::test
