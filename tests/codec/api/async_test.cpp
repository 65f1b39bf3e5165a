// Frames and images in flight: order, the bound, errors of single ones, whose memory it is, the
// end, and destruction at any time.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

AsyncEncodeParams encode_params(int lanes, int depth) {
  AsyncEncodeParams params;
  params.encode.backend = Backend::cpu;
  params.encode.quality = 80;
  params.lanes = lanes;
  params.depth = depth;
  return params;
}

AsyncEncoder make_encoder(int lanes, int depth) {
  return make_coder<AsyncEncoder>(encode_params(lanes, depth)).value();
}

/// Frames of several sizes and formats, large and small ones in turn, so that later ones finish
/// first.
std::vector<TestFrame> frames() {
  std::vector<TestFrame> out;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    out.push_back(make_frame(Content::noise, PixelFormat::yuv420p, 320, 240, seed));
    out.push_back(make_frame(Content::photo, PixelFormat::gray8, 1, 1, seed));
    out.push_back(make_frame(Content::photo, PixelFormat::rgb24, 61, 40, seed));
    out.push_back(make_frame(Content::noise, PixelFormat::nv12, 17, 33, seed, Layout::padded));
  }
  return out;
}

Bytes encoded_alone(const TestFrame& frame) {
  return encoded_on_cpu(frame.view(), encode_params(1, 1).encode);
}

Bytes bytes_of(const EncodedFrame& frame) {
  return {frame.jpeg.bytes().begin(), frame.jpeg.bytes().end()};
}

/// Twice `all` go through a coder for four at a time: submit(i) passes number i on, and check(out,
/// i) looks at what came of it.
template <typename Out, typename Coder, typename Submit, typename Check>
void expect_all_in_order(Coder& coder, int lanes, std::size_t all, const Submit& submit,
                         const Check& check) {
  EXPECT_EQ(coder.lanes(), lanes);
  EXPECT_EQ(coder.depth(), 4);
  EXPECT_EQ(coder.backend(), Backend::cpu);
  Out out;
  std::size_t sent = 0, got = 0;
  const auto take = [&] {
    ASSERT_EQ(coder.receive(out, true), Received::frame);
    ASSERT_TRUE(out.status.is_ok()) << out.status.message();
    EXPECT_EQ(out.number, static_cast<std::int64_t>(got));
    EXPECT_EQ(out.tag, 1000 + got);
    check(out, got++);
  };
  while (sent < 2 * all) {
    const Status status = submit(sent);
    if (status) {
      ++sent;
      continue;
    }
    ASSERT_EQ(status.code(), Errc::queue_full);
    EXPECT_EQ(coder.in_flight(), 4);
    take();
  }
  coder.finish();
  while (got < sent) take();
  EXPECT_EQ(coder.receive(out, true), Received::end);
  EXPECT_EQ(coder.receive(out, false), Received::end);
}

TEST(AsyncEncoder, GivesTheBytesOfEncoderInOrder) {
  const std::vector<TestFrame> all = frames();
  for (const int lanes : {1, 2, 5}) {
    AsyncEncoder encoder = make_encoder(lanes, 4);
    expect_all_in_order<EncodedFrame>(
        encoder, lanes, all.size(),
        [&](std::size_t i) {
          return encoder.submit(all[i % all.size()].view(), {.tag = 1000 + i});
        },
        [&](const EncodedFrame& out, std::size_t i) {
          EXPECT_EQ(out.report.bytes, out.jpeg.size());
          EXPECT_EQ(bytes_of(out), encoded_alone(all[i % all.size()]));
        });
  }
}

TEST(AsyncEncoder, FinishWakesAWaitingSubmit) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::gray8, 9, 9, 1);
  AsyncEncoder encoder = make_encoder(1, 1);
  ASSERT_TRUE(encoder.submit(frame.view()).is_ok());
  std::thread submitter([&] {
    EXPECT_EQ(encoder.submit(frame.view(), {.wait = true}).code(), Errc::already_finished);
  });
  encoder.finish();
  submitter.join();
}

