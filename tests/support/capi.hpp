// Shared by the tests of the C interface.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>

#include "tests/support/test_frame.hpp"
#include "zerorun/zerorun.h"

namespace zerorun::test {

/// A struct of the C interface, all zero but its size.
template <typename T>
T sized() {
  T out{};
  out.struct_size = sizeof out;
  return out;
}

/// A handle that ends with the test.
template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const {
    kDestroy(handle);
  }
};
template <typename T, auto kDestroy>
using Handle = std::unique_ptr<T, Destroy<kDestroy>>;

inline zerorun_frame to_c(const ConstFrameView& view) {
  auto out = sized<zerorun_frame>();
  out.format = static_cast<std::int32_t>(view.format);
  out.width = view.width;
  out.height = view.height;
  for (std::size_t p = 0; p < view.data.size(); ++p)
    out.data[p] = const_cast<std::uint8_t*>(view.data[p]);  // encoders only read
  std::ranges::copy(view.stride_bytes, out.stride_bytes);
  return out;
}

inline zerorun_frame to_c(TestFrame& frame) { return to_c(frame.view()); }

}  // namespace zerorun::test
