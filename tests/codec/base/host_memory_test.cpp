// Host buffers and frames of both kinds of memory.
// SPDX-License-Identifier: MIT
#include "zerorun/backend.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/gpu_required.hpp"
#include "zerorun/frame.hpp"

#if defined(__SANITIZE_ADDRESS__)
/// An allocation that cannot be had fails here as it does without the sanitizer, which would abort.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace zerorun {
namespace {

bool is_aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 64 == 0; }

TEST(HostBuffer, GrowsAndKeeps) {
  HostBuffer buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.memory(), HostMemory::pageable);
  ASSERT_TRUE(buffer.resize(1000).is_ok());
  const std::byte* const first = buffer.data();
  EXPECT_TRUE(is_aligned(first));
  EXPECT_EQ(buffer.size(), 1000u);
  EXPECT_GE(buffer.capacity(), 1000u);
  ASSERT_TRUE(buffer.resize(10).is_ok());
  EXPECT_EQ(buffer.data(), first);
  EXPECT_EQ(buffer.bytes().size(), 10u);
  ASSERT_TRUE(buffer.reserve(100000).is_ok());
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_GE(buffer.capacity(), 100000u);
}

TEST(HostBuffer, MovedFromIsEmpty) {
  HostBuffer a;
  ASSERT_TRUE(a.resize(100).is_ok());
  const std::byte* const memory = a.data();
  HostBuffer b(std::move(a));
  EXPECT_EQ(b.data(), memory);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): the contract
  EXPECT_EQ(a.size(), 0u);
  std::swap(a, b);
  EXPECT_EQ(a.data(), memory);
  EXPECT_EQ(b.data(), nullptr);
}

TEST(HostBuffer, TellsThatMemoryIsOut) {
  HostBuffer buffer;
  EXPECT_EQ(buffer.resize(std::numeric_limits<std::size_t>::max()).code(), Errc::out_of_memory);
  EXPECT_EQ(buffer.resize(std::size_t{1} << 60).code(), Errc::out_of_memory);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0u);
}

TEST(HostMemory, PinnedNeedsADevice) {
  HostBuffer buffer(HostMemory::pinned);
  const Status status = buffer.resize(5000);
  const auto frame = Frame::create(PixelFormat::yuv420p, 33, 17, HostMemory::pinned);
  EXPECT_EQ(Frame().memory(), HostMemory::pageable);
  if (resolve_backend(Backend::cuda)) {
    ASSERT_TRUE(status.is_ok()) << status.message();
    EXPECT_TRUE(is_aligned(buffer.data()));
    buffer.data()[4999] = std::byte{1};
    ASSERT_TRUE(frame.is_ok()) << frame.status().message();
    EXPECT_EQ(frame->memory(), HostMemory::pinned);
  } else {
    EXPECT_FALSE(test::gpu_required()) << status.message();
    EXPECT_EQ(group(status.code()), ErrorGroup::device) << status.message();
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(group(frame.status().code()), ErrorGroup::device);
  }
}

}  // namespace
}  // namespace zerorun
