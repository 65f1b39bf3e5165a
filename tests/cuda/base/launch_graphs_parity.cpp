// A graph does what its launches do, and graphs are made, kept and evicted as they should.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "codec/pipeline/encode_setup.hpp"
#include "cuda/base/check.hpp"
#include "cuda/base/launch_graphs.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "tests/cuda/device_array.hpp"
#include "tests/cuda/device_frame.hpp"
#include "tests/support/gpu.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

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

/// Without a graph there are always as many rounds as there may be. With one there are those that
/// the device needs, if its driver has loops; they stand in drivers since CUDA 12.4.
TEST_F(LaunchGraphsParity, RoundsEndOnTheDevice) {
  int driver = 0;
  ASSERT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  constexpr std::size_t kMost = 4;
  // A round moves all values one place forward.
  DeviceArray<std::uint32_t> ends(kMost + 1), rounds(kMost + 1);
  const auto move = [](DeviceArray<std::uint32_t>& values, cudaStream_t stream) {
    for (std::size_t i = 0; i < kMost; ++i)
      EXPECT_EQ(cudaMemcpyAsync(values.data() + i, values.data() + i + 1, sizeof(std::uint32_t),
                                cudaMemcpyDeviceToDevice, stream),
                cudaSuccess);
  };
  Stream own;
  ASSERT_TRUE(own.create());
  for (std::uint32_t time = 0; time < 12; ++time) {
    const std::uint32_t needed = time % 4;
    std::vector<std::uint32_t> of_ends, of_rounds;
    for (std::uint32_t i = 0; i <= kMost; ++i) {
      of_ends.push_back(i < needed ? 0 : 1);
      of_rounds.push_back(i);
    }
    const std::size_t bytes = of_ends.size() * sizeof of_ends[0];
    ASSERT_EQ(cudaMemcpy(ends.data(), of_ends.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(rounds.data(), of_rounds.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    const auto first = [&](cudaStream_t stream) {
      EXPECT_EQ(cudaMemsetAsync(memory_->data(), 1, kBytes, stream), cudaSuccess);
      return Status::ok();
    };
    const auto round = [&](cudaStream_t stream) {
      move(ends, stream);
      move(rounds, stream);
      return Status::ok();
    };
    const Status status = graphs_.run({50}, own.get(), {first, round, kMost, ends.data()});
    ASSERT_TRUE(status) << status.message();
    ASSERT_EQ(cudaStreamSynchronize(own.get()), cudaSuccess);
    const bool is_loop = time > 0 && driver >= 12040;
    EXPECT_EQ(rounds.to_host()[0], is_loop ? needed : kMost) << time;
  }
  EXPECT_EQ(graphs_.replays(), 11u);
}

/// Graphs that are made and evicted meanwhile do not disturb another thread's capture.
TEST_F(LaunchGraphsParity, CapturesOfOthersGoOn) {
  Stream own, other;
  ASSERT_TRUE(own.create() && other.create());
  std::promise<void> begun, enough;
  std::thread captor([&] {
    EXPECT_EQ(cudaStreamBeginCapture(other.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    begun.set_value();
    enough.get_future().wait();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(other.get(), &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  });
  begun.get_future().wait();
  for (int i = 0; i < 4; ++i) {
    const Status status = graphs_.run({40}, own.get(), [&](cudaStream_t stream) {
      ZR_CUDA_TRY(cudaMemsetAsync(memory_->data(), 40, kBytes, stream));
      return Status::ok();
    });
    EXPECT_TRUE(status) << status.message();
  }
  EXPECT_EQ(graphs_.replays(), 3u);
  graphs_.forget_all();
  enough.set_value();
  captor.join();
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

/// Two shapes in the same memory: graphs of one are evicted before the other is coded.
TEST_F(LaunchGraphsParity, ShapesThatTakeTurnsInOnePlace) {
  auto device = DeviceEncoder::create({});
  EncodeParams params;
  params.backend = Backend::cpu;
  auto cpu = Encoder::create(params);
  ASSERT_TRUE(device && cpu);
  Stream streams[2];
  for (Stream& stream : streams) ASSERT_TRUE(stream.create());
  const TestFrame pictures[] = {make_frame(Content::photo, PixelFormat::gray8, 200, 99, 1),
                                make_frame(Content::noise, PixelFormat::gray8, 99, 200, 2)};
  const DeviceFrame place(pictures[0]);
  DeviceArray<std::byte> out(std::size_t{1} << 18);
  DeviceArray<std::size_t> size(1);
  for (std::size_t i = 0; i < 36; ++i) {
    const TestFrame& picture = pictures[i / 7 % 2];
    const auto bytes = picture.packed();
    ASSERT_EQ(cudaMemcpy(place.memory.data(), bytes.data(), bytes.size(), cudaMemcpyDefault),
              cudaSuccess);
    ConstFrameView view = place.view;
    view.width = picture.view().width;
    view.height = picture.view().height;
    view.stride_bytes[0] = view.width;
    std::vector<std::byte> expected;
    ASSERT_TRUE(cpu->encode(picture.view(), expected));
    ASSERT_TRUE(device->encode(view, out.data(), std::size_t{1} << 18, size.data(),
                               streams[i / 3 % 2].get()));
    ASSERT_EQ(size.to_host()[0], expected.size()) << i;
    auto found = out.to_host();
    found.resize(expected.size());
    ASSERT_TRUE(found == expected) << i;
  }
}

/// Other pictures in the same memory, and other memory for the same pictures.
TEST_F(LaunchGraphsParity, PicturesThatTakeTurnsInOnePlace) {
  for (const HuffmanTables tables : {HuffmanTables::standard, HuffmanTables::optimal})
    for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::rgb24}) {
      EncodeParams params;
      params.huffman = tables;
      auto device = DeviceEncoder::create(params);
      params.backend = Backend::cpu;
      auto cpu = Encoder::create(params);
      ASSERT_TRUE(device && cpu);
      const TestFrame pictures[] = {make_frame(Content::photo, format, 200, 99, 1),
                                    make_frame(Content::noise, format, 200, 99, 2),
                                    make_frame(Content::flat, format, 200, 99, 3)};
      const DeviceFrame places[] = {DeviceFrame(pictures[0]), DeviceFrame(pictures[0])};
      DeviceArray<std::byte> out(std::size_t{1} << 18);
      DeviceArray<std::size_t> size(1);
      for (std::size_t i = 0; i < 24; ++i) {
        const TestFrame& picture = pictures[i % 3];
        const DeviceFrame& place = places[i / 8 % 2];
        const auto bytes = picture.packed();
        ASSERT_EQ(cudaMemcpy(place.memory.data(), bytes.data(), bytes.size(), cudaMemcpyDefault),
                  cudaSuccess);
        std::vector<std::byte> expected;
        ASSERT_TRUE(cpu->encode(picture.view(), expected));
        ASSERT_TRUE(
            device->encode(place.view, out.data(), std::size_t{1} << 18, size.data(), nullptr));
        ASSERT_EQ(size.to_host()[0], expected.size()) << i;
        auto found = out.to_host();
        found.resize(expected.size());
        ASSERT_TRUE(found == expected) << i;
      }
    }
}

}  // namespace
}  // namespace zerorun::test
