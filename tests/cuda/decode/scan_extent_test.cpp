// Where a scan's data end: at the first marker that is no RSTm, wherever it lies among blocks of
// bytes that are looked at together.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "codec/base/marker.hpp"
#include "cuda/decode/device_image.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Coded bytes, of which `dense` in 256 are FF: before a stuffed 00, or of RSTm, also with a fill
/// byte.
Bytes coded(Random& random, std::size_t size, int dense) {
  Bytes out;
  while (out.size() + 3 < size) {
    const int chance = random.between(0, 255);
    if (chance >= dense) {
      out.push_back(static_cast<std::uint8_t>(random.between(0, 254)));
      continue;
    }
    out.push_back(0xFF);
    const int kind = random.between(0, 9);
    if (kind == 0) out.push_back(0xFF);
    out.push_back(kind < 2 ? static_cast<std::uint8_t>(random.between(0xD0, 0xD7)) : 0);
  }
  out.resize(size);
  return out;
}

TEST(ScanExtent, EndsBehindTheFirstMarkerAtEveryPlace) {
  Random random(1);
  for (const int dense : {0, 1, 40}) {
    for (std::size_t at = 0; at < 3 * kCodedBlock + 3; ++at) {
      SCOPED_TRACE(testing::Message() << "marker at " << at << ", " << dense << " FF in 256");
      Bytes data = coded(random, at, dense);
      data.insert(data.end(), {0xFF, 0xD9});
      EXPECT_EQ(scan_extent(data), data.size());
      const Bytes behind = coded(random, static_cast<std::size_t>(random.between(0, 600)), 90);
      data.insert(data.end(), behind.begin(), behind.end());
      data.insert(data.end(), {0xFF, 0xDA, 0});
      EXPECT_EQ(scan_extent(data), at + 2);
      data.insert(data.begin() + static_cast<std::ptrdiff_t>(at), 3, 0xFF);  // fill bytes
      EXPECT_EQ(scan_extent(data), at + 5);
    }
  }
}

TEST(ScanExtent, WithoutAMarkerItIsAll) {
  Random random(2);
  for (std::size_t size = 0; size < 3 * kCodedBlock + 3; ++size) {
    SCOPED_TRACE(size);
    Bytes data = coded(random, size, 30);
    EXPECT_EQ(scan_extent(data), size);
    if (size == 0) continue;
    data.back() = 0xFF;  // the marker's code is missing
    EXPECT_EQ(scan_extent(data), size);
  }
}

}  // namespace
}  // namespace zerorun::test
