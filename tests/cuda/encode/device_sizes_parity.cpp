// Frames in device memory are coded to sizes without the host, and give the streams of Encoder.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/base/memory.hpp"
#include "tests/cuda/encode/device_job.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

class DeviceSizesParity : public GpuTest {
 protected:
  void open(EncodeParams params) {
    params.device = 0;
    params.backend = Backend::automatic;
    device_ = make_coder<DeviceEncoder>(params);
    params.backend = Backend::cpu;
    cpu_ = make_coder<Encoder>(params);
    ASSERT_TRUE(device_ && cpu_);
    jobs_.clear();
  }

  void add(Content content, PixelFormat format, int width, int height, std::uint64_t seed = 5) {
    jobs_.push_back(std::make_unique<Job>(*cpu_, make_frame(content, format, width, height, seed)));
    reached_ += is_reached(*jobs_.back()) ? 1 : 0;
    ++all_;
  }

  static bool is_reached(const Job& job) { return !job.expected().empty(); }

  /// Three times: by launches, by a graph that is made, and by that graph.
  void expect_all() {
    for (int turn = 0; turn < 3; ++turn) {
      std::vector<DeviceEncodeJob> jobs;
      for (const auto& one : jobs_) jobs.push_back(one->job());
      const Status status = device_->encode_batch(jobs, nullptr);
      ASSERT_TRUE(status) << status.message();
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        SCOPED_TRACE(testing::Message() << "turn " << turn << " frame " << i);
        ASSERT_NO_FATAL_FAILURE(jobs_[i]->expect_done());
      }
    }
  }

  std::optional<DeviceEncoder> device_;
  std::optional<Encoder> cpu_;
  std::vector<std::unique_ptr<Job>> jobs_;
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

}  // namespace
}  // namespace zerorun::test
