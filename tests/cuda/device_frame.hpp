// A frame of the tests in device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "tests/cuda/device_array.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {

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

}  // namespace zerorun::test
