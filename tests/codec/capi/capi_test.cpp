// The C interface gives what the C++ one gives, and documented errors for bad calls.
// SPDX-License-Identifier: MIT
#include "zerorun/zerorun.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/base/cuda_device.hpp"
#include "tests/support/capi.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu_required.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/status.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::test {
namespace {

using testing::HasSubstr;

zerorun_encode_params cpu_params() {
  auto params = sized<zerorun_encode_params>();
  params.backend = ZERORUN_BACKEND_CPU;
  params.threads = 2;
  return params;
}

using DecoderHandle = Handle<zerorun_decoder, zerorun_decoder_destroy>;
using AsyncEncoderHandle = Handle<zerorun_async_encoder, zerorun_async_encoder_destroy>;
using AsyncDecoderHandle = Handle<zerorun_async_decoder, zerorun_async_decoder_destroy>;

zerorun_decode_params cpu_decode_params() {
  auto params = sized<zerorun_decode_params>();
  params.backend = ZERORUN_BACKEND_CPU;
  return params;
}

DecoderHandle make_decoder(const zerorun_decode_params& params = cpu_decode_params()) {
  zerorun_decoder* handle = nullptr;
  EXPECT_EQ(zerorun_decoder_create(&params, &handle, nullptr), ZERORUN_OK);
  return DecoderHandle(handle);
}

/// Ends with the test.
struct EncoderHandle {
  explicit EncoderHandle(const zerorun_encode_params& params) {
    auto error = sized<zerorun_error>();
    EXPECT_EQ(zerorun_encoder_create(&params, &handle, &error), ZERORUN_OK) << error.message;
  }
  ~EncoderHandle() { zerorun_encoder_destroy(handle); }
  EncoderHandle(const EncoderHandle&) = delete;
  EncoderHandle& operator=(const EncoderHandle&) = delete;

  Bytes encode(const zerorun_frame& frame) {
    const std::uint8_t* jpeg = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(zerorun_encoder_encode(handle, &frame, &jpeg, &size), ZERORUN_OK)
        << zerorun_encoder_error(handle)->message;
    const auto* const bytes = reinterpret_cast<const std::byte*>(jpeg);
    return {bytes, bytes + size};
  }
  zerorun_encoder* handle = nullptr;
};

TEST(CApi, EncodesEveryFormatAndSizeAsCpp) {
  for (const PixelFormat format : kAllFormats) {
    EncoderHandle encoder(cpu_params());
    for (const int width : {1, 2, 7, 8, 9, 16, 17})
      for (const int height : {1, 2, 7, 8, 9, 16, 17})
        for (const Layout layout : {Layout::tight, Layout::padded, Layout::bottom_up}) {
          TestFrame frame = make_frame(Content::photo, format, width, height, 3, layout);
          ASSERT_EQ(encoder.encode(to_c(frame)), encoded_on_cpu(frame.view()))
              << name(format) << ' ' << width << 'x' << height;
        }
  }
}

TEST(CApi, ParametersMeanTheSame) {
  TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 100, 60, 1);
  const auto expect_same = [&](const zerorun_encode_params& c, const EncodeParams& cpp) {
    EncoderHandle encoder(c);
    EXPECT_EQ(encoder.encode(to_c(frame)), encoded_on_cpu(frame.view(), cpp));
    std::size_t bound = 0;
    EXPECT_EQ(zerorun_max_encoded_bytes(&c, ZERORUN_YUV420P, 100, 60, &bound), ZERORUN_OK);
    EXPECT_EQ(bound, *max_encoded_bytes(cpp, PixelFormat::yuv420p, 100, 60));
  };
  auto c = cpu_params();
  EncodeParams cpp;
  c.quality = cpp.quality = 35;
  expect_same(c, cpp);
  c.huffman = ZERORUN_HUFFMAN_TRAINED;
  cpp.huffman = HuffmanTables::trained;
  expect_same(c, cpp);
  c.huffman = ZERORUN_HUFFMAN_OPTIMAL;
  cpp.huffman = HuffmanTables::optimal;
  expect_same(c, cpp);
  c.subsampling = ZERORUN_SUBSAMPLING_GRAY;
  cpp.subsampling = Subsampling::gray;
  expect_same(c, cpp);
  c.restart = ZERORUN_RESTART_MCUS;
  c.restart_count = 5;
  cpp.restart = RestartPolicy::mcus(5);
  expect_same(c, cpp);
  c.restart = ZERORUN_RESTART_MCU_ROWS;
  c.restart_count = 2;
  cpp.restart = RestartPolicy::mcu_rows(2);
  expect_same(c, cpp);
  c.restart = ZERORUN_RESTART_NONE;
  cpp.restart = RestartPolicy::none();
  expect_same(c, cpp);
  c.pixel_aspect_x = cpp.pixel_aspect_x = 4;
  c.pixel_aspect_y = cpp.pixel_aspect_y = 3;
  expect_same(c, cpp);
  c.no_jfif_header = 1;
  cpp.jfif_header = false;
  expect_same(c, cpp);
  c.tune = ZERORUN_TUNE_PHOTO;
  cpp.tune = Tune::photo;
  expect_same(c, cpp);
  c.effort = ZERORUN_EFFORT_BEST;
  cpp.effort = Effort::best;
  expect_same(c, cpp);
  c.progressive = 1;
  cpp.progressive = true;
  expect_same(c, cpp);
  c.tables = ZERORUN_TABLES_FFMPEG;
  cpp.tables = QuantTables::ffmpeg;
  expect_same(c, cpp);
  QuantTable table;
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint16_t>(i + 1);
  c.luma_table = c.chroma_table = table.data();
  cpp.luma_table = cpp.chroma_table = table;
  expect_same(c, cpp);
  const zerorun_segment segments[] = {{0xE3, "abc", 3}, {0xFE, nullptr, 0}};
  c.segments = segments;
  c.segment_count = 2;
  cpp.segments = {{0xE3, {'a', 'b', 'c'}}, {0xFE, {}}};
  expect_same(c, cpp);
}

