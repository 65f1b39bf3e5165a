// Tests the tools of the tests: the oracle, the guards, the measurements.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "tests/support/page_end_buffer.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/sha256.hpp"

namespace zerorun::test {
namespace {

TEST(Oracle, WarnsOfCutsAndRefusesNonsense) {
  Bytes jpeg = libjpeg_sample(64, 64, Subsampling::s420);
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

TEST(Segments, TakeAStreamApart) {
  LibjpegOptions options;
  options.restart_mcus = 3;
  const Bytes jpeg = libjpeg_sample(40, 40, Subsampling::s420, options);
  const Headers headers = parse_headers(jpeg);
  EXPECT_EQ(headers.count(0xC4), 4u);
  EXPECT_EQ(headers.segments.back().marker, 0xDA);
  const Tables tables = parse_tables(headers);
  EXPECT_EQ(tables.restart_interval, 3);
  EXPECT_EQ(tables.quant.size(), 2u);
  EXPECT_EQ(tables.huffman.size(), 4u);
  EXPECT_EQ(tables.huffman.at({0, 0}).values.size(), 12u);  // T.81 Table K.3
  const Bytes bare = without_segments(jpeg, 0xC4);
  EXPECT_EQ(parse_headers(bare).count(0xC4), 0u);
  EXPECT_TRUE(std::ranges::equal(from_sos(bare), from_sos(jpeg)));
}

TEST(PageEndBuffer, EndsWhereAPageEnds) {
  const std::vector<std::byte> data(5000, std::byte{7});
  const PageEndBuffer buffer(data);
  EXPECT_TRUE(std::ranges::equal(buffer.bytes(), data));
  const volatile std::byte* past = buffer.bytes().data() + buffer.bytes().size();
  EXPECT_DEATH((void)std::to_integer<int>(*past), "");
  EXPECT_TRUE(PageEndBuffer({}).bytes().empty());
}

TEST(Sha256, KnownAnswer) {  // FIPS 180-2, "abc"
  const char text[] = {'a', 'b', 'c'};
  EXPECT_EQ(sha256(std::as_bytes(std::span(text))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace zerorun::test