TEST(AsyncEncoder, ErrorsBelongToTheirFrame) {
  const TestFrame good = make_frame(Content::photo, PixelFormat::yuv420p, 40, 30, 1);
  ConstFrameView null = good.view();
  null.data[1] = nullptr;
  ConstFrameView narrow = good.view();
  narrow.stride_bytes[0] = 39;
  AsyncEncoder encoder = make_encoder(2, 8);
  ASSERT_TRUE(encoder.submit(good.view()).is_ok());
  ASSERT_TRUE(encoder.submit(null).is_ok());
  ASSERT_TRUE(encoder.submit(narrow).is_ok());
  ASSERT_TRUE(encoder.submit(Frame()).is_ok());
  ASSERT_TRUE(encoder.submit(good.view()).is_ok());
  encoder.finish();
  EncodedFrame out;
  for (const Errc expected :
       {Errc::ok, Errc::invalid_frame, Errc::invalid_frame, Errc::invalid_frame, Errc::ok}) {
    ASSERT_EQ(encoder.receive(out, true), Received::frame);
    EXPECT_EQ(out.status.code(), expected) << out.number;
    if (expected == Errc::ok) {
      EXPECT_EQ(bytes_of(out), encoded_alone(good));
    }
  }
}

TEST(AsyncEncoder, GivesOwnedFramesBack) {
  AsyncEncoder encoder = make_encoder(2, 4);
  Frame frame = *Frame::create(PixelFormat::gray8, 20, 10);
  std::fill_n(frame.view().data[0], frame.view().stride_bytes[0] * 10, std::uint8_t{77});
  const std::uint8_t* const memory = frame.view().data[0];
  const TestFrame seen = make_frame(Content::photo, PixelFormat::gray8, 20, 10, 1);
  ASSERT_TRUE(encoder.submit(std::move(frame), {.tag = 5}).is_ok());
  ASSERT_TRUE(encoder.submit(seen.view(), {.tag = 6}).is_ok());
  EncodedFrame out;
  ASSERT_EQ(encoder.receive(out, true), Received::frame);
  EXPECT_EQ(out.frame.view().data[0], memory);
  EXPECT_EQ(out.tag, 5u);
  // A frame that stays in `out` is not taken for that of the next one.
  ASSERT_EQ(encoder.receive(out, true), Received::frame);
  EXPECT_EQ(out.frame.view().data[0], nullptr);
  EXPECT_EQ(out.tag, 6u);
}

TEST(AsyncEncoder, CanBeDestroyedWithFramesInFlight) {
  const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv420p, 200, 150, 1);
  for (int submitted = 0; submitted <= 6; ++submitted) {
    AsyncEncoder encoder = make_encoder(3, 6);
    for (int i = 0; i < submitted; ++i) {
      ASSERT_TRUE(encoder.submit(frame.view()).is_ok());
    }
    AsyncEncoder moved = std::move(encoder);
    if (submitted % 2 == 0) moved.finish();
    if (submitted % 3 == 0) moved = make_encoder(1, 1);
  }
}

TEST(AsyncEncoder, RefusesImpossibleParameters) {
  const auto code = [](const AsyncEncodeParams& params) {
    return AsyncEncoder::create(params).status().code();
  };
  EXPECT_EQ(code(encode_params(-1, 0)), Errc::invalid_argument);
  EXPECT_EQ(code(encode_params(100000, 0)), Errc::invalid_argument);
  EXPECT_EQ(code(encode_params(0, -1)), Errc::invalid_argument);
  EXPECT_EQ(code(encode_params(0, 1 << 20)), Errc::invalid_argument);
  AsyncEncodeParams params = encode_params(1, 1);
  params.encode.quality = 0;
  EXPECT_EQ(code(params), Errc::invalid_argument);
  params = encode_params(1, 1);
  params.encode.backend = Backend::cuda;
  params.encode.device = 4096;
  EXPECT_EQ(group(code(params)), ErrorGroup::device);
}

/// Several submitters and receivers at one encoder: nothing is lost, doubled or mixed up.
TEST(AsyncEncoder, StandsManyThreads) {
  const std::vector<TestFrame> all = frames();
  std::vector<Bytes> expected;
  for (const TestFrame& frame : all) expected.push_back(encoded_alone(frame));
  constexpr int kThreads = 3, kFramesEach = 200;
  AsyncEncoder encoder = make_encoder(3, 5);
  std::vector<std::atomic<int>> seen(kThreads * kFramesEach);
  std::atomic<int> wrong{0};
  std::vector<std::thread> submitters, receivers;
  for (int t = 0; t < kThreads; ++t) {
    submitters.emplace_back([&, t] {
      for (int i = 0; i < kFramesEach; ++i) {
        const auto tag = static_cast<std::uint64_t>(t * kFramesEach + i);
        if (!encoder.submit(all[tag % all.size()].view(), {.tag = tag, .wait = true})) ++wrong;
      }
    });
    receivers.emplace_back([&] {
      EncodedFrame out;
      std::int64_t last = -1;
      while (encoder.receive(out, true) == Received::frame) {
        if (!out.status || out.number <= last || bytes_of(out) != expected[out.tag % all.size()])
          ++wrong;
        last = out.number;
        ++seen[out.tag];
      }
    });
  }
  for (std::thread& thread : submitters) thread.join();
  encoder.finish();
  for (std::thread& thread : receivers) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(std::ranges::all_of(seen, [](const auto& count) { return count == 1; }));
}

