// Tests the tools of the tests: the oracle, the guards, the measurements.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "tests/support/page_end_buffer.hpp"
#include "tests/support/resources.hpp"

namespace zerorun::test {
namespace {

TEST(Oracle, WarnsOfCutsAndRefusesNonsense) {
  std::vector<std::byte> jpeg = libjpeg_sample(64, 64, Subsampling::s420);
  std::vector<ComponentCoefficients> coefficients;
  EXPECT_TRUE(libjpeg_coefficients(jpeg, coefficients).clean());
  jpeg.resize(jpeg.size() / 2);
  const LibjpegVerdict cut = libjpeg_coefficients(jpeg, coefficients);
  EXPECT_TRUE(cut.delivered);
  EXPECT_GT(cut.warnings, 0);
  const LibjpegVerdict nonsense = libjpeg_coefficients(std::span(jpeg).subspan(7), coefficients);
  EXPECT_FALSE(nonsense.delivered);
  EXPECT_FALSE(nonsense.text.empty());
}

TEST(PageEndBuffer, EndsWhereAPageEnds) {
  const std::vector<std::byte> data(5000, std::byte{7});
  const PageEndBuffer buffer(data);
  EXPECT_TRUE(std::ranges::equal(buffer.bytes(), data));
  const volatile std::byte* past = buffer.bytes().data() + buffer.bytes().size();
  EXPECT_DEATH((void)std::to_integer<int>(*past), "");
  EXPECT_TRUE(PageEndBuffer({}).bytes().empty());
}

}  // namespace
}  // namespace zerorun::test
