// Unstuffing in pieces against the reference stage.
// SPDX-License-Identifier: MIT
#include "codec/fast/scan_decoder.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "codec/decode/byte_unstuff.hpp"
#include "tests/codec/fast/cpu_choice.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

/// Data with many FF; restart markers in order, mostly; often another marker, and bytes behind it.
std::vector<std::uint8_t> any_data(Random& random) {
  std::vector<std::uint8_t> data;
  int next = 0;
  for (int i = random.below(400); i > 0; --i) {
    const int kind = random.below(12);
    if (kind == 0) data.insert(data.end(), static_cast<std::size_t>(random.between(1, 4)), 0xFF);
    if (kind <= 3) data.insert(data.end(), {0xFF, 0});
    if (kind == 4 && random.below(3) == 0)
      data.insert(data.end(), {0xFF, static_cast<std::uint8_t>(0xD0 + next++ % 8)});
    if (kind == 5 && random.below(60) == 0) data.insert(data.end(), {0xFF, 0xD9});
    if (kind > 5) data.push_back(static_cast<std::uint8_t>(random.byte()));
  }
  return data;
}

TEST(Unstuffer, AnyDataInAnyNumberOfPieces) {
  Random random(21);
  for (const InstructionSet target : fast_targets()) {
    fast::Unstuffer unstuffer(fast::decode_kernels(target));
    for (int n = 0; n < 4000; ++n) {
      const std::vector<std::uint8_t> data = any_data(random);
      std::vector<std::uint8_t> clean(data.size() + 1);
      std::vector<EntropySegment> segments(data.size() / 2 + 2);
      std::uint64_t total = 0, consumed = 0;
      Exec exec;
      (void)byte_unstuff_cpu(
          {data.data(), data.size(), clean.data(), segments.data(), &total, &consumed}, exec);
      const int jobs = random.between(1, 20);
      unstuffer.cut(data, jobs);
      for (int job = jobs - 1; job >= 0; --job) unstuffer.unstuff(job);
      unstuffer.join();
      if (jobs > 1)
        for (int job = 1; job < jobs; ++job) unstuffer.move(job);
      ASSERT_EQ(unstuffer.consumed_bytes(), consumed);
      segments.resize(total + 1);
      ASSERT_TRUE(std::ranges::equal(unstuffer.segments(), segments)) << jobs << " pieces";
      const auto size = static_cast<std::ptrdiff_t>(segments[total].first_byte);
      ASSERT_TRUE(std::equal(clean.begin(), clean.begin() + size, unstuffer.bytes()))
          << jobs << " pieces";
    }
  }
}

}  // namespace
}  // namespace zerorun::test
