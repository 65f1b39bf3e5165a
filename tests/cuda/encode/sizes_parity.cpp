// Frames in device memory are coded to sizes without the host, and give the streams of Encoder.
// Encoder brings frames of the host, and a video decoder's pictures, to sizes on the device: the
// streams and reports are those of the CPU, whatever was asked of the frames before.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/encode/device_job.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

class DeviceSizesParity : public JobsTest {
 protected:
  void add(Content content, PixelFormat format, int width, int height) {
    JobsTest::add(make_frame(content, format, width, height, 5));
    reached_ += is_reached(*jobs_.back()) ? 1 : 0;
    ++all_;
  }

  static bool is_reached(const Job& job) { return !job.expected().empty(); }

  /// Three times: by launches, by a graph that is made, and by that graph.
  void expect_all() {
    for (int turn = 0; turn < 3; ++turn) {
      SCOPED_TRACE(testing::Message() << "turn " << turn);
      ASSERT_NO_FATAL_FAILURE(JobsTest::expect_all());
    }
  }

  int reached_ = 0, all_ = 0;
};

TEST_F(DeviceSizesParity, AllModes) {
  for (const Tune tune : kAllTunes)
    for (const Effort effort : kAllEfforts)
      for (const HuffmanTables tables :
           {HuffmanTables::standard, HuffmanTables::optimal, HuffmanTables::trained})
        for (const auto& [width, height] : {std::pair{203, 117}, std::pair{1283, 723}}) {
          SCOPED_TRACE(testing::Message() << name(tune) << ' ' << name(effort) << " tables "
                                          << static_cast<int>(tables) << ' ' << width);
          EncodeParams params;
          params.tune = tune;
          params.effort = effort;
          params.huffman = tables;
          params.note_setting = effort == Effort::best;
          params.size.target_bytes = static_cast<std::size_t>(width * height / 5);
          ASSERT_NO_FATAL_FAILURE(open(params));
          for (const Content content : {Content::photo, Content::noise, Content::checker})
            for (const PixelFormat format : {PixelFormat::rgb24, PixelFormat::yuv420p})
              add(content, format, width, height);
          ASSERT_NO_FATAL_FAILURE(expect_all());
        }
  EXPECT_GT(reached_ * 10, all_ * 9);
}

TEST_F(DeviceSizesParity, ManySizes) {
  for (const HuffmanTables tables : {HuffmanTables::standard, HuffmanTables::optimal})
    for (std::size_t target = 1500; target < 400000; target += target / 3) {
      SCOPED_TRACE(target);
      EncodeParams params;
      params.huffman = tables;
      params.size.target_bytes = target;
      ASSERT_NO_FATAL_FAILURE(open(params));
      add(Content::photo, PixelFormat::yuv420p, 640, 480);
      add(Content::photo, PixelFormat::yuv422p, 1024, 768);
      add(Content::gradient, PixelFormat::gray8, 1100, 500);
      add(Content::photo, PixelFormat::yuv444p, 64, 48);
      ASSERT_NO_FATAL_FAILURE(expect_all());
    }
  EXPECT_GT(reached_ * 2, all_);
}

/// Streams below a cap stay as they are.
TEST_F(DeviceSizesParity, Caps) {
  for (const Tune tune : {Tune::exact, Tune::photo, Tune::text})
    for (const std::size_t most : {20000u, 90000u, 2000000u}) {
      EncodeParams params;
      params.tune = tune;
      params.quality = 85;
      params.size.max_bytes = most;
      ASSERT_NO_FATAL_FAILURE(open(params));
      for (const int width : {320, 1280}) {
        add(Content::photo, PixelFormat::yuv420p, width, 720);
        add(Content::flat, PixelFormat::yuv420p, width, 720);
      }
      ASSERT_NO_FATAL_FAILURE(expect_all());
    }
}

TEST_F(DeviceSizesParity, WhatCannotBeReachedHasSizeZero) {
  for (const std::size_t overrun : {std::size_t{0}, std::size_t{1000000}})
    for (const int width : {64, 1280}) {
      EncodeParams params;
      params.size.target_bytes = 900;
      params.size.overrun_bytes = overrun;
      ASSERT_NO_FATAL_FAILURE(open(params));
      add(Content::noise, PixelFormat::yuv420p, width, 720);
      add(Content::flat, PixelFormat::gray8, 16, 16);
      EXPECT_EQ(is_reached(*jobs_[0]), overrun != 0);
      EXPECT_TRUE(is_reached(*jobs_[1]));
      ASSERT_NO_FATAL_FAILURE(expect_all());
    }
}

TEST_F(DeviceSizesParity, RestartIntervalsAndLargeFrames) {
  for (const RestartPolicy& restart :
       {RestartPolicy::none(), RestartPolicy::mcu_rows(1), RestartPolicy::mcus(7)})
    for (const HuffmanTables tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
      EncodeParams params;
      params.restart = restart;
      params.huffman = tables;
      params.size.target_bytes = 900000;
      ASSERT_NO_FATAL_FAILURE(open(params));
      add(Content::photo, PixelFormat::nv12, 3840, 2160);
      add(Content::photo, PixelFormat::rgb24, 2051, 1031);
      ASSERT_NO_FATAL_FAILURE(expect_all());
    }
}

TEST_F(DeviceSizesParity, QualitiesAreRefused) {
  EncodeParams params;
  params.size.target_psnr = 40;
  const auto refused = DeviceEncoder::create(params);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), Errc::invalid_argument);
  EXPECT_NE(refused.status().message().find("PSNR"), std::string::npos);
}

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
