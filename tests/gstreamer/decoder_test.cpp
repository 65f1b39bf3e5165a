// zerorundec: formats, framing, damage, limits.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "tests/gstreamer/support.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/libjpeg_encode.hpp"

namespace zerorun::test {
namespace {

constexpr const char* kDecoder = "zerorundec device=cpu";
constexpr const char* kFramed = "image/jpeg, parsed=true, framerate=25/1";
constexpr const char* kUnframed = "image/jpeg, framerate=25/1";

struct Decoded {
  std::string format, colorimetry;
  int width = 0, height = 0;
  std::vector<std::uint8_t> samples;
};

Decoded describe(GstHarness* harness, GstBuffer* buffer) {
  const Owned<GstCaps> caps(gst_pad_get_current_caps(harness->sinkpad));
  const GstStructure* s = gst_caps_get_structure(caps.get(), 0);
  Decoded out;
  out.format = gst_structure_get_string(s, "format");
  out.colorimetry = gst_structure_get_string(s, "colorimetry");
  gst_structure_get_int(s, "width", &out.width);
  gst_structure_get_int(s, "height", &out.height);
  out.samples = samples_of(buffer, caps.get());
  return out;
}

Decoded decode_one(const std::string& launch, const Bytes& jpeg) {
  const Owned<GstHarness> harness = make_harness(launch, kFramed);
  const Owned<GstBuffer> out = pull_after(harness.get(), to_buffer(jpeg));
  EXPECT_TRUE(out);
  return out ? describe(harness.get(), out.get()) : Decoded{};
}

TEST(GstDecoder, EverySamplingHasAFormatWithTheSamplesOfTheLibrary) {
  const struct {
    Subsampling sampling;
    const char* gst;
    PixelFormat format;
  } cases[] = {{Subsampling::s420, "I420", PixelFormat::yuv420p},
               {Subsampling::s422, "Y42B", PixelFormat::yuv422p},
               {Subsampling::s444, "Y444", PixelFormat::yuv444p},
               {Subsampling::s440, "Y444", PixelFormat::yuv444p},
               {Subsampling::s411, "Y41B", PixelFormat::yuv411p},
               {Subsampling::gray, "GRAY8", PixelFormat::gray8}};
  for (const auto& c : cases)
    for (const auto& [width, height] :
         {std::pair{1, 1}, {2, 1}, {1, 2}, {7, 8}, {9, 7}, {16, 15}, {17, 17}, {70, 53}}) {
      const Bytes jpeg = libjpeg_sample(width, height, c.sampling);
      const Decoded out = decode_one(kDecoder, jpeg);
      EXPECT_EQ(out.format, c.gst);
      EXPECT_EQ(std::pair(out.width, out.height), std::pair(width, height));
      EXPECT_EQ(out.colorimetry, "1:4:0:0");
      EXPECT_EQ(out.samples, decode(jpeg, c.format)) << c.gst << ' ' << width;
    }
}

/// What libjpeg's inks let through, after `flip`.
std::vector<std::uint8_t> light_of(const Bytes& jpeg, int flip) {
  Pixels inks;
  EXPECT_TRUE(libjpeg_pixels(jpeg, PixelOutput::cmyk, true, inks).clean());
  std::vector<std::uint8_t> rgb;
  for (std::size_t at = 0; at < inks.samples.size(); at += 4)
    for (std::size_t ink = at; ink < at + 3; ++ink) {
      const int light = (inks.samples[ink] ^ flip) * (inks.samples[at + 3] ^ flip);
      rgb.push_back(static_cast<std::uint8_t>((2 * light + 255) / 510));
    }
  return rgb;
}

TEST(GstDecoder, RgbStreamsStayRgbAndInksBecomeRgb) {
  LibjpegOptions options;
  const auto sample = [&options] { return libjpeg_sample(33, 17, Subsampling::s444, options); };
  const auto expect = [](const Bytes& jpeg, const std::vector<std::uint8_t>& samples) {
    const Decoded out = decode_one(kDecoder, jpeg);
    EXPECT_EQ(out.format, "RGB");
    EXPECT_EQ(std::pair(out.width, out.height), std::pair(33, 17));
    EXPECT_EQ(out.samples, samples);
  };
  options.rgb_stream = true;
  expect(sample(), decode(sample(), PixelFormat::rgb24));
  options = {};
  options.cmyk_stream = true;
  expect(sample(), light_of(sample(), 0));  // Adobe's are inverted
  const Bytes plain = without_segments(sample(), 0xEE);
  expect(plain, light_of(plain, 255));
  options.ycck_stream = true;
  expect(sample(), light_of(sample(), 0));
}

TEST(GstDecoder, ProgressiveFramesHaveTheSamplesOfSequentialOnes) {
  LibjpegOptions progressive, cmyk;
  progressive.progressive = true;
  for (const Subsampling sampling : kAllSubsamplings) {
    const Decoded out = decode_one(kDecoder, libjpeg_sample(37, 21, sampling, progressive));
    const Decoded plain = decode_one(kDecoder, libjpeg_sample(37, 21, sampling));
    EXPECT_EQ(out.format, plain.format);
    EXPECT_EQ(out.samples, plain.samples);
  }
  cmyk.cmyk_stream = true;
  const Decoded plain = decode_one(kDecoder, libjpeg_sample(37, 21, Subsampling::s444, cmyk));
  cmyk.progressive = true;
  const Decoded out = decode_one(kDecoder, libjpeg_sample(37, 21, Subsampling::s444, cmyk));
  EXPECT_EQ(out.format, "RGB");
  EXPECT_EQ(out.samples, plain.samples);
}

TEST(GstDecoder, DownstreamMayWantAnotherFormat) {
  const Bytes jpeg = libjpeg_sample(37, 21, Subsampling::s422);
  for (const FormatName& name : kFormatNames) {
    if (name.zerorun == PixelFormat::yuv422p) continue;
    const Decoded out = decode_one(
        std::string(kDecoder) + " ! capsfilter caps=video/x-raw,format=" + name.gst, jpeg);
    EXPECT_EQ(out.format, name.gst);
    EXPECT_EQ(out.samples, decode(jpeg, name.zerorun)) << name.gst;
  }
}

TEST(GstDecoder, SizesMayChange) {
  const Owned<GstHarness> harness = make_harness(kDecoder, kFramed);
  for (const auto& [width, height] : {std::pair{40, 30}, {64, 64}, {64, 64}, {9, 100}}) {
    const Bytes jpeg = libjpeg_sample(width, height, Subsampling::s420);
    const Owned<GstBuffer> out = pull_after(harness.get(), to_buffer(jpeg));
    ASSERT_TRUE(out);
    EXPECT_EQ(describe(harness.get(), out.get()).samples, decode(jpeg, PixelFormat::yuv420p));
  }
}

/// A stream with a thumbnail, a comment that looks like an image, and fill bytes.
Bytes with_traps(const Bytes& jpeg) {
  Bytes out(jpeg.begin(), jpeg.begin() + 2);
  const auto add = [&out](std::initializer_list<int> bytes) {
    for (const int byte : bytes) out.push_back(static_cast<std::byte>(byte));
  };
  add({0xFF, 0xE1, 0x00, 0x08, 0xFF, 0xD8, 0xFF, 0xD9, 0xFF, 0xD8});
  add({0xFF, 0xFF, 0xFF, 0xFE, 0x00, 0x06, 0xFF, 0xD9, 0xFF, 0xD8});
  out.insert(out.end(), jpeg.begin() + 2, jpeg.end());
  return out;
}

TEST(GstDecoder, UnframedBytesAreCutIntoImages) {
  std::vector<Bytes> images;
  Bytes stream;
  for (int n = 0; n < 5; ++n) {
    LibjpegOptions options;
    options.restart_mcus = n % 2;
    images.push_back(with_traps(
        libjpeg_sample(48 + n, 40, Subsampling::s420, options, static_cast<std::uint64_t>(n))));
    stream.insert(stream.end(), images.back().begin(), images.back().end());
    stream.insert(stream.end(), static_cast<std::size_t>(3 * n), std::byte{0xFF});  // padding
    stream.insert(stream.end(), static_cast<std::size_t>(n), std::byte{0x20});
  }
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U, 1000000U}) {
    const Owned<GstHarness> harness = make_harness(kDecoder, kUnframed);
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      const std::size_t end = std::min(at + piece, stream.size());
      const Bytes part(stream.begin() + static_cast<std::ptrdiff_t>(at),
                       stream.begin() + static_cast<std::ptrdiff_t>(end));
      ASSERT_EQ(gst_harness_push(harness.get(), to_buffer(part).release()), GST_FLOW_OK);
    }
    gst_harness_push_event(harness.get(), gst_event_new_eos());
    ASSERT_EQ(gst_harness_buffers_received(harness.get()), images.size()) << piece;
    const Owned<GstElement> decoder(gst_harness_find_element(harness.get(), "zerorundec"));
    EXPECT_EQ(statistic(decoder.get(), "frames"), images.size());
    EXPECT_EQ(statistic(decoder.get(), "errors"), 0U);
    EXPECT_EQ(statistic(decoder.get(), "concealed-frames"), 0U);
  }
}