TEST(AsyncEncoder, StandsDiscardAmongOtherCalls) {
  const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv420p, 64, 48, 1);
  const Bytes expected = encoded_alone(frame);
  AsyncEncoder encoder = make_encoder(2, 4);
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread receiver([&] {
    EncodedFrame out;
    while (!done)
      if (encoder.receive(out, false) == Received::frame && bytes_of(out) != expected) ++wrong;
  });
  std::thread submitter([&] {
    for (int i = 0; i < 2000; ++i) {
      const Status status = encoder.submit(frame.view());
      if (!status && status.code() != Errc::queue_full) ++wrong;
    }
    done = true;
  });
  while (!done) encoder.discard();
  submitter.join();
  receiver.join();
  EXPECT_EQ(wrong, 0);
}

AsyncDecodeParams decode_params(int lanes, int depth) {
  AsyncDecodeParams params;
  params.decode.backend = Backend::cpu;
  params.lanes = lanes;
  params.depth = depth;
  return params;
}

AsyncDecoder make_decoder(int lanes, int depth) {
  return make_coder<AsyncDecoder>(decode_params(lanes, depth)).value();
}

Bytes encoded(Content content, PixelFormat format, int width, int height, std::uint64_t seed = 1) {
  EncodeParams params;
  params.restart = RestartPolicy::mcu_rows(1);
  return encoded_on_cpu(make_frame(content, format, width, height, seed).view(), params);
}

/// Streams of several sizes and samplings, large and small ones in turn, so that later ones finish
/// first.
std::vector<Bytes> streams() {
  std::vector<Bytes> out;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    out.push_back(encoded(Content::noise, PixelFormat::yuv420p, 320, 240, seed));
    out.push_back(encoded(Content::photo, PixelFormat::gray8, 1, 1, seed));
    out.push_back(encoded(Content::photo, PixelFormat::yuv444p, 61, 40, seed));
    out.push_back(encoded(Content::noise, PixelFormat::yuv422p, 17, 33, seed));
  }
  return out;
}

std::vector<std::uint8_t> decoded_alone(const Bytes& jpeg,
                                        PixelFormat format = PixelFormat::yuv420p) {
  Frame out;
  EXPECT_TRUE(cpu_decoder().decode(jpeg, format, out).is_ok());
  return packed(out);
}

TEST(AsyncDecoder, GivesTheSamplesOfDecoderInOrder) {
  const std::vector<Bytes> all = streams();
  const PixelFormat formats[] = {PixelFormat::yuv420p, PixelFormat::rgb24, PixelFormat::gray8};
  for (const int lanes : {1, 2, 5}) {
    AsyncDecoder decoder = make_decoder(lanes, 4);
    expect_all_in_order<DecodedFrame>(
        decoder, lanes, all.size(),
        [&](std::size_t i) {
          DecodeOptions options{.tag = 1000 + i};
          if (i % 3 != 0) options.format = formats[i % 3];
          return decoder.submit(all[i % all.size()], options);
        },
        [&](const DecodedFrame& out, std::size_t i) {
          const Bytes& jpeg = all[i % all.size()];
          EXPECT_EQ(out.report.bytes_consumed, jpeg.size());
          EXPECT_EQ(out.frame.format(), formats[i % 3]);
          EXPECT_EQ(packed(out.frame), decoded_alone(jpeg, formats[i % 3]));
        });
  }
}