TEST(CApi, DecodesAsCpp) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 75, 51, 1);
  const Bytes jpeg = encoded_on_cpu(frame.view());
  Decoder decoder = cpu_decoder();
  const DecoderHandle handle = make_decoder();
  EXPECT_EQ(zerorun_decoder_backend(handle.get()), ZERORUN_BACKEND_CPU);
  for (const PixelFormat format : kAllFormats) {
    TestFrame expected(format, 75, 51), found(format, 75, 51);
    auto c = to_c(found);
    auto report = sized<zerorun_decode_report>();
    const auto cpp_report = decoder.decode(jpeg, expected.view());
    EXPECT_EQ(zerorun_decoder_decode_to(handle.get(), jpeg.data(), jpeg.size(), &c, &report),
              static_cast<zerorun_status>(cpp_report.status().code()));
    if (!cpp_report) continue;
    EXPECT_EQ(found.packed(), expected.packed()) << name(format);
    EXPECT_EQ(report.bytes_consumed, jpeg.size());
    EXPECT_EQ(report.intervals, cpp_report->intervals);
    EXPECT_EQ(report.cpu_scans, 0);
    auto own = sized<zerorun_frame>();
    ASSERT_EQ(zerorun_decoder_decode(handle.get(), jpeg.data(), jpeg.size(),
                                     static_cast<std::int32_t>(format), &own, nullptr),
              ZERORUN_OK);
    EXPECT_EQ(own.width, 75);
    EXPECT_TRUE(std::equal(own.data[0], own.data[0] + expected.row_bytes(0), expected.row(0, 0)));
  }
}

/// The frame is RGB, as large as `want`, and has its samples.
void expect_rows(const zerorun_frame& frame, const TestFrame& want) {
  ASSERT_EQ(frame.width, want.view().width);
  ASSERT_EQ(frame.height, want.view().height);
  for (int y = 0; y < frame.height; ++y)
    ASSERT_TRUE(std::equal(want.row(0, y), want.row(0, y) + want.row_bytes(0),
                           frame.data[0] + y * frame.stride_bytes[0]))
        << y;
}

TEST(CApi, SelectsScaleAndRegionAsCpp) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 75, 51, 1);
  const Bytes jpeg = encoded_on_cpu(frame.view());
  DecodeParams params;
  params.scale = 2;
  params.region = {3, 5, 17, 11};
  Decoder decoder = cpu_decoder(params);
  TestFrame want(PixelFormat::rgb24, 17, 11);
  ASSERT_TRUE(decoder.decode(jpeg, want.view()));
  TestFrame whole(PixelFormat::rgb24, 75, 51);
  ASSERT_TRUE(decoder.select(1));
  ASSERT_TRUE(decoder.decode(jpeg, whole.view()));
  const zerorun_region region{3, 5, 17, 11};
  auto given = cpu_decode_params();
  for (const bool at_once : {false, true}) {
    if (at_once) {
      given.scale = 2;
      given.region = region;
    }
    const DecoderHandle owner = make_decoder(given);
    zerorun_decoder* const handle = owner.get();
    if (!at_once) {
      EXPECT_EQ(zerorun_decoder_select(handle, 3, nullptr), ZERORUN_INVALID_ARGUMENT);
      EXPECT_EQ(zerorun_decoder_select(handle, 2, &region), ZERORUN_OK);
    }
    TestFrame got(PixelFormat::rgb24, 17, 11);
    const zerorun_frame view = to_c(got);
    EXPECT_EQ(zerorun_decoder_decode_to(handle, jpeg.data(), jpeg.size(), &view, nullptr),
              ZERORUN_OK)
        << zerorun_decoder_error(handle)->message;
    EXPECT_TRUE(got == want);
    auto own = sized<zerorun_frame>();
    EXPECT_EQ(
        zerorun_decoder_decode(handle, jpeg.data(), jpeg.size(), ZERORUN_RGB24, &own, nullptr),
        ZERORUN_OK);
    expect_rows(own, want);
    // Without a region it is the whole picture again.
    EXPECT_EQ(zerorun_decoder_select(handle, 1, nullptr), ZERORUN_OK);
    EXPECT_EQ(
        zerorun_decoder_decode(handle, jpeg.data(), jpeg.size(), ZERORUN_RGB24, &own, nullptr),
        ZERORUN_OK);
    expect_rows(own, whole);
  }
  zerorun_async_decoder* handle = nullptr;
  ASSERT_EQ(zerorun_async_decoder_create(&given, nullptr, ZERORUN_RGB24, &handle, nullptr),
            ZERORUN_OK);
  const AsyncDecoderHandle owner(handle);
  EXPECT_EQ(zerorun_async_decoder_submit(handle, jpeg.data(), jpeg.size(), nullptr, nullptr),
            ZERORUN_OK);
  auto out = sized<zerorun_decoded>();
  ASSERT_EQ(zerorun_async_decoder_receive(handle, 1, &out), ZERORUN_OK);
  ASSERT_NE(out.frame, nullptr);
  expect_rows(*out.frame, want);
}