/// The search for the end goes by blocks of 256 bytes, and copies 8,192 at a time.
TEST(GstDecoder, UnframedImagesMayHaveAnyLength) {
  const Bytes jpeg = libjpeg_sample(48, 40, Subsampling::s420);
  const Owned<GstHarness> harness = make_harness(kDecoder, kUnframed);
  unsigned images = 0;
  for (const std::size_t first : {std::size_t{0}, std::size_t{7600}, std::size_t{16000}})
    for (std::size_t more = first; more < first + 800; ++more) {
      Bytes longer(jpeg.begin(), jpeg.end() - 2);  // without EOI
      longer.insert(longer.end(), more, std::byte{0x55});
      longer.insert(longer.end(), jpeg.end() - 2, jpeg.end());
      ASSERT_EQ(gst_harness_push(harness.get(), to_buffer(longer).release()), GST_FLOW_OK);
      ASSERT_EQ(gst_harness_buffers_received(harness.get()), ++images) << more;
    }
}

TEST(GstDecoder, AnImageThatIsCutShortIsShown) {
  const Bytes whole = libjpeg_sample(64, 64, Subsampling::s420);
  const Bytes part(whole.begin(), whole.end() - 300);
  Bytes stream = part;
  stream.insert(stream.end(), whole.begin(), whole.end());
  stream.insert(stream.end(), part.begin(), part.end());
  const Owned<GstHarness> harness = make_harness(kDecoder, kUnframed);
  ASSERT_EQ(gst_harness_push(harness.get(), to_buffer(stream).release()), GST_FLOW_OK);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  ASSERT_EQ(gst_harness_buffers_received(harness.get()), 3U);
  for (const bool corrupted : {true, false, true}) {
    const Owned<GstBuffer> out(gst_harness_pull(harness.get()));
    EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_CORRUPTED), corrupted);
    EXPECT_EQ(describe(harness.get(), out.get()).samples,
              decode(corrupted ? part : whole, PixelFormat::yuv420p));
  }
  const Owned<GstElement> decoder(gst_harness_find_element(harness.get(), "zerorundec"));
  EXPECT_EQ(statistic(decoder.get(), "concealed-frames"), 2U);
}

