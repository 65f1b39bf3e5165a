// A graph does what its launches do, and graphs are made, kept and evicted as they should.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "codec/pipeline/encode_pipeline.hpp"
#include "cuda/base/check.hpp"
#include "cuda/base/launch_graphs.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

/// A capture that goes on in another thread, in the mode in which CUDA refuses some calls to all
/// threads. Fails the test if it is disturbed.
class CaptureOfAnotherThread {
 public:
  CaptureOfAnotherThread() : thread_([this] { capture(); }) { begun_.get_future().wait(); }
  ~CaptureOfAnotherThread() { end(); }
  void end() {
    if (!thread_.joinable()) return;
    enough_.set_value();
    thread_.join();
  }

 private:
  void capture() {
    Stream stream;
    EXPECT_TRUE(stream.create());
    EXPECT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    begun_.set_value();
    enough_.get_future().wait();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }

  std::promise<void> begun_, enough_;
  std::thread thread_;  // the last: it uses the others
};

class LaunchGraphsParity : public GpuTest {
 protected:
  /// Runs with this key. Returns how often the work was enqueued or captured.
  int run(std::uint64_t key) {
    calls_ = 0;
    EXPECT_EQ(cudaMemset(memory_->data(), 0, kBytes), cudaSuccess);
    const Status status = graphs_.run({key, 1}, nullptr, [&](cudaStream_t stream) {
      ++calls_;
      EXPECT_EQ(cudaMemsetAsync(memory_->data(), static_cast<int>(key), kBytes, stream),
                cudaSuccess);
      return Status::ok();
    });
    EXPECT_TRUE(status) << status.message();
    EXPECT_EQ(memory_->to_host(),
              std::vector<std::uint8_t>(kBytes, static_cast<std::uint8_t>(key)));
    return calls_;
  }

  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) memory_.emplace(kBytes);
  }

  static constexpr std::size_t kBytes = 1000;
  std::optional<DeviceArray<std::uint8_t>> memory_;
  LaunchGraphs graphs_;
  int calls_ = 0;
};

TEST_F(LaunchGraphsParity, ASecondTimeIsCapturedAndAThirdIsNot) {
  for (const std::uint64_t key : {3u, 4u}) {
    EXPECT_EQ(run(key), 1);
    EXPECT_EQ(run(key), 1);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(run(key), 0);
  }
  EXPECT_EQ(run(3), 0);
  graphs_.forget_all();
  EXPECT_EQ(run(3), 1);
}

TEST_F(LaunchGraphsParity, TheOldestIsForgotten) {
  for (std::uint64_t key = 1; key <= 32; ++key) {
    (void)run(key);
    (void)run(key);
  }
  EXPECT_EQ(run(1), 0);  // 2 is the oldest from here on
  EXPECT_EQ(run(33), 1);
  EXPECT_EQ(run(1), 0);
  EXPECT_EQ(run(2), 1);
  EXPECT_EQ(run(32), 0);
}

TEST_F(LaunchGraphsParity, AnErrorIsToldAndNotKept) {
  const auto fails = [](cudaStream_t) { return Status(Errc::invalid_argument, "as asked"); };
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(graphs_.run({7}, nullptr, fails).code(), Errc::invalid_argument);
}

/// Graphs that are made and evicted meanwhile do not disturb another thread's capture.
TEST_F(LaunchGraphsParity, CapturesOfOthersGoOn) {
  Stream own;
  ASSERT_TRUE(own.create());
  CaptureOfAnotherThread other;
  for (int i = 0; i < 4; ++i) {
    const Status status = graphs_.run({40}, own.get(), [&](cudaStream_t stream) {
      ZR_CUDA_TRY(cudaMemsetAsync(memory_->data(), 40, kBytes, stream));
      return Status::ok();
    });
    EXPECT_TRUE(status) << status.message();
  }
  EXPECT_EQ(graphs_.replays(), 3u);
  graphs_.forget_all();
  other.end();
  EXPECT_EQ(memory_->to_host(), std::vector<std::uint8_t>(kBytes, 40));
}

