// "The second frame of a size allocates nothing": allocations are counted.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <utility>

#include <gtest/gtest.h>

#include "tests/faults/failing_memory.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

TEST(Allocation, EncoderReusesItsMemory) {
  for (const auto tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
    for (const int threads : {1, 2}) {
      for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::rgb24}) {
        SCOPED_TRACE(name(format));
        EncodeParams params;
        params.huffman = tables;
        params.threads = threads;
        const TestFrame first = make_frame(Content::noise, format, 320, 200, 1);
        const TestFrame second = make_frame(Content::photo, format, 320, 200, 2);
        Encoder encoder = cpu_encoder(params);
        Bytes out(*max_encoded_bytes(params, format, 320, 200));
        ASSERT_TRUE(encoder.encode(first.view(), std::span(out)).is_ok());
        constexpr int kFrames = 10;
        const long before = memory::made();
        for (int i = 0; i < kFrames; ++i)
          ASSERT_TRUE(encoder.encode(second.view(), std::span(out)).is_ok());
        // A worker that got nothing to do in the first frame makes its buffers in a later one.
        const long late = threads == 1 ? 0 : kFrames - 1;
        EXPECT_LE(memory::made() - before, late) << threads << " threads";
      }
    }
  }
}

TEST(Allocation, AsyncDecoderReusesItsMemory) {
  const TestFrame picture = make_frame(Content::photo, PixelFormat::yuv420p, 320, 200, 2);
  HostBuffer jpeg;
  ASSERT_TRUE(cpu_encoder().encode(picture.view(), jpeg).is_ok());
  AsyncDecodeParams params;
  params.decode.backend = Backend::cpu;
  params.lanes = 1;
  params.depth = 3;
  auto decoder = AsyncDecoder::create(params);
  ASSERT_TRUE(decoder.is_ok());
  DecodedFrame out;
  const std::uint8_t* seen[5] = {};
  const auto pass_one = [&](const std::uint8_t*& memory) {
    ASSERT_TRUE(decoder->submit(std::move(jpeg)).is_ok());
    ASSERT_EQ(decoder->receive(out, true), Received::frame);
    ASSERT_TRUE(out.status.is_ok());
    jpeg = std::move(out.jpeg);
    memory = out.frame.view().data[0];
  };
  for (auto& memory : seen) pass_one(memory);
  const long before = memory::made();
  constexpr int kImages = 20;
  for (int i = 0; i < kImages; ++i) {
    const std::uint8_t* memory = nullptr;
    pass_one(memory);
    EXPECT_NE(std::ranges::find(seen, memory), std::end(seen));  // of a frame that came before
  }
  EXPECT_LE(memory::made() - before, 64 * kImages);  // headers, as for Decoder
}

TEST(Allocation, DecoderReusesItsMemory) {
  for (const int threads : {1, 2}) {
    for (const RestartPolicy& restart : {RestartPolicy::none(), RestartPolicy::mcu_rows(1)}) {
      EncodeParams params;
      params.restart = restart;
      const TestFrame picture = make_frame(Content::photo, PixelFormat::yuv420p, 320, 200, 2);
      const Bytes jpeg = encoded_on_cpu(picture.view(), params);
      Decoder decoder = cpu_decoder({.threads = threads});
      TestFrame frame(PixelFormat::rgb24, 320, 200);
      ASSERT_TRUE(decoder.decode(jpeg, frame.view()).is_ok());
      const long before = memory::made();
      const auto report = decoder.decode(jpeg, frame.view());
      // The headers are parsed into small objects; nothing grows with the picture.
      EXPECT_LE(memory::made() - before, 64) << threads << " threads";
      EXPECT_TRUE(report.is_ok());
    }
  }
}

}  // namespace
}  // namespace zerorun::test