TEST(GstDecoder, DamagedFramesMayBeDiscarded) {
  const Bytes whole = libjpeg_sample(64, 64, Subsampling::s420);
  const Bytes part(whole.begin(), whole.end() - 300);
  const Owned<GstHarness> harness =
      make_harness("zerorundec device=cpu discard-corrupted-frames=true", kFramed);
  for (const Bytes& jpeg : {part, whole, part})
    ASSERT_EQ(gst_harness_push(harness.get(), to_buffer(jpeg).release()), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_buffers_received(harness.get()), 1U);
}

TEST(GstDecoder, AFrameWithoutAUsableHeaderIsDroppedUpToMaxErrors) {
  const Bytes good = libjpeg_sample(32, 32, Subsampling::s420);
  Bytes bad(good.begin(), good.begin() + 30), arithmetic;
  LibjpegOptions options;
  options.arithmetic = true;
  arithmetic = libjpeg_sample(32, 32, Subsampling::s420, options);
  const Owned<GstHarness> tolerant = make_harness(kDecoder, kFramed);
  for (const Bytes& jpeg : {bad, good, bad, bad, arithmetic, good})
    ASSERT_EQ(gst_harness_push(tolerant.get(), to_buffer(jpeg).release()), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_buffers_received(tolerant.get()), 2U);
  const Owned<GstElement> decoder(gst_harness_find_element(tolerant.get(), "zerorundec"));
  EXPECT_EQ(statistic(decoder.get(), "errors"), 4U);

  const Owned<GstHarness> strict = make_harness("zerorundec device=cpu max-errors=1", kFramed);
  EXPECT_EQ(gst_harness_push(strict.get(), to_buffer(bad).release()), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_push(strict.get(), to_buffer(bad).release()), GST_FLOW_ERROR);
}

