// A host frame's twin in device memory: the same strides and directions, padding included, so that
// a write between rows shows.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/support/guarded_buffer.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {

class DeviceTwin {
 public:
  /// `like` gives layout and contents, and stays where download() puts them.
  explicit DeviceTwin(TestFrame& like) : host_(like.view()), view_(host_) {
    for (int p = 0; p < plane_count(host_.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      const std::span<std::uint8_t> memory = plane_memory(p);
      memory_[plane] = std::make_unique<GuardedBuffer<std::uint8_t>>(
          Memory::device, std::span<const std::uint8_t>(memory));
      view_.data[plane] = memory_[plane]->data() + (host_.data[plane] - memory.data());
    }
  }

  /// The frame in device memory.
  const FrameView& view() const noexcept { return view_; }

  /// Waits for the device and brings every byte back, padding included.
  void download() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int p = 0; p < plane_count(host_.format); ++p)
      std::ranges::copy(memory_[static_cast<std::size_t>(p)]->to_host(), plane_memory(p).begin());
  }

 private:
  /// From the first byte of a plane to the last one, wherever its first row is.
  std::span<std::uint8_t> plane_memory(int p) const {
    const auto plane = static_cast<std::size_t>(p);
    const std::ptrdiff_t stride = host_.stride_bytes[plane];
    const std::ptrdiff_t last_row = stride * (plane_rows(host_.format, p, host_.height) - 1);
    const std::ptrdiff_t distance = std::max(last_row, -last_row);
    return {host_.data[plane] + std::min(last_row, std::ptrdiff_t{0}),
            static_cast<std::size_t>(distance) + plane_row_bytes(host_.format, p, host_.width)};
  }

  FrameView host_, view_;
  std::unique_ptr<GuardedBuffer<std::uint8_t>> memory_[3];
};

}  // namespace zerorun::test