TEST(CApi, TranscodesAsCpp) {
  const Bytes jpeg =
      encoded_on_cpu(make_frame(Content::photo, PixelFormat::yuv420p, 75, 51, 1).view());
  TranscodeParams cpp;
  cpp.scans = ScanChoice::progressive;
  cpp.restart_interval = 3;
  cpp.transform.rotate = Rotation::by_90;
  cpp.transform.flip = Flip::vertical;
  cpp.transform.crop = {32, 16, 12, 30};
  cpp.transform.gray = true;
  cpp.transform.edges = Edges::trim;
  Bytes want;
  ASSERT_TRUE(Transcoder::create(cpp)->transcode(jpeg, want));
  auto params = sized<zerorun_transcode_params>();
  params.scans = ZERORUN_SCANS_PROGRESSIVE;
  params.restart_interval = 3;
  params.rotate = ZERORUN_ROTATE_90;
  params.flip = ZERORUN_FLIP_VERTICAL;
  params.crop = {32, 16, 12, 30};
  params.gray = 1;
  params.edges = ZERORUN_EDGES_TRIM;
  params.verify = 1;
  zerorun_transcoder* handle = nullptr;
  ASSERT_EQ(zerorun_transcoder_create(&params, &handle, nullptr), ZERORUN_OK);
  const std::uint8_t* out = nullptr;
  std::size_t size = 0;
  auto report = sized<zerorun_transcode_report>();
  ASSERT_EQ(zerorun_transcoder_transcode(handle, jpeg.data(), jpeg.size(), &out, &size, &report),
            ZERORUN_OK)
      << zerorun_transcoder_error(handle)->message;
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(out, size)), want));
  EXPECT_EQ(report.bytes_consumed, jpeg.size());
  EXPECT_EQ(report.unchanged, 0);
  EXPECT_EQ(report.width, inspect(want)->width);
  EXPECT_EQ(report.height, inspect(want)->height);
  EXPECT_EQ(
      zerorun_transcoder_transcode(handle, jpeg.data(), jpeg.size() / 2, &out, &size, nullptr),
      ZERORUN_TRUNCATED);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(zerorun_transcoder_transcode(handle, jpeg.data(), jpeg.size(), nullptr, &size, nullptr),
            ZERORUN_INVALID_ARGUMENT);
  zerorun_transcoder_destroy(handle);
  // The smallest tables alone, and an edge that would move.
  params = sized<zerorun_transcode_params>();
  cpp = {};
  params.optimize = 1;
  cpp.optimize = true;
  for (const bool turns : {false, true}) {
    if (turns) {
      params.rotate = ZERORUN_ROTATE_180;
      params.edges = ZERORUN_EDGES_TRIM;
      cpp.transform.rotate = Rotation::by_180;
      cpp.transform.edges = Edges::trim;
    }
    ASSERT_TRUE(Transcoder::create(cpp)->transcode(jpeg, want));
    EXPECT_LT(want.size(), jpeg.size());
    ASSERT_EQ(zerorun_transcoder_create(&params, &handle, nullptr), ZERORUN_OK);
    ASSERT_EQ(zerorun_transcoder_transcode(handle, jpeg.data(), jpeg.size(), &out, &size, nullptr),
              ZERORUN_OK);
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(out, size)), want)) << turns;
    zerorun_transcoder_destroy(handle);
  }
  params.rotate = 5;
  EXPECT_EQ(zerorun_transcoder_create(&params, &handle, nullptr), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(handle, nullptr);
}

TEST(CApi, InksAreThoseOfCpp) {
  const DecoderHandle handle = make_decoder();
  for (const auto& [name, color] : {std::pair{"cmyk_ok", ZERORUN_COLOR_INVERTED_CMYK},
                                    std::pair{"cmyk_adobe_missing", ZERORUN_COLOR_CMYK},
                                    std::pair{"cmyk_adobe_ycck", ZERORUN_COLOR_YCCK}}) {
    SCOPED_TRACE(name);
    const Bytes jpeg = read_file(project_tests() / ("hostile/" + std::string(name) + ".jpg"));
    auto info = sized<zerorun_info>();
    ASSERT_EQ(zerorun_inspect(jpeg.data(), jpeg.size(), &info, nullptr), ZERORUN_OK);
    EXPECT_EQ(info.components, 4);
    EXPECT_EQ(info.color, color);
    TestFrame want(PixelFormat::cmyk32, info.width, info.height), found = want;
    ASSERT_TRUE(cpu_decoder().decode(jpeg, want.view()));
    const zerorun_frame view = to_c(found);
    EXPECT_EQ(view.format, ZERORUN_CMYK32);
    EXPECT_EQ(zerorun_decoder_decode_to(handle.get(), jpeg.data(), jpeg.size(), &view, nullptr),
              ZERORUN_OK);
    EXPECT_TRUE(found == want);
  }
}

TEST(CApi, ErrorsCarryPlaceAndSentence) {
  const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv420p, 75, 51, 1);
  Bytes jpeg = encoded_on_cpu(frame.view());
  jpeg.resize(jpeg.size() / 2);
  auto params = cpu_decode_params();
  params.strict = 1;
  const DecoderHandle handle = make_decoder(params);
  auto out = sized<zerorun_frame>();
  const zerorun_status status =
      zerorun_decoder_decode(handle.get(), jpeg.data(), jpeg.size(), ZERORUN_RGB24, &out, nullptr);
  const zerorun_error* const error = zerorun_decoder_error(handle.get());
  Frame rgb;
  const Status expected =
      cpu_decoder({.strict = true}).decode(jpeg, PixelFormat::rgb24, rgb).status();
  EXPECT_EQ(status, static_cast<zerorun_status>(expected.code()));
  EXPECT_EQ(error->code, status);
  EXPECT_EQ(error->byte_offset, expected.byte_offset());
  EXPECT_EQ(error->restart_interval, expected.restart_interval());
  EXPECT_EQ(error->message, expected.message());

  auto info = sized<zerorun_info>();
  auto said = sized<zerorun_error>();
  EXPECT_EQ(zerorun_inspect("no", 2, &info, &said), ZERORUN_NOT_JPEG);
  EXPECT_THAT(said.message, HasSubstr("JPEG"));
}