TEST(GstDecoder, AStreamOfAnotherProcessStopsAtOnce) {
  LibjpegOptions options;
  options.arithmetic = true;
  const Bytes arithmetic = libjpeg_sample(32, 32, Subsampling::s420, options);
  const Owned<GstHarness> harness = make_harness(kDecoder, kFramed);
  EXPECT_EQ(gst_harness_push(harness.get(), to_buffer(arithmetic).release()), GST_FLOW_ERROR);
  const Owned<GstHarness> by_caps = make_harness(kDecoder, "image/jpeg, parsed=true, sof-marker=9");
  EXPECT_EQ(gst_harness_push(by_caps.get(), to_buffer(arithmetic).release()),
            GST_FLOW_NOT_NEGOTIATED);
}

TEST(GstDecoder, LargerImagesThanAllowedAreDropped) {
  const Bytes jpeg = libjpeg_sample(32, 32, Subsampling::s420);
  for (const bool fits : {false, true}) {
    const Owned<GstHarness> harness = make_harness(
        "zerorundec device=cpu max-pixels=" + std::to_string(fits ? 32 * 32 : 32 * 32 - 1),
        kFramed);
    ASSERT_EQ(gst_harness_push(harness.get(), to_buffer(jpeg).release()), GST_FLOW_OK);
    EXPECT_EQ(gst_harness_buffers_received(harness.get()), fits ? 1U : 0U);
  }
}

TEST(GstDecoder, AFlushForgetsHalfAnImage) {
  const Bytes jpeg = libjpeg_sample(64, 64, Subsampling::s420);
  const Owned<GstHarness> harness = make_harness(kDecoder, kUnframed);
  for (int round = 0; round < 3; ++round) {
    const Bytes half(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(jpeg.size() / 2));
    ASSERT_EQ(gst_harness_push(harness.get(), to_buffer(half).release()), GST_FLOW_OK);
    flush(harness.get());
    const Owned<GstBuffer> out = pull_after(harness.get(), to_buffer(jpeg));
    ASSERT_TRUE(out);
    EXPECT_EQ(describe(harness.get(), out.get()).samples, decode(jpeg, PixelFormat::yuv420p));
  }
}

TEST(GstDecoder, TimesAreKept) {
  const Bytes jpeg = libjpeg_sample(64, 64, Subsampling::s420);
  for (const char* caps : {kFramed, kUnframed}) {
    const Owned<GstHarness> harness = make_harness(kDecoder, caps);
    for (GstClockTime n = 0; n < 5; ++n) {
      Owned<GstBuffer> buffer = to_buffer(jpeg);
      GST_BUFFER_PTS(buffer.get()) = n * 100 * GST_MSECOND;
      ASSERT_EQ(gst_harness_push(harness.get(), buffer.release()), GST_FLOW_OK);
    }
    for (GstClockTime n = 0; n < 5; ++n) {
      const Owned<GstBuffer> out(gst_harness_pull(harness.get()));
      ASSERT_TRUE(out);
      EXPECT_EQ(GST_BUFFER_PTS(out.get()), n * 100 * GST_MSECOND) << caps;
    }
  }
}

}  // namespace
}  // namespace zerorun::test
