// Guarded buffers and frames in device memory.
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

/// In device memory, of exact size, poisoned, between canaries.
template <typename T>
class DeviceArray : public GuardedBuffer<T> {
 public:
  explicit DeviceArray(std::size_t size) : GuardedBuffer<T>(Memory::device, size) {}
  explicit DeviceArray(const std::vector<T>& values)
      : GuardedBuffer<T>(Memory::device, std::span<const T>(values)) {}

  /// Waits for all streams: copying alone waits for the default stream only.
  std::vector<T> to_host() {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return GuardedBuffer<T>::to_host();
  }
};

/// A tight device copy of plane after plane.
struct DeviceFrame {
  explicit DeviceFrame(const TestFrame& frame) : memory(frame.packed()) {
    const ConstFrameView host = frame.view();
    view = {host.format, host.width, host.height, {}, {}};
    const std::uint8_t* next = memory.data();
    for (int p = 0; p < plane_count(host.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      view.data[plane] = next;
      view.stride_bytes[plane] = static_cast<std::ptrdiff_t>(frame.row_bytes(p));
      next += frame.row_bytes(p) * static_cast<std::size_t>(frame.rows(p));
    }
  }
  DeviceArray<std::uint8_t> memory;
  ConstFrameView view;
};

/// A host frame's twin in device or pinned memory: the same strides and directions, padding
/// included, so that a write between rows shows.
class DeviceTwin {
 public:
  /// `like` gives layout and contents, and stays where download() puts them.
  explicit DeviceTwin(TestFrame& like, Memory kind = Memory::device)
      : host_(like.view()), view_(host_) {
    for (int p = 0; p < plane_count(host_.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      const std::span<std::uint8_t> memory = plane_memory(p);
      memory_[plane] = std::make_unique<GuardedBuffer<std::uint8_t>>(
          kind, std::span<const std::uint8_t>(memory));
      view_.data[plane] = memory_[plane]->data() + (host_.data[plane] - memory.data());
    }
  }

  /// The frame in that memory.
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