TEST(CApi, BadCallsAreErrors) {
  TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 40, 30, 1);
  const zerorun_frame good = to_c(frame);
  const std::uint8_t* jpeg = nullptr;
  std::size_t size = 1;
  // Handles that are null.
  EXPECT_EQ(zerorun_encoder_encode(nullptr, &good, &jpeg, &size), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_encoder_set_quality(nullptr, 5), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_encoder_error(nullptr), nullptr);
  EXPECT_EQ(zerorun_decoder_decode(nullptr, "", 0, 0, nullptr, nullptr), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_encoder_submit(nullptr, &good, nullptr, nullptr),
            ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_encoder_receive(nullptr, 0, nullptr), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_encoder_finish(nullptr), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_encoder_discard(nullptr), ZERORUN_INVALID_ARGUMENT);
  zerorun_encoder_destroy(nullptr);
  zerorun_decoder_destroy(nullptr);
  zerorun_async_encoder_destroy(nullptr);
  EXPECT_EQ(zerorun_async_decoder_submit(nullptr, "", 0, nullptr, nullptr),
            ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_decoder_receive(nullptr, 0, nullptr), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_decoder_finish(nullptr), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_decoder_discard(nullptr), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_decoder_in_flight(nullptr), 0);
  zerorun_async_decoder_destroy(nullptr);
  zerorun_free_pinned(nullptr);
  EXPECT_EQ(zerorun_encoder_create(nullptr, nullptr, nullptr), ZERORUN_INVALID_ARGUMENT);

  EncoderHandle encoder(cpu_params());
  const auto encode = [&](const zerorun_frame* bad) {
    const zerorun_status status = zerorun_encoder_encode(encoder.handle, bad, &jpeg, &size);
    EXPECT_EQ(jpeg, nullptr);
    EXPECT_EQ(size, 0u);
    EXPECT_EQ(zerorun_encoder_error(encoder.handle)->code, status);
    return status;
  };
  EXPECT_EQ(encode(nullptr), ZERORUN_INVALID_ARGUMENT);
  zerorun_frame bad = good;
  bad.data[2] = nullptr;
  EXPECT_EQ(encode(&bad), ZERORUN_INVALID_FRAME);
  EXPECT_THAT(zerorun_encoder_error(encoder.handle)->message, HasSubstr("plane 2 is null"));
  bad = good;
  bad.stride_bytes[0] = 39;
  EXPECT_EQ(encode(&bad), ZERORUN_INVALID_FRAME);
  bad = good;
  bad.width = 0;
  EXPECT_EQ(encode(&bad), ZERORUN_INVALID_FRAME);
  bad = good;
  bad.height = 65536;
  EXPECT_EQ(encode(&bad), ZERORUN_INVALID_FRAME);
  bad = good;
  bad.format = 17;
  EXPECT_EQ(encode(&bad), ZERORUN_INVALID_FRAME);
  bad.format = -1;
  EXPECT_EQ(encode(&bad), ZERORUN_INVALID_FRAME);
  EXPECT_EQ(zerorun_encoder_encode(encoder.handle, &good, nullptr, &size),
            ZERORUN_INVALID_ARGUMENT);
  std::uint8_t little[100];
  EXPECT_EQ(zerorun_encoder_encode_to(encoder.handle, &good, little, sizeof little, &size),
            ZERORUN_OUTPUT_TOO_SMALL);
  EXPECT_EQ(zerorun_encoder_set_quality(encoder.handle, 101), ZERORUN_INVALID_ARGUMENT);
  EXPECT_FALSE(encoder.encode(good).empty());  // still works

  auto info = sized<zerorun_info>();
  EXPECT_EQ(zerorun_inspect(nullptr, 10, &info, nullptr), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_inspect("", 0, nullptr, nullptr), ZERORUN_INVALID_ARGUMENT);
}

/// What the encoder's create() says of them.
zerorun_error creation_error(const zerorun_encode_params& params) {
  zerorun_encoder* handle = nullptr;
  auto error = sized<zerorun_error>();
  const zerorun_status status = zerorun_encoder_create(&params, &handle, &error);
  EXPECT_EQ(handle == nullptr, status != ZERORUN_OK);
  EXPECT_EQ(error.code, status);
  zerorun_encoder_destroy(handle);
  return error;
}

TEST(CApi, BadParametersAreErrors) {
  const auto with = [&](auto member, auto value) {
    auto params = cpu_params();
    params.*member = value;
    return creation_error(params).code;
  };
  using P = zerorun_encode_params;
  EXPECT_EQ(creation_error(cpu_params()).code, ZERORUN_OK);
  EXPECT_EQ(with(&P::quality, -1), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::quality, 101), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::subsampling, 7), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::huffman, 3), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::restart, 4), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::restart, ZERORUN_RESTART_MCUS), ZERORUN_INVALID_ARGUMENT);  // count 0
  EXPECT_EQ(with(&P::backend, 3), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::instruction_set, ZERORUN_INSTRUCTION_SET_SCALAR), ZERORUN_OK);
  EXPECT_EQ(with(&P::instruction_set, 6), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::tune, ZERORUN_TUNE_PSNR), ZERORUN_OK);
  EXPECT_EQ(with(&P::tune, 4), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::effort, 2), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::tables, 5), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::segment_count, std::size_t{1}), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::struct_size, std::size_t{0}), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(with(&P::struct_size, std::size_t{12}), ZERORUN_INVALID_ARGUMENT);
}