/// The encoder uses two halves of its memory in turn, so that a frame in one place has two keys.
TEST_F(LaunchGraphsParity, TheEncoderReplays) {
  for (const HuffmanTables tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
    EncodeParams params;
    params.huffman = tables;
    const auto setup = make_encode_setup(params, PixelFormat::yuv420p, 120, 80);
    ASSERT_TRUE(setup);
    const DeviceFrame frame(make_frame(Content::photo, PixelFormat::yuv420p, 120, 80, 1));
    DeviceArray<std::uint8_t> out(std::size_t{1} << 16);
    DeviceArray<std::uint64_t> size(1);
    FrameEncoder encoder;
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(encoder.enqueue(*setup, frame.view,
                                  {out.data(), std::uint64_t{1} << 16, size.data()}, nullptr));
    EXPECT_EQ(encoder.replays(), 7u);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
}

/// A device encoder that codes picture after picture from one place in memory or another.
class Coders {
 public:
  explicit Coders(EncodeParams params) {
    device_ = make_coder<DeviceEncoder>(params);
    params.backend = Backend::cpu;
    cpu_ = make_coder<Encoder>(params);
  }

  /// `place` has room for the picture, which has its format.
  void expect_same(const TestFrame& picture, const DeviceFrame& place, cudaStream_t stream) {
    ASSERT_TRUE(device_ && cpu_);
    const auto bytes = picture.packed();
    ASSERT_EQ(cudaMemcpy(place.memory.data(), bytes.data(), bytes.size(), cudaMemcpyDefault),
              cudaSuccess);
    ConstFrameView view = place.view;
    if (view.format == PixelFormat::gray8) {  // of any shape
      view.width = picture.view().width;
      view.height = picture.view().height;
      view.stride_bytes[0] = view.width;
    }
    std::vector<std::byte> expected;
    ASSERT_TRUE(cpu_->encode(picture.view(), expected));
    ASSERT_TRUE(device_->encode(view, out_.data(), out_.size(), size_.data(), stream));
    ASSERT_EQ(size_.to_host()[0], expected.size());
    auto found = out_.to_host();
    found.resize(expected.size());
    ASSERT_TRUE(found == expected);
  }

 private:
  std::optional<DeviceEncoder> device_;
  std::optional<Encoder> cpu_;
  DeviceArray<std::byte> out_{std::size_t{1} << 18};
  DeviceArray<std::size_t> size_{1};
};

/// Two shapes in the same memory: graphs of one are evicted before the other is coded.
TEST_F(LaunchGraphsParity, ShapesThatTakeTurnsInOnePlace) {
  Stream streams[2];
  for (Stream& stream : streams) ASSERT_TRUE(stream.create());
  const TestFrame pictures[] = {make_frame(Content::photo, PixelFormat::gray8, 200, 99, 1),
                                make_frame(Content::noise, PixelFormat::gray8, 99, 200, 2)};
  const DeviceFrame place(pictures[0]);
  Coders coders({});
  for (std::size_t i = 0; i < 36; ++i)
    ASSERT_NO_FATAL_FAILURE(
        coders.expect_same(pictures[i / 7 % 2], place, streams[i / 3 % 2].get()))
        << i;
}

/// Other pictures in the same memory, and other memory for the same pictures.
TEST_F(LaunchGraphsParity, PicturesThatTakeTurnsInOnePlace) {
  for (const HuffmanTables tables : {HuffmanTables::standard, HuffmanTables::optimal})
    for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::rgb24}) {
      EncodeParams params;
      params.huffman = tables;
      Coders coders(params);
      const TestFrame pictures[] = {make_frame(Content::photo, format, 200, 99, 1),
                                    make_frame(Content::noise, format, 200, 99, 2),
                                    make_frame(Content::flat, format, 200, 99, 3)};
      const DeviceFrame places[] = {DeviceFrame(pictures[0]), DeviceFrame(pictures[0])};
      for (std::size_t i = 0; i < 24; ++i)
        ASSERT_NO_FATAL_FAILURE(coders.expect_same(pictures[i % 3], places[i / 8 % 2], nullptr))
            << i;
    }
}

}  // namespace
}  // namespace zerorun::test
