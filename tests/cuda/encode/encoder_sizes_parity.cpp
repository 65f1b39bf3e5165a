// Encoder brings frames of the host, and a video decoder's pictures, to sizes on the device: the
// streams and reports are those of the CPU, whatever was asked of the frames before.
// SPDX-License-Identifier: MIT
#include <optional>
#include <utility>
#include <vector>

#include "tests/cuda/device_frame.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

class EncoderSizesParity : public GpuTest {
 protected:
  void open(EncodeParams params) {
    params.threads = 1;
    params.note_setting = true;
    params.backend = Backend::cpu;
    cpu_ = make_coder<Encoder>(params);
    params.backend = Backend::cuda;
    cuda_ = make_coder<Encoder>(params);
    ASSERT_TRUE(cpu_ && cuda_);
  }

  void set_size(const SizeGoal& size) {
    ASSERT_TRUE(cpu_->set_size(size));
    ASSERT_TRUE(cuda_->set_size(size));
  }

  /// `picture`: the frame, or a surface with its samples.
  template <typename Picture>
  void expect_same(const ConstFrameView& frame, const Picture& picture) {
    std::vector<std::byte> expected, found;
    const auto cpu = cpu_->encode(frame, expected);
    const auto cuda = cuda_->encode(picture, found);
    ASSERT_EQ(cuda.status().message(), cpu.status().message());
    ++(cpu ? reached_ : unreached_);
    if (!cpu) return;
    EXPECT_EQ(cuda->bytes, cpu->bytes);
    EXPECT_EQ(cuda->quality, cpu->quality);
    EXPECT_EQ(cuda->thrift, cpu->thrift);
    EXPECT_EQ(cuda->codings, cpu->codings);
    EXPECT_EQ(cuda->restart_interval_mcus, cpu->restart_interval_mcus);
    EXPECT_GT(cuda->device_microseconds, 0);
    ASSERT_TRUE(found == expected) << found.size() << " and " << expected.size() << " bytes";
  }
  void expect_same(const TestFrame& frame) { expect_same(frame.view(), frame.view()); }

  int reached_ = 0, unreached_ = 0;
  std::optional<Encoder> cpu_, cuda_;
};

/// One encoder, as video with a bitrate uses it: sizes, caps, qualities and plain frames in turn.
TEST_F(EncoderSizesParity, AnotherGoalForEachFrame) {
  const SizeGoal goals[] = {
      {30000}, {31000},      {500},           {}, {0, 20000}, {0, 900000}, {45000, 40000}, {30000},
      {0, 25}, {0, 0, 35.0}, {0, 0, 0, 0.94}, {}, {60000},    {60001}};
  for (const HuffmanTables tables :
       {HuffmanTables::standard, HuffmanTables::optimal, HuffmanTables::trained})
    for (const Tune tune : {Tune::exact, Tune::photo}) {
      EncodeParams params;
      params.huffman = tables;
      params.tune = tune;
      params.restart = RestartPolicy::mcu_rows(2);
      ASSERT_NO_FATAL_FAILURE(open(params));
      for (const auto& [width, height] : {std::pair{403, 317}, std::pair{1283, 723}})
        for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::yuv444p})
          for (std::uint64_t i = 0; i < std::size(goals); ++i) {
            SCOPED_TRACE(testing::Message() << static_cast<int>(tables) << " " << name(tune) << " "
                                            << width << " " << name(format) << " goal " << i);
            ASSERT_NO_FATAL_FAILURE(set_size(goals[i]));
            ASSERT_NO_FATAL_FAILURE(
                expect_same(make_frame(Content::photo, format, width, height, i)));
          }
    }
  EXPECT_GT(unreached_, 0);
  EXPECT_GT(reached_, unreached_ / 2);
}

/// The launches become graphs, and their memory is used again.
TEST_F(EncoderSizesParity, ManyFramesOfOneSize) {
  EncodeParams params;
  params.size.target_bytes = 60000;
  ASSERT_NO_FATAL_FAILURE(open(params));
  for (std::uint64_t i = 0; i < 12; ++i)
    ASSERT_NO_FATAL_FAILURE(expect_same(make_frame(i % 3 == 2 ? Content::noise : Content::photo,
                                                   PixelFormat::yuv420p, 1280, 720, i)));
}

/// A stream for which there is no memory at first.
TEST_F(EncoderSizesParity, StreamsLargerThanTheirSamples) {
  EncodeParams params;
  params.quality = 100;
  params.size.max_bytes = 1 << 20;
  ASSERT_NO_FATAL_FAILURE(open(params));
  const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv444p, 256, 192, 3);
  ASSERT_NO_FATAL_FAILURE(expect_same(frame));
  ASSERT_NO_FATAL_FAILURE(expect_same(frame));
  std::vector<std::byte> jpeg;
  const auto report = cuda_->encode(frame.view(), jpeg);
  ASSERT_TRUE(report);
  EXPECT_GT(report->bytes, std::size_t{256 * 192 * 3 + 4096});
  EXPECT_EQ(report->codings, 1);
}

TEST_F(EncoderSizesParity, SurfacesOfVideoDecoders) {
  EncodeParams params;
  params.quality = 80;
  for (const auto& [width, height] : {std::pair{203, 117}, std::pair{1283, 723}}) {
    const TestFrame frame = make_frame(Content::photo, PixelFormat::nv12, width, height, 7);
    const DeviceFrame on_device(frame);
    SampleConversion same;
    same.y_y.slope = same.cb_cb.slope = same.cr_cr.slope = 1 << 16;
    const DeviceSurface surface{width,
                                height,
                                on_device.view.data[0],
                                on_device.view.data[1],
                                on_device.view.stride_bytes[0],
                                on_device.view.stride_bytes[1],
                                same};
    const auto pixels = static_cast<std::size_t>(width * height);
    for (const SizeGoal& goal : {SizeGoal{pixels / 6}, SizeGoal{0, pixels / 8}, SizeGoal{50},
                                 SizeGoal{}, SizeGoal{pixels / 10}}) {
      params.size = goal;
      ASSERT_NO_FATAL_FAILURE(open(params));
      for (int turn = 0; turn < 3; ++turn)
        ASSERT_NO_FATAL_FAILURE(expect_same(frame.view(), surface)) << width;
    }
    ASSERT_NO_FATAL_FAILURE(set_size({0, 0, 40, 0}));
    std::vector<std::byte> jpeg;
    EXPECT_EQ(cuda_->encode(surface, jpeg).status().code(), Errc::invalid_argument);
  }
  EXPECT_EQ(unreached_, 6);
}

}  // namespace
}  // namespace zerorun::test