TEST(AsyncDecoder, ErrorsBelongToTheirImage) {
  const Bytes good = encoded(Content::photo, PixelFormat::yuv420p, 40, 30);
  const Bytes headers(good.begin(), good.begin() + 40);
  Bytes lossless = good;
  for (const Segment& segment : parse_headers(good).segments)
    if (segment.marker == 0xC0) lossless[segment.offset + 1] = std::byte{0xC3};
  AsyncDecoder decoder = make_decoder(2, 8);
  ASSERT_TRUE(decoder.submit(good).is_ok());
  ASSERT_TRUE(decoder.submit(std::span<const std::byte>()).is_ok());
  ASSERT_TRUE(decoder.submit(headers).is_ok());
  ASSERT_TRUE(decoder.submit(HostBuffer()).is_ok());
  ASSERT_TRUE(decoder.submit(lossless).is_ok());
  ASSERT_TRUE(decoder.submit(good).is_ok());
  decoder.finish();
  Frame unused;
  const auto code_of = [&](std::span<const std::byte> jpeg) {
    return cpu_decoder().decode(jpeg, PixelFormat::yuv420p, unused).status().code();
  };
  EXPECT_NE(code_of({}), Errc::ok);
  EXPECT_NE(code_of(headers), Errc::ok);
  DecodedFrame out;
  for (const Errc expected :
       {Errc::ok, code_of({}), code_of(headers), code_of({}), Errc::lossless, Errc::ok}) {
    ASSERT_EQ(decoder.receive(out, true), Received::frame);
    EXPECT_EQ(out.status.code(), expected) << out.number;
    if (expected == Errc::ok) {
      EXPECT_EQ(packed(out.frame), decoded_alone(good));
    }
  }
}

TEST(AsyncDecoder, ReportsTheDamageOfItsImage) {
  const Bytes good = encoded(Content::noise, PixelFormat::yuv420p, 96, 96);
  Bytes damaged = good;
  const auto data = static_cast<std::ptrdiff_t>(parse_headers(good).data_offset);
  std::fill_n(damaged.begin() + data + 20, 8, std::byte{0xFE});
  AsyncDecoder decoder = make_decoder(2, 4);
  for (const bool is_damaged : {true, false, true}) {
    ASSERT_TRUE(decoder.submit(is_damaged ? damaged : good).is_ok());
  }
  DecodedFrame out;
  for (const bool is_damaged : {true, false, true}) {
    ASSERT_EQ(decoder.receive(out, true), Received::frame);
    ASSERT_TRUE(out.status.is_ok()) << out.status.message();
    EXPECT_EQ(out.report.is_concealed(), is_damaged);
    EXPECT_EQ(out.report.first_problem.is_ok(), !is_damaged);
    EXPECT_EQ(packed(out.frame), decoded_alone(is_damaged ? damaged : good));
  }
}

TEST(AsyncDecoder, DecodesIntoTheCallersFrame) {
  const Bytes jpeg = encoded(Content::photo, PixelFormat::yuv420p, 61, 40);
  TestFrame right(PixelFormat::bgr24, 61, 40, Layout::bottom_up);
  TestFrame wrong(PixelFormat::bgr24, 60, 40);
  AsyncDecoder decoder = make_decoder(2, 4);
  ASSERT_TRUE(decoder.submit(jpeg, {.into = wrong.view()}).is_ok());
  ASSERT_TRUE(decoder.submit(jpeg, {.into = right.view()}).is_ok());
  DecodedFrame out;
  ASSERT_EQ(decoder.receive(out, true), Received::frame);
  EXPECT_EQ(out.status.code(), Errc::invalid_frame);
  EXPECT_EQ(wrong, TestFrame(PixelFormat::bgr24, 60, 40));
  ASSERT_EQ(decoder.receive(out, true), Received::frame);
  ASSERT_TRUE(out.status.is_ok()) << out.status.message();
  EXPECT_EQ(right.packed(), decoded_alone(jpeg, PixelFormat::bgr24));
}

TEST(AsyncDecoder, RefusesImpossibleParameters) {
  const auto code = [](const AsyncDecodeParams& params) {
    return AsyncDecoder::create(params).status().code();
  };
  AsyncDecodeParams params = decode_params(1, 1);
  params.decode.limits.max_pixels = 0;
  EXPECT_EQ(code(params), Errc::invalid_argument);
  params = decode_params(1, 1);
  params.format = static_cast<PixelFormat>(kPixelFormatCount + 1);
  EXPECT_EQ(code(params), Errc::invalid_frame);
  params = decode_params(1, 1);
  params.decode.backend = Backend::cuda;
  params.decode.device = 4096;
  EXPECT_EQ(group(code(params)), ErrorGroup::device);
  AsyncDecoder decoder = make_decoder(1, 1);
  const auto format = static_cast<PixelFormat>(kPixelFormatCount + 1);
  EXPECT_EQ(decoder.submit(Bytes(4), {.format = format}).code(), Errc::invalid_frame);
  EXPECT_EQ(decoder.in_flight(), 0);
}

}  // namespace
}  // namespace zerorun::test
