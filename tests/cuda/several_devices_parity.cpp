// Several GPUs in one process: the bytes and samples of the CPU in order, also when one of them
// fails. CTest runs each test in a process of its own, because a broken device stays broken.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "codec/base/cuda_device.hpp"
#include "codec/base/pixel_rows.hpp"
#include "tests/cuda/test_kernels.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async.hpp"

namespace zerorun::test {
namespace {

constexpr int kFrames = 240;

class SeveralDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = gpu_absence(); !absence.empty()) {
      if (gpu_required()) FAIL() << "ZERORUN_REQUIRE_GPU=1, but there is no GPU: " << absence;
      GTEST_SKIP() << "needs two GPUs: " << absence;
    }
    if (usable_cuda_devices().size() < 2) GTEST_SKIP() << "needs two GPUs: there is one";
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      frames_.push_back(make_frame(Content::photo, PixelFormat::yuv420p,
                                   640 + 16 * static_cast<int>(seed), 360, seed));
      streams_.push_back(encoded_on_cpu(frames_.back().view()));
    }
  }

  const TestFrame& frame(std::size_t n) const { return frames_[n % frames_.size()]; }
  const Bytes& stream(std::size_t n) const { return streams_[n % streams_.size()]; }

  /// Sends kFrames frames by submit(number) and compares what comes back by is_right(out, number).
  /// Gives the devices that coded frames.
  template <typename Out, typename Coder, typename Submit, typename IsRight>
  static std::set<int> run_all(Coder& coder, const Submit& submit, const IsRight& is_right) {
    std::set<int> used;
    Out out;
    for (std::size_t sent = 0, got = 0; got < kFrames;) {
      if (sent < kFrames && coder.in_flight() < coder.depth()) {
        EXPECT_TRUE(submit(sent++).is_ok());
        continue;
      }
      EXPECT_EQ(coder.receive(out, true), Received::frame);
      EXPECT_TRUE(out.status.is_ok()) << out.status.message();
      if (!out.status) return used;
      EXPECT_EQ(out.number, static_cast<std::int64_t>(got));
      EXPECT_TRUE(is_right(out, got++)) << "frame " << out.number;
      used.insert(out.device);
    }
    return used;
  }

  std::set<int> encode_all(AsyncEncoder& encoder) const {
    return run_all<EncodedFrame>(
        encoder, [&](std::size_t n) { return encoder.submit(frame(n).view()); },
        [&](const EncodedFrame& out, std::size_t n) {
          return std::ranges::equal(out.jpeg.bytes(), stream(n));
        });
  }

  std::set<int> decode_all(AsyncDecoder& decoder) const {
    std::vector<Frame> wanted(frames_.size());
    Decoder alone = cpu_decoder();
    for (std::size_t i = 0; i < frames_.size(); ++i)
      EXPECT_TRUE(alone.decode(streams_[i], PixelFormat::yuv420p, wanted[i]).is_ok());
    return run_all<DecodedFrame>(
        decoder, [&](std::size_t n) { return decoder.submit(stream(n)); },
        [&](const DecodedFrame& out, std::size_t n) {
          const Frame& like = wanted[n % wanted.size()];
          return out.frame.width() == like.width() && out.frame.height() == like.height() &&
                 squared_error(out.frame.view(), like.view()).sum == std::array<std::uint64_t, 3>{};
        });
  }

  static AsyncEncoder encoder_on(const std::vector<int>& devices, Backend backend = Backend::cuda) {
    AsyncEncodeParams params;
    params.encode.backend = backend;
    params.devices = devices;
    return make_coder<AsyncEncoder>(params).value();
  }
  static AsyncDecoder decoder_on(const std::vector<int>& devices) {
    AsyncDecodeParams params;
    params.decode.backend = Backend::cuda;
    params.devices = devices;
    return make_coder<AsyncDecoder>(params).value();
  }

  static std::vector<int> lost(const std::vector<LostDevice>& devices) {
    std::vector<int> indices;
    for (const LostDevice& each : devices) indices.push_back(each.device);
    return indices;
  }

  /// Encodes all frames and breaks the device after a third. Gives how many came back; each of them
  /// has the right bytes or the error of a device.
  int encode_and_break(Backend backend, int broken) const {
    AsyncEncoder encoder = encoder_on({0, 1}, backend);
    EncodedFrame out;
    int sent = 0, right = 0;
    for (int got = 0; got < kFrames;) {
      if (sent < kFrames && encoder.in_flight() < encoder.depth()) {
        if (sent == kFrames / 3) {
          EXPECT_TRUE(break_device(broken));
        }
        EXPECT_TRUE(encoder.submit(frame(static_cast<std::size_t>(sent++)).view()).is_ok());
        continue;
      }
      EXPECT_EQ(encoder.receive(out, true), Received::frame);
      EXPECT_EQ(out.number, got);
      const auto& wanted = stream(static_cast<std::size_t>(got++));
      if (out.status) {
        EXPECT_TRUE(std::ranges::equal(out.jpeg.bytes(), wanted)) << "frame " << out.number;
        ++right;
      } else {
        EXPECT_EQ(group(out.status.code()), ErrorGroup::device) << out.status.message();
      }
    }
    return right;
  }

 private:
  std::vector<TestFrame> frames_;
  std::vector<Bytes> streams_;
};

