// Scans and stream compaction on the device equal the serial twins.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/cuda/entropy/inputs.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 2, 33, 255, 256, 257, 4095, 4097, 100003};
constexpr std::size_t kLarge = (std::size_t{1} << 26) + 5;

class ScanParity : public GpuTest {
 protected:
  static void expect_parity(std::size_t size) {
    Random random(size);
    std::vector<std::uint32_t> in(size), expected(size);
    for (auto& word : in) word = static_cast<std::uint32_t>(random.next());
    GuardedBuffer<std::uint32_t> d_in(Memory::device, in), d_out(Memory::device, size);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cuda_entropy::exclusive_scan(scratch, bytes, d_in.data(), size, d_out.data(), nullptr);
    });
    ASSERT_TRUE(entropy::exclusive_scan(in, expected).is_ok());
    EXPECT_TRUE(d_out.to_host() == expected);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cuda_entropy::inclusive_scan(scratch, bytes, d_in.data(), size, d_out.data(), nullptr);
    });
    ASSERT_TRUE(entropy::inclusive_scan(in, expected).is_ok());
    EXPECT_TRUE(d_out.to_host() == expected);
  }
};

TEST_F(ScanParity, EverySize) {
  for (const std::size_t size : kSizes) {
    SCOPED_TRACE(size);
    expect_parity(size);
  }
}

TEST_F(ScanParity, Large) { expect_parity(kLarge); }

class CompactParity : public GpuTest {
 protected:
  static void expect_parity(std::size_t size, int kept_percent) {
    Random random(size);
    std::vector<std::int32_t> in(size), expected(size);
    std::vector<std::uint8_t> flags(size);
    for (auto& value : in) value = static_cast<std::int32_t>(random.next());
    for (auto& flag : flags)
      flag =
          random.below(100) < kept_percent ? static_cast<std::uint8_t>(1 + random.below(255)) : 0;
    const auto kept = entropy::compact(in, flags, expected);
    ASSERT_TRUE(kept.is_ok());
    expected.resize(*kept);
    GuardedBuffer<std::int32_t> d_in(Memory::device, in), d_out(Memory::device, *kept);
    GuardedBuffer<std::uint8_t> d_flags(Memory::device, flags);
    GuardedBuffer<std::uint64_t> d_kept(Memory::device, 1);
    with_scratch([&](void* scratch, std::size_t& bytes) {
      return cuda_entropy::compact(scratch, bytes, d_in.data(), d_flags.data(), size, d_out.data(),
                                   d_kept.data(), nullptr);
    });
    EXPECT_EQ(d_kept.to_host()[0], *kept);
    EXPECT_TRUE(d_out.to_host() == expected);
  }
};

TEST_F(CompactParity, EverySizeAndShare) {
  for (const std::size_t size : kSizes) {
    for (const int percent : {0, 1, 50, 100}) {
      SCOPED_TRACE(testing::Message() << size << " elements, " << percent << " % kept");
      expect_parity(size, percent);
    }
  }
}

TEST_F(CompactParity, Large) { expect_parity(kLarge, 30); }

}  // namespace
}  // namespace zerorun::test
