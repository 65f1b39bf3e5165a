// Launches by a graph do what the launches themselves do, and graphs are made, kept and forgotten.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <vector>

#include "cuda/launch_graphs.hpp"
#include "tests/parity/device_array.hpp"
#include "tests/parity/device_frame.hpp"
#include "tests/support/gpu.hpp"
#include "zerorun/cuda_encoder.hpp"

namespace zerorun::test {
namespace {

class LaunchGraphsParity : public GpuTest {
 protected:
  /// Runs with this key; returns how often the work was enqueued by itself or captured.
  int run(std::uint64_t key) {
    calls_ = 0;
    EXPECT_EQ(cudaMemset(memory_.data(), 0, kBytes), cudaSuccess);
    const Status status = graphs_.run({key, 1}, nullptr, [&](cudaStream_t stream) {
      ++calls_;
      EXPECT_EQ(cudaMemsetAsync(memory_.data(), static_cast<int>(key), kBytes, stream),
                cudaSuccess);
      return Status::ok();
    });
    EXPECT_TRUE(status) << status.message();
    EXPECT_EQ(memory_.to_host(), std::vector<std::uint8_t>(kBytes, static_cast<std::uint8_t>(key)));
    return calls_;
  }

  static constexpr std::size_t kBytes = 1000;
  DeviceArray<std::uint8_t> memory_{kBytes};
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