TEST(CApi, BadSegmentsAreNamed) {
  const std::vector<std::uint8_t> payload(70000, 1);
  const auto create = [&](std::int32_t marker, const void* data, std::size_t size) {
    const zerorun_segment segment{marker, data, size};
    auto params = cpu_params();
    params.segments = &segment;
    params.segment_count = 1;
    return std::string(creation_error(params).message);
  };
  EXPECT_EQ(create(0xFE, payload.data(), 65533), "");
  EXPECT_THAT(create(0xFE, payload.data(), 65534), HasSubstr("65533"));
  EXPECT_THAT(create(0x100, payload.data(), 4), HasSubstr("not a byte"));
  EXPECT_THAT(create(-1, payload.data(), 4), HasSubstr("not a byte"));
  EXPECT_THAT(create(0xFE, nullptr, 4), HasSubstr("payload"));
}

/// Callers of the first version, whose structs ended before `instruction_set` and `tune`: what lies
/// there is not read.
TEST(CApi, KnowsShorterParams) {
  auto decode = cpu_decode_params();
  decode.instruction_set = 99;
  zerorun_decoder* decoder = nullptr;
  EXPECT_EQ(zerorun_decoder_create(&decode, &decoder, nullptr), ZERORUN_INVALID_ARGUMENT);
  decode.struct_size = offsetof(zerorun_decode_params, instruction_set);
  make_decoder(decode);
  auto encode = cpu_params();
  encode.tune = 99;
  zerorun_encoder* encoder = nullptr;
  EXPECT_EQ(zerorun_encoder_create(&encode, &encoder, nullptr), ZERORUN_INVALID_ARGUMENT);
  encode.struct_size = offsetof(zerorun_encode_params, tune);
  const EncoderHandle short_one(encode);
}

