// What an encoder or decoder did before never shows: A, B, A in every order, twice the same bytes.
// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

struct Subject {
  std::string name;
  TestFrame frame;
};

std::vector<Subject> subjects() {
  std::vector<Subject> out;
  const auto add = [&](const char* name, PixelFormat format, int width, int height) {
    out.push_back({name, make_frame(Content::photo, format, width, height, out.size())});
  };
  add("1x1", PixelFormat::yuv420p, 1, 1);
  add("8x8", PixelFormat::yuv444p, 8, 8);
  add("65500x1", PixelFormat::yuv422p, 65500, 1);
  add("4:2:0", PixelFormat::yuv420p, 150, 101);
  add("grey", PixelFormat::gray8, 97, 33);
  add("rgb", PixelFormat::rgb24, 61, 40);
  return out;
}

EncodeParams encode_params() {
  EncodeParams params;
  params.threads = 2;
  return params;
}

TEST(Reuse, EncoderForgetsTheFrameBefore) {
  const std::vector<Subject> all = subjects();
  for (const int kind : {0, 1, 2}) {
    EncodeParams params = encode_params();
    params.huffman = kind == 1 ? HuffmanTables::optimal : HuffmanTables::standard;
    params.progressive = kind == 2;
    std::vector<Bytes> expected;
    for (const Subject& subject : all)
      expected.push_back(encoded_on_cpu(subject.frame.view(), params));
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = 0; b < all.size(); ++b) {
        SCOPED_TRACE(all[a].name + ", " + all[b].name + ", " + all[a].name);
        Encoder encoder = cpu_encoder(params);
        for (const std::size_t i : {a, b, a})
          EXPECT_EQ(encoded_by(encoder, all[i].frame.view()), expected[i]);
      }
    }
  }
}

/// Everything that a decode call gives, for comparison.
struct Decoded {
  Status status;
  std::size_t consumed = 0;
  std::int64_t intervals = 0, concealed = 0;
  Status problem;
  std::vector<std::uint8_t> rgb;
  std::vector<std::int16_t> coefficients;
  bool operator==(const Decoded&) const = default;
};

Decoded decoded(Decoder& decoder, std::span<const std::byte> jpeg, std::uint8_t fill) {
  Decoded out;
  const auto info = inspect(jpeg);
  if (info.is_ok()) {
    TestFrame frame(PixelFormat::rgb24, info->width, info->height, Layout::tight, fill);
    const auto report = decoder.decode(jpeg, frame.view());
    out.status = report.status();
    if (report.is_ok()) {
      out.consumed = report->bytes_consumed;
      out.intervals = report->intervals;
      out.concealed = report->concealed_intervals;
      out.problem = report->first_problem;
      out.rgb = frame.packed();
    }
  }
  std::vector<ComponentCoefficients> coefficients;
  if (decoder.decode_coefficients(jpeg, coefficients).is_ok())
    for (const ComponentCoefficients& component : coefficients)
      out.coefficients.insert(out.coefficients.end(), component.values.begin(),
                              component.values.end());
  return out;
}

std::vector<Bytes> streams() {
  std::vector<Bytes> out;
  for (const Subject& subject : subjects())
    out.push_back(encoded_on_cpu(subject.frame.view(), encode_params()));
  // Damaged ones: cut off, bytes overwritten, headers broken.
  Bytes cut = out[3];
  cut.resize(cut.size() / 2);
  out.push_back(cut);
  Bytes overwritten = out[3];
  const std::size_t data = parse_headers(overwritten).data_offset;
  for (std::size_t i = data + 40; i < data + 60; ++i) overwritten[i] = std::byte{0xFE};
  out.push_back(overwritten);
  Bytes broken = out[4];
  broken[parse_headers(broken).find(0xC4)->offset + 5] = std::byte{0xFF};
  out.push_back(broken);
  return out;
}

TEST(Reuse, DecoderForgetsTheImageBefore) {
  const std::vector<Bytes> all = streams();
  for (const int threads : {1, 3}) {
    std::vector<Decoded> expected;
    for (const Bytes& stream : all) {
      Decoder decoder = cpu_decoder({.threads = threads});
      expected.push_back(decoded(decoder, stream, 0xAA));
      // What the output memory held before shows neither.
      EXPECT_EQ(decoded(decoder, stream, 0x55), expected.back());
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = 0; b < all.size(); ++b) {
        if (kSanitized && (a + b) % 3 != 0) continue;
        SCOPED_TRACE("streams " + std::to_string(a) + ", " + std::to_string(b));
        Decoder decoder = cpu_decoder({.threads = threads});
        EXPECT_EQ(decoded(decoder, all[a], 0x11), expected[a]);
        EXPECT_EQ(decoded(decoder, all[b], 0x22), expected[b]);
        EXPECT_EQ(decoded(decoder, all[a], 0x33), expected[a]);
      }
    }
  }
}

}  // namespace
}  // namespace zerorun::test
