// Where a clean byte of a scan lies in the stuffed data, beside a walk from byte to byte.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/scan_intervals.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

/// Stuffed bytes, with fill bytes, and where each clean byte begins.
struct Stuffed {
  std::vector<std::uint8_t> data;
  std::vector<std::uint64_t> begin;
};

Stuffed make_stuffed(int clean, int one_of, Random& random) {
  Stuffed made;
  for (int i = 0; i < clean; ++i) {
    made.begin.push_back(made.data.size());
    const bool ff = random.below(one_of) == 0;
    made.data.push_back(ff ? 0xFF : static_cast<std::uint8_t>(random.below(255)));
    if (!ff) continue;
    for (int fill = random.below(3); fill > 0; --fill) made.data.push_back(0xFF);
    made.data.push_back(0);
  }
  made.begin.push_back(made.data.size());
  return made;
}

TEST(SourceOffset, IsThatOfEveryCleanByte) {
  Random random(11);
  for (const int one_of : {1, 2, 10, 300})
    for (const int clean : {0, 1, 2, 40, 700}) {
      const Stuffed made = make_stuffed(clean, one_of, random);
      for (std::size_t first = 0; first < made.begin.size(); first += 1 + first / 3) {
        const EntropySegment segment{first, made.begin[first], 0};
        for (std::size_t at = first; at < made.begin.size(); ++at)
          ASSERT_EQ(source_offset(made.data, segment, at), made.begin[at]) << first << " " << at;
        EXPECT_EQ(source_offset(made.data, segment, made.begin.size() + 5), made.data.size());
      }
    }
}

TEST(SourceOffset, EndsWithDataThatAreCutBehindFF) {
  const std::vector<std::uint8_t> data = {1, 0xFF, 0xFF};
  EXPECT_EQ(source_offset(data, {0, 0, 0}, 1), 1u);
  EXPECT_EQ(source_offset(data, {0, 0, 0}, 2), 3u);
  EXPECT_EQ(source_offset(data, {0, 0, 0}, 9), 3u);
  EXPECT_EQ(source_offset({}, {0, 0, 0}, 9), 0u);
}

}  // namespace
}  // namespace zerorun::test