/// A caller of a later version, whose struct has more members.
TEST(CApi, KnowsStructsOfOtherVersions) {
  struct Later {
    zerorun_encode_params params = {};
    std::int64_t unknown = 0;
  } later;
  later.params.struct_size = sizeof later;
  later.params.backend = ZERORUN_BACKEND_CPU;
  zerorun_encoder* handle = nullptr;
  EXPECT_EQ(zerorun_encoder_create(&later.params, &handle, nullptr), ZERORUN_OK);
  zerorun_encoder_destroy(handle);
  later.unknown = 1;
  auto error = sized<zerorun_error>();
  EXPECT_EQ(zerorun_encoder_create(&later.params, &handle, &error), ZERORUN_INVALID_ARGUMENT);
  EXPECT_THAT(error.message, HasSubstr("does not know"));
  // An output struct that is shorter is not written past its end.
  zerorun_error small;
  std::memset(&small, 0x55, sizeof small);
  small.struct_size = offsetof(zerorun_error, byte_offset);
  EXPECT_EQ(zerorun_encoder_create(&later.params, &handle, &small), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(small.code, ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(small.message[0], 0x55);
}

TEST(CApi, DecodesImagesInFlight) {
  const Bytes jpeg =
      encoded_on_cpu(make_frame(Content::photo, PixelFormat::yuv420p, 90, 70, 1).view());
  TestFrame expected(PixelFormat::rgb24, 90, 70), found(PixelFormat::rgb24, 90, 70);
  ASSERT_TRUE(cpu_decoder().decode(jpeg, expected.view()).is_ok());
  const auto params = cpu_decode_params();
  auto async = sized<zerorun_async_params>();
  async.lanes = 2;
  async.depth = 3;
  zerorun_async_decoder* handle = nullptr;
  EXPECT_EQ(zerorun_async_decoder_create(&params, &async, 17, &handle, nullptr),
            ZERORUN_INVALID_FRAME);
  EXPECT_EQ(handle, nullptr);
  ASSERT_EQ(zerorun_async_decoder_create(&params, &async, ZERORUN_RGB24, &handle, nullptr),
            ZERORUN_OK);
  const AsyncDecoderHandle owner(handle);
  EXPECT_EQ(zerorun_async_decoder_depth(handle), 3);
  EXPECT_EQ(zerorun_async_decoder_backend(handle), ZERORUN_BACKEND_CPU);
  auto out = sized<zerorun_decoded>();
  EXPECT_EQ(zerorun_async_decoder_receive(handle, 0, &out), ZERORUN_NOT_YET);
  const zerorun_frame into = to_c(found);
  auto options = sized<zerorun_decode_options>();
  options.tag = 9;
  options.into = &into;
  EXPECT_EQ(zerorun_async_decoder_submit(handle, jpeg.data(), jpeg.size(), &options, nullptr),
            ZERORUN_OK);
  EXPECT_EQ(zerorun_async_decoder_submit(handle, jpeg.data(), 9, nullptr, nullptr), ZERORUN_OK);
  EXPECT_EQ(zerorun_async_decoder_submit(handle, nullptr, 9, nullptr, nullptr),
            ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_decoder_submit(handle, jpeg.data(), jpeg.size(), nullptr, nullptr),
            ZERORUN_OK);
  EXPECT_EQ(zerorun_async_decoder_submit(handle, jpeg.data(), jpeg.size(), nullptr, nullptr),
            ZERORUN_QUEUE_FULL);
  EXPECT_EQ(zerorun_async_decoder_in_flight(handle), 3);
  EXPECT_EQ(zerorun_async_decoder_finish(handle), ZERORUN_OK);

  ASSERT_EQ(zerorun_async_decoder_receive(handle, 1, &out), ZERORUN_OK);
  EXPECT_EQ(out.tag, 9u);
  EXPECT_EQ(out.error, nullptr);
  EXPECT_EQ(out.report->bytes_consumed, jpeg.size());
  EXPECT_EQ(found.packed(), expected.packed());
  ASSERT_EQ(zerorun_async_decoder_receive(handle, 1, &out), ZERORUN_OK);
  EXPECT_EQ(out.frame, nullptr);
  EXPECT_EQ(out.report, nullptr);
  EXPECT_GT(std::strlen(out.error->message), 10u);
  ASSERT_EQ(zerorun_async_decoder_receive(handle, 1, &out), ZERORUN_OK);
  EXPECT_EQ(out.number, 2);
  expect_rows(*out.frame, expected);
  EXPECT_EQ(zerorun_async_decoder_receive(handle, 1, &out), ZERORUN_END);
  EXPECT_EQ(zerorun_async_decoder_discard(handle), ZERORUN_OK);
  EXPECT_EQ(zerorun_async_decoder_submit(handle, jpeg.data(), jpeg.size(), nullptr, nullptr),
            ZERORUN_OK);
}

/// The CPU pretends to be three devices, of which number 1 fails.
TEST(CApi, SeveralDevicesCodeFramesAndOneFails) {
  set_test_devices({.count = 3, .failing = 1, .frames = 3});
  TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 90, 70, 1);
  const zerorun_frame view = to_c(frame);
  auto params = cpu_params();
  params.backend = ZERORUN_BACKEND_CUDA;
  auto async = sized<zerorun_async_params>();
  zerorun_async_encoder* handle = nullptr;
  const auto create = [&](const std::int32_t* devices, std::int32_t count) {
    async.devices = devices;
    async.device_count = count;
    return zerorun_async_encoder_create(&params, &async, &handle, nullptr);
  };
  const std::int32_t two[] = {1, 2}, twice[] = {1, 1}, absent[] = {0, 3};
  EXPECT_EQ(create(twice, 2), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(create(absent, 2), ZERORUN_NO_DEVICE);
  EXPECT_EQ(create(nullptr, 2), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(create(two, -2), ZERORUN_INVALID_ARGUMENT);
  ASSERT_EQ(create(two, 2), ZERORUN_OK);
  auto out = sized<zerorun_encoded>();
  std::int32_t device = -7;
  auto why = sized<zerorun_error>();
  EXPECT_EQ(zerorun_async_encoder_lost_device(handle, 0, &device, &why), ZERORUN_END);
  // Frames go to the lane that is free: on a busy machine device 1 may get few of the first 100.
  const auto has_lost_one = [&] {
    return zerorun_async_encoder_lost_device(handle, 0, nullptr, nullptr) == ZERORUN_OK;
  };
  for (int number = 0; number < 100 || (number < 100'000 && !has_lost_one()); ++number) {
    ASSERT_EQ(zerorun_async_encoder_submit(handle, &view, nullptr, nullptr), ZERORUN_OK);
    if (number % 4 != 3) continue;
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(zerorun_async_encoder_receive(handle, 1, &out), ZERORUN_OK);
      EXPECT_EQ(out.error, nullptr);
    }
  }
  ASSERT_EQ(zerorun_async_encoder_lost_device(handle, 0, &device, &why), ZERORUN_OK);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(why.code, ZERORUN_DEVICE_FAILURE);
  EXPECT_EQ(zerorun_async_encoder_lost_device(handle, 1, nullptr, nullptr), ZERORUN_END);
  EXPECT_EQ(zerorun_async_decoder_lost_device(nullptr, 0, nullptr, nullptr),
            ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_async_encoder_lost_device(nullptr, 0, nullptr, nullptr),
            ZERORUN_INVALID_ARGUMENT);
  zerorun_async_encoder_destroy(handle);
  ASSERT_EQ(create(nullptr, -1), ZERORUN_OK);  // all
  zerorun_async_encoder_destroy(handle);
  // A program that was built with the first version of the header.
  async.struct_size = offsetof(zerorun_async_params, devices);
  ASSERT_EQ(create(two, 77), ZERORUN_OK);
  zerorun_async_encoder_destroy(handle);
  set_test_devices({});
}

TEST(CApi, EncodesFramesInFlight) {
  TestFrame frame = make_frame(Content::photo, PixelFormat::nv12, 90, 70, 1);
  const zerorun_frame good = to_c(frame);
  zerorun_frame bad = good;
  bad.data[0] = nullptr;
  const auto params = cpu_params();
  auto async = sized<zerorun_async_params>();
  async.lanes = 2;
  async.depth = 3;
  zerorun_async_encoder* encoder = nullptr;
  ASSERT_EQ(zerorun_async_encoder_create(&params, &async, &encoder, nullptr), ZERORUN_OK);
  const AsyncEncoderHandle owner(encoder);
  EXPECT_EQ(zerorun_async_encoder_depth(encoder), 3);
  EXPECT_EQ(zerorun_async_encoder_backend(encoder), ZERORUN_BACKEND_CPU);
  auto out = sized<zerorun_encoded>();
  EXPECT_EQ(zerorun_async_encoder_receive(encoder, 0, &out), ZERORUN_NOT_YET);
  auto options = sized<zerorun_submit_options>();
  options.tag = 9;
  options.quality = 20;
  EXPECT_EQ(zerorun_async_encoder_submit(encoder, &good, &options, nullptr), ZERORUN_OK);
  EXPECT_EQ(zerorun_async_encoder_submit(encoder, &bad, nullptr, nullptr), ZERORUN_OK);
  EXPECT_EQ(zerorun_async_encoder_set_quality(encoder, 60), ZERORUN_OK);
  EXPECT_EQ(zerorun_async_encoder_submit(encoder, &good, nullptr, nullptr), ZERORUN_OK);
  auto error = sized<zerorun_error>();
  EXPECT_EQ(zerorun_async_encoder_submit(encoder, &good, nullptr, &error), ZERORUN_QUEUE_FULL);
  EXPECT_THAT(error.message, HasSubstr("3 frames are in flight"));
  EXPECT_EQ(zerorun_async_encoder_in_flight(encoder), 3);
  EXPECT_EQ(zerorun_async_encoder_finish(encoder), ZERORUN_OK);
  EXPECT_EQ(zerorun_async_encoder_submit(encoder, &good, nullptr, nullptr),
            ZERORUN_ALREADY_FINISHED);

  EncodeParams expected;
  expected.quality = 20;
  const auto bytes = [&out] {
    const auto* const data = reinterpret_cast<const std::byte*>(out.jpeg);
    return Bytes(data, data + out.size);
  };
  ASSERT_EQ(zerorun_async_encoder_receive(encoder, 1, &out), ZERORUN_OK);
  EXPECT_EQ(bytes(), encoded_on_cpu(frame.view(), expected));
  EXPECT_EQ(out.tag, 9u);
  ASSERT_EQ(zerorun_async_encoder_receive(encoder, 1, &out), ZERORUN_OK);
  ASSERT_NE(out.error, nullptr);
  EXPECT_EQ(out.error->code, ZERORUN_INVALID_FRAME);
  EXPECT_EQ(out.jpeg, nullptr);
  ASSERT_EQ(zerorun_async_encoder_receive(encoder, 1, &out), ZERORUN_OK);
  expected.quality = 60;
  EXPECT_EQ(bytes(), encoded_on_cpu(frame.view(), expected));
  EXPECT_EQ(out.error, nullptr);
  EXPECT_EQ(zerorun_async_encoder_receive(encoder, 1, &out), ZERORUN_END);

  EXPECT_EQ(zerorun_async_encoder_discard(encoder), ZERORUN_OK);
  EXPECT_EQ(zerorun_async_encoder_submit(encoder, &good, nullptr, nullptr), ZERORUN_OK);
  out.struct_size = 8;
  EXPECT_EQ(zerorun_async_encoder_receive(encoder, 1, &out), ZERORUN_INVALID_ARGUMENT);
}

TEST(CApi, DeviceFunctionsSayWhyNot) {
  zerorun_device_encoder* encoder = nullptr;
  auto error = sized<zerorun_error>();
  const zerorun_status device = zerorun_check_device(0, nullptr);
  const zerorun_status created = zerorun_device_encoder_create(nullptr, &encoder, &error);
  EXPECT_EQ(created, device) << error.message;
  EXPECT_EQ(error.code, created);
  EXPECT_TRUE(created == ZERORUN_OK || !gpu_required()) << error.message;
  zerorun_device_encoder_destroy(encoder);
  zerorun_device_decoder* decoder = nullptr;
  EXPECT_EQ(zerorun_device_decoder_create(nullptr, &decoder, &error), device);
  zerorun_device_decoder_destroy(decoder);
  EXPECT_NE(zerorun_device_encoder_encode(nullptr, nullptr, nullptr, 0, nullptr, nullptr),
            ZERORUN_OK);
  EXPECT_NE(zerorun_device_decoder_decode(nullptr, nullptr, 0, nullptr, nullptr, nullptr),
            ZERORUN_OK);
  EXPECT_NE(zerorun_device_decoder_decode_device(nullptr, nullptr, 0, nullptr, nullptr, nullptr),
            ZERORUN_OK);
  EXPECT_NE(
      zerorun_device_encoder_encode_batch(nullptr, 1, nullptr, nullptr, nullptr, nullptr, nullptr),
      ZERORUN_OK);
  EXPECT_NE(zerorun_device_encoder_encode_to_host(nullptr, 1, nullptr, nullptr, nullptr, nullptr),
            ZERORUN_OK);
  EXPECT_EQ(zerorun_device_encoder_error(nullptr), nullptr);
  EXPECT_EQ(zerorun_device_decoder_error(nullptr), nullptr);
  void* memory = nullptr;
  EXPECT_EQ(zerorun_allocate_pinned(1000, &memory, nullptr), device);
  EXPECT_EQ(memory == nullptr, device != ZERORUN_OK);
  zerorun_free_pinned(memory);
}

/// The lower-case enumerator of C++ behind each code of C.
TEST(CApi, EveryCodeHasTheNumberOfItsName) {
  // clang-format off
#define ZR_CODES \
  X(INVALID_ARGUMENT) X(INVALID_FRAME) X(ALREADY_FINISHED) X(NOT_JPEG) X(TRUNCATED) \
  X(BAD_MARKER) X(BAD_SEGMENT_LENGTH) X(BAD_FRAME_HEADER) X(BAD_SCAN_HEADER) X(BAD_QUANT_TABLE) \
  X(BAD_HUFFMAN_TABLE) X(MISSING_TABLE) X(MISSING_IMAGE) X(DUPLICATE_FRAME) X(BAD_HUFFMAN_CODE) \
  X(RUN_PAST_BLOCK_END) X(RESTART_OUT_OF_ORDER) X(EXTRANEOUS_DATA) X(PROGRESSIVE) X(ARITHMETIC) \
  X(LOSSLESS) X(HIERARCHICAL) X(SAMPLE_PRECISION) X(COMPONENT_COUNT) X(JPEG_LS) \
  X(DEFERRED_HEIGHT) X(PIXEL_FORMAT) X(OUTPUT_TOO_SMALL) X(OUT_OF_MEMORY) X(TOO_MANY_PIXELS) \
  X(TOO_MANY_SCANS) X(TOO_MUCH_HEADER) X(QUEUE_FULL) X(SIZE_NOT_REACHED) X(QUALITY_NOT_REACHED) \
  X(NO_DEVICE) X(DEVICE_UNSUITABLE) X(DEVICE_FAILURE) X(CUDA_NOT_BUILT)
  // clang-format on
#define X(name) {#name, ZERORUN_##name},
  const std::pair<std::string, zerorun_status> codes[] = {ZR_CODES};
#undef X
#undef ZR_CODES
  for (auto [name, code] : codes) {
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(zerorun_status_name(code), name);
  }
}

TEST(CApi, SizesAreReached) {
  TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 320, 240, 1);
  auto c = cpu_params();
  c.note_setting = 1;
  c.target_bytes = 12000;
  EncodeParams cpp;
  cpp.note_setting = true;
  cpp.size.target_bytes = 12000;
  EncoderHandle encoder(c);
  const zerorun_frame view = to_c(frame);
  EXPECT_EQ(encoder.encode(view), encoded_on_cpu(frame.view(), cpp));
  double quality = 0;
  std::int32_t thrift = -1, codings = 0;
  EXPECT_EQ(zerorun_encoder_setting(encoder.handle, &quality, &thrift, &codings), ZERORUN_OK);
  EXPECT_GT(quality, 1.0);
  EXPECT_GE(thrift, 0);
  EXPECT_GE(codings, 1);
  ASSERT_EQ(zerorun_encoder_set_size(encoder.handle, 0, 9000), ZERORUN_OK);
  cpp.size = {0, 9000};
  EXPECT_EQ(encoder.encode(view), encoded_on_cpu(frame.view(), cpp));
  ASSERT_EQ(zerorun_encoder_set_size(encoder.handle, 900, 0), ZERORUN_OK);
  const std::uint8_t* jpeg = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(zerorun_encoder_encode(encoder.handle, &view, &jpeg, &size), ZERORUN_SIZE_NOT_REACHED);
  EXPECT_EQ(zerorun_encoder_set_size(nullptr, 1, 0), ZERORUN_INVALID_ARGUMENT);
}

TEST(CApi, QualitiesAreReached) {
  TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 160, 120, 1);
  auto c = cpu_params();
  c.target_psnr = 34.5;
  EncodeParams cpp;
  cpp.size.target_psnr = 34.5;
  EncoderHandle encoder(c);
  const zerorun_frame view = to_c(frame);
  EXPECT_EQ(zerorun_encoder_reached(encoder.handle), 0.0);
  EXPECT_EQ(encoder.encode(view), encoded_on_cpu(frame.view(), cpp));
  EXPECT_GE(zerorun_encoder_reached(encoder.handle), 34.5);
  EXPECT_LT(zerorun_encoder_reached(encoder.handle), 36);
  ASSERT_EQ(zerorun_encoder_set_target(encoder.handle, 0, 0.93), ZERORUN_OK);
  cpp.size = {};
  cpp.size.target_ssim = 0.93;
  EXPECT_EQ(encoder.encode(view), encoded_on_cpu(frame.view(), cpp));
  EXPECT_GE(zerorun_encoder_reached(encoder.handle), 0.93);
  ASSERT_EQ(zerorun_encoder_set_target(encoder.handle, 150, 0), ZERORUN_OK);
  const std::uint8_t* jpeg = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(zerorun_encoder_encode(encoder.handle, &view, &jpeg, &size),
            ZERORUN_QUALITY_NOT_REACHED);
  EXPECT_EQ(zerorun_encoder_set_target(encoder.handle, 40, 0.9), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_encoder_set_target(encoder.handle, -1, 0), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_encoder_set_target(nullptr, 40, 0), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_encoder_reached(nullptr), 0.0);
  ASSERT_EQ(zerorun_encoder_set_size(encoder.handle, 0, 0), ZERORUN_OK);
  EXPECT_EQ(encoder.encode(view), encoded_on_cpu(frame.view()));
  EXPECT_EQ(zerorun_encoder_reached(encoder.handle), 0.0);
}

TEST(CApi, NamesAndVersion) {
  EXPECT_STREQ(zerorun_version(), version());
  EXPECT_STREQ(zerorun_status_name(ZERORUN_OK), "ok");
  EXPECT_STREQ(zerorun_status_name(ZERORUN_QUEUE_FULL), "queue_full");
  EXPECT_STREQ(zerorun_status_name(ZERORUN_END), "end");
  EXPECT_STREQ(zerorun_status_name(12345), "unknown");
  EXPECT_STREQ(zerorun_status_name(-1), "unknown");
}

}  // namespace
}  // namespace zerorun::test