TEST_F(SeveralDevices, ShareTheFramesOfAnEncoder) {
  AsyncEncoder encoder = encoder_on({0, 1});
  EXPECT_EQ(encoder.lanes(), 8);
  EXPECT_EQ(encode_all(encoder), (std::set{0, 1}));
  EXPECT_TRUE(encoder.lost_devices().empty());
}

TEST_F(SeveralDevices, ShareTheStreamsOfADecoder) {
  AsyncDecoder decoder = decoder_on({1, 0});
  EXPECT_EQ(decode_all(decoder), (std::set{0, 1}));
  EXPECT_TRUE(decoder.lost_devices().empty());
}

TEST_F(SeveralDevices, TheOthersTakeTheFramesOfOneThatFails) {
  set_test_devices({.failing = 1, .frames = 20});
  AsyncEncoder encoder = encoder_on({0, 1});
  EXPECT_EQ(encode_all(encoder), (std::set{0, 1}));
  EXPECT_EQ(lost(encoder.lost_devices()), std::vector{1});
}

// CUDA may report a broken context from all devices of the process. No frame is wrong, then, and
// none is missing; those that no device can code have an error.
TEST_F(SeveralDevices, ABrokenContextMakesNoFrameWrong) {
  EXPECT_GE(encode_and_break(Backend::cuda, 1), kFrames / 6);
}

// The device that is current in threads that never chose one.
TEST_F(SeveralDevices, ABrokenContextOfTheFirstDeviceMakesNoFrameWrong) {
  EXPECT_GE(encode_and_break(Backend::cuda, 0), kFrames / 6);
}

TEST_F(SeveralDevices, TheCpuTakesTheFramesOfABrokenContext) {
  EXPECT_EQ(encode_and_break(Backend::automatic, 1), kFrames);
}

TEST_F(SeveralDevices, TheFrameHasTheErrorWhenNoDeviceIsLeft) {
  AsyncEncoder encoder = encoder_on({0, 1});
  ASSERT_TRUE(break_device(0));
  ASSERT_TRUE(break_device(1));
  EncodedFrame out;
  ASSERT_TRUE(encoder.submit(frame(0).view()).is_ok());
  ASSERT_EQ(encoder.receive(out, true), Received::frame);
  EXPECT_EQ(group(out.status.code()), ErrorGroup::device) << out.status.message();
}

TEST_F(SeveralDevices, PinnedMemoryNearOneIsPinnedForAll) {
  for (const int device : {0, 1}) {
    const NearDevice near(device);
    HostBuffer buffer(HostMemory::pinned);
    ASSERT_TRUE(buffer.resize(std::size_t{8} << 20).is_ok());
    for (const int other : {0, 1}) {
      ASSERT_EQ(cudaSetDevice(other), cudaSuccess);
      cudaPointerAttributes attributes{};
      ASSERT_EQ(cudaPointerGetAttributes(&attributes, buffer.data()), cudaSuccess);
      EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
      EXPECT_EQ(attributes.devicePointer, static_cast<void*>(buffer.data()));
    }
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  }
}

}  // namespace
}  // namespace zerorun::test
