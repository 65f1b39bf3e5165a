// Calls a primitive as an application would: scratch of exactly the size that it asks for.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "tests/support/guarded_buffer.hpp"
#include "zerorun/cuda_entropy.hpp"

namespace zerorun::test {

/// call(scratch, bytes) is made twice, to measure and to launch.
template <typename Call>
void with_scratch(const Call& call) {
  std::size_t bytes = 0;
  const Status measured = call(nullptr, bytes);
  ASSERT_TRUE(measured.is_ok()) << measured.detail();
  GuardedBuffer<unsigned char> scratch(Memory::device, bytes);
  const Status launched = call(scratch.data(), bytes);
  ASSERT_TRUE(launched.is_ok()) << launched.detail();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

/// The same for calls that leave an outcome on the device.
template <typename Call>
cuda_entropy::Outcome outcome_of(const Call& call) {
  GuardedBuffer<cuda_entropy::Outcome> outcome(Memory::device, 1);
  with_scratch(
      [&](void* scratch, std::size_t& bytes) { return call(scratch, bytes, outcome.data()); });
  return outcome.to_host()[0];
}

/// Code and position; the sentences of the twins differ.
inline void expect_same_fault(const Status& device, const Status& host) {
  EXPECT_EQ(name(device.code()), name(host.code()));
  EXPECT_EQ(device.byte_offset(), host.byte_offset());
}

}  // namespace zerorun::test
