// Division by a known divisor equals division.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>

#include "cuda/base/known_divisor.hpp"

namespace zerorun::test {
namespace {

TEST(KnownDivisor, DividesAsDivisionDoes) {
  constexpr std::uint32_t kEnd = 1u << 31;
  for (std::uint32_t d = 1; d <= 70'000; d += d < 2000 ? 1 : 977) {
    const KnownDivisor divisor(d);
    for (const std::uint32_t base : {0u, d, 7 * d, 1000 * d, kEnd / 2, kEnd - 2 * d, kEnd / d * d})
      for (const std::int64_t near : {-1, 0, 1}) {
        const std::int64_t n = std::int64_t{base} + near;
        if (n < 0 || n >= std::int64_t{kEnd}) continue;
        const auto number = static_cast<std::uint32_t>(n);
        ASSERT_EQ(divisor.quotient(number), number / d) << number << " / " << d;
      }
  }
}

}  // namespace
}  // namespace zerorun::test
