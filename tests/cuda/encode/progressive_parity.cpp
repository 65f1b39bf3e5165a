// Progressive streams of the GPU are those of the CPU, with the same script.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <utility>

#include "tests/cuda/encode/device_job.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/pictures.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

class ProgressiveParity : public JobsTest {
 protected:
  void open(EncodeParams params) {
    params.progressive = true;
    JobsTest::open(params);
  }
};

TEST_F(ProgressiveParity, FormatsAndSizes) {
  for (const PixelFormat format :
       {PixelFormat::yuv420p, PixelFormat::yuv422p, PixelFormat::yuv444p, PixelFormat::yuv440p,
        PixelFormat::yuv411p, PixelFormat::gray8, PixelFormat::nv12, PixelFormat::rgb24}) {
    ASSERT_NO_FATAL_FAILURE(open({}));
    // One after another with the same encoder, each shape in one batch.
    for (const auto& [width, height] : {std::pair{1, 1}, {8, 8}, {17, 9}, {61, 37}, {333, 222}})
      for (const Content content : kContents) add(content, format, width, height);
    SCOPED_TRACE(name(format));
    ASSERT_NO_FATAL_FAILURE(expect_all());
  }
}

TEST_F(ProgressiveParity, TunesAndQualities) {
  for (const Tune tune : {Tune::exact, Tune::photo, Tune::text})
    for (const Effort effort : {Effort::fast, Effort::best})
      for (const int quality : {5, 50, 90, 100}) {
        SCOPED_TRACE(testing::Message() << name(tune) << ' ' << name(effort) << ' ' << quality);
        EncodeParams params;
        params.tune = tune;
        params.effort = effort;
        params.quality = quality;
        ASSERT_NO_FATAL_FAILURE(open(params));
        for (const Content content : kContents) add(content, PixelFormat::yuv420p, 211, 173);
        ASSERT_NO_FATAL_FAILURE(expect_all());
      }
}

/// Also intervals that end within a tile, and that have a single block.
TEST_F(ProgressiveParity, RestartIntervals) {
  for (const RestartPolicy& restart :
       {RestartPolicy::mcus(1), RestartPolicy::mcus(33), RestartPolicy::mcus(700),
        RestartPolicy::mcu_rows(1), RestartPolicy::mcu_rows(3), RestartPolicy::automatic()})
    for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::yuv444p}) {
      EncodeParams params;
      params.restart = restart;
      ASSERT_NO_FATAL_FAILURE(open(params));
      for (const Content content : kContents) add(content, format, 333, 222);
      ASSERT_NO_FATAL_FAILURE(expect_all());
    }
}

/// Runs of 32767 ends of bands, and tiles without a bit.
TEST_F(ProgressiveParity, LongRuns) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  add(Content::flat, PixelFormat::gray8, 2400, 2000);
  // Some blocks that are not flat, far from each other.
  TestFrame frame = make_frame(Content::flat, PixelFormat::gray8, 2400, 2000, 1);
  for (const int at : {0, 2399, 2400 * 7, 2400 * 1000 + 555, 2400 * 1999 + 2399})
    frame.view().data[0][at] ^= 0x55;
  add(frame);
  ASSERT_NO_FATAL_FAILURE(expect_all());
}

/// Blocks that have nothing but correction bits: a run ends where libjpeg's buffer is full.
TEST_F(ProgressiveParity, RunsOfCorrectionBits) {
  EncodeParams params;
  params.quality = 100;
  ASSERT_NO_FATAL_FAILURE(open(params));
  for (const int amplitude : {20, 60, 100}) {
    TestFrame frame = make_frame(Content::flat, PixelFormat::gray8, 640, 480, 1);
    // All blocks are alike, and their coefficients large.
    for (int y = 0; y < 480; ++y)
      for (int x = 0; x < 640; ++x)
        frame.view().data[0][y * frame.view().stride_bytes[0] + x] = static_cast<std::uint8_t>(
            128 + ((x * 5 + y * 3) % 8 < 3 ? amplitude : -amplitude) * ((x % 8 + y % 8) % 3) / 2);
    add(frame);
  }
  ASSERT_NO_FATAL_FAILURE(expect_all());
}

TEST_F(ProgressiveParity, LargeFrames) {
  EncodeParams params;
  params.quality = 97;
  ASSERT_NO_FATAL_FAILURE(open(params));
  for (int i = 0; i < 6; ++i)
    add(i % 2 == 0 ? Content::photo : Content::noise, PixelFormat::yuv420p, 1921, 1081);
  ASSERT_NO_FATAL_FAILURE(expect_all());
}

TEST_F(ProgressiveParity, BatchesOfAnySizeAfterEachOther) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  for (int i = 0; i < 12; ++i) add(kContents[i % 6], PixelFormat::yuv420p, 200, 120);
  expect_parts_of({3, 1, 7, 2, 2, 7, 12, 1, 1, 12, 12, 5});
}

TEST_F(ProgressiveParity, OneOutputIsTooSmall) {
  ASSERT_NO_FATAL_FAILURE(open({}));
  for (int i = 0; i < 5; ++i) add(Content::photo, PixelFormat::yuv420p, 160, 90);
  expect_all_but_one();
}

/// Frames of the host, also to a size, which the host seeks.
TEST_F(ProgressiveParity, HostFrames) {
  for (const std::size_t target : {std::size_t{0}, std::size_t{9000}}) {
    EncodeParams params;
    params.progressive = true;
    params.size.target_bytes = target;
    params.backend = Backend::cuda;
    auto cuda = make_coder<Encoder>(params);
    params.backend = Backend::cpu;
    auto cpu = make_coder<Encoder>(params);
    ASSERT_TRUE(cuda && cpu);
    for (const auto& [width, height] : {std::pair{333, 222}, {100, 350}, {333, 222}}) {
      const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, width, height, 3);
      EXPECT_TRUE(encoded_by(*cuda, frame.view()) == encoded_by(*cpu, frame.view()));
    }
  }
}

TEST_F(ProgressiveParity, DeviceFramesReachNoSizes) {
  EncodeParams params;
  params.progressive = true;
  params.size.target_bytes = 1000;
  EXPECT_EQ(DeviceEncoder::create(params).status().code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace zerorun::test
