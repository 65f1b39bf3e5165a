// libjpeg-turbo reads streams with a scan index without a warning, and gets the same picture.
// SPDX-License-Identifier: MIT
#include "tests/oracle/compare.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

class IndexedStream : public testing::TestWithParam<Subsampling> {};

TEST_P(IndexedStream, IsAnyDecodersStream) {
  for (const RestartPolicy& restart :
       {RestartPolicy::none(), RestartPolicy::mcus(5), RestartPolicy::automatic()})
    for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal}) {
      EncodeParams params;
      params.subsampling = GetParam();
      params.restart = restart;
      params.huffman = huffman;
      const TestFrame frame = make_frame(Content::photo, PixelFormat::rgb24, 213, 149, 3);
      Pixels plain, indexed;
      ASSERT_TRUE(
          libjpeg_pixels(encode(frame.view(), params), PixelOutput::rgb, true, plain).clean());
      params.index = true;
      const Bytes jpeg = encode(frame.view(), params);
      const LibjpegVerdict verdict = libjpeg_pixels(jpeg, PixelOutput::rgb, true, indexed);
      ASSERT_TRUE(verdict.clean()) << verdict.text;
      ASSERT_EQ(indexed.samples, plain.samples);
      compare_decode(jpeg);
    }
}

INSTANTIATE_TEST_SUITE_P(Samplings, IndexedStream, testing::ValuesIn(kAllSubsamplings));

}  // namespace
}  // namespace zerorun::test
