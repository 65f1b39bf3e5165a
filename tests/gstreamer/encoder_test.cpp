// zerorunenc: formats, strides, colours, properties and caps.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/gstreamer/support.hpp"
#include "tests/support/resources.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

constexpr const char* kEncoder = "zerorunenc device=cpu";

Bytes encode_one(const std::string& launch, const TestFrame& frame, const std::string& caps) {
  const Owned<GstHarness> harness = make_harness(launch, caps);
  const Owned<GstBuffer> out = pull_after(harness.get(), to_buffer(frame, caps));
  EXPECT_TRUE(out) << caps;
  return out ? bytes_of(out.get()) : Bytes{};
}

TEST(GstEncoder, EveryFormatAndSmallSizeGivesTheBytesOfTheLibrary) {
  for (const FormatName& name : kFormatNames) {
    const Owned<GstHarness> harness = make_harness(kEncoder);
    const auto expect_same = [&](int width, int height) {
      const TestFrame frame = make_frame(Content::photo, name.zerorun, width, height, 11);
      const std::string caps =
          raw_caps(name.gst, width, height, is_rgb(name.zerorun) ? "sRGB" : "1:4:0:0");
      gst_harness_set_src_caps_str(harness.get(), caps.c_str());
      const Owned<GstBuffer> out = pull_after(harness.get(), to_buffer(frame, caps));
      ASSERT_TRUE(out) << caps;
      ASSERT_EQ(bytes_of(out.get()), encoded_on_cpu(frame.view())) << caps;
    };
    constexpr int kStep = kSanitized ? 3 : 1;
    for (int height = 1; height <= 17; ++height)
      for (int width = 1 + height % kStep; width <= 17; width += kStep) expect_same(width, height);
    expect_same(130, 67);
  }
}

TEST(GstEncoder, AnyStridesAndOffsetsOfTheVideoMetaAreRead) {
  for (const FormatName& name : kFormatNames) {
    // gst_video_frame_copy() does not copy the second half of the last pair of pixels.
    const bool pairs = name.zerorun == PixelFormat::yuyv || name.zerorun == PixelFormat::uyvy;
    constexpr int height = 19;
    const int width = pairs ? 38 : 37;
    const TestFrame frame = make_frame(Content::photo, name.zerorun, width, height, 12);
    const std::string text =
        raw_caps(name.gst, width, height, is_rgb(name.zerorun) ? "sRGB" : "1:4:0:0");
    const Owned<GstCaps> caps(gst_caps_from_string(text.c_str()));
    GstVideoInfo info, wide;
    ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    wide = info;
    gsize end = 100;  // nothing begins at 0
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
      wide.stride[p] = info.stride[p] + 44;
      wide.offset[p] = end;
      end += static_cast<gsize>(wide.stride[p]) * 20 + 13;
    }
    const Owned<GstBuffer> tight = to_buffer(frame, text);
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, end, nullptr);
    gst_buffer_memset(buffer, 0, 0xEE, end);
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                   static_cast<guint>(width), height,
                                   GST_VIDEO_INFO_N_PLANES(&info), wide.offset, wide.stride);
    GstVideoFrame from, to;
    ASSERT_TRUE(gst_video_frame_map(&from, &info, tight.get(), GST_MAP_READ));
    ASSERT_TRUE(gst_video_frame_map(&to, &info, buffer, GST_MAP_WRITE));
    ASSERT_NE(GST_VIDEO_FRAME_PLANE_STRIDE(&to, 0), info.stride[0]);
    ASSERT_TRUE(gst_video_frame_copy(&to, &from));
    gst_video_frame_unmap(&to);
    gst_video_frame_unmap(&from);

    const Owned<GstHarness> harness = make_harness(kEncoder, text);
    const Owned<GstBuffer> out(gst_harness_push_and_pull(harness.get(), buffer));
    ASSERT_TRUE(out);
    EXPECT_EQ(bytes_of(out.get()), encoded_on_cpu(frame.view())) << name.gst;
  }
}

/// H.273 for 8 bits, from limited to full range, the matrix unchanged.
std::uint8_t expand(int value, bool luma) {
  const long full = luma ? std::lround((value - 16) * 255.0 / 219.0)
                         : 128 + std::lround((value - 128) * 255.0 / 224.0);
  return static_cast<std::uint8_t>(std::clamp(full, 0L, 255L));
}

TEST(GstEncoder, LimitedRangeBecomesFullRange) {
  const std::pair<const char*, PixelFormat> formats[] = {
      {"I420", PixelFormat::yuv420p}, {"Y444", PixelFormat::yuv444p}, {"NV12", PixelFormat::nv12},
      {"NV21", PixelFormat::nv21},    {"YUY2", PixelFormat::yuyv},    {"UYVY", PixelFormat::uyvy},
      {"GRAY8", PixelFormat::gray8}};
  for (const auto& [name, format] : formats) {
    const PixelFormat planar = planar_format(native_subsampling(format));
    const TestFrame in = make_frame(Content::noise, planar, 41, 23, 13);
    TestFrame want(planar, 41, 23);
    for (int p = 0; p < plane_count(planar); ++p)
      for (int y = 0; y < in.rows(p); ++y)
        for (std::size_t x = 0; x < in.row_bytes(p); ++x)
          want.row(p, y)[x] = expand(in.row(p, y)[x], p == 0);
    const TestFrame packed = format == planar ? in : rearrange(in, format);
    EXPECT_EQ(encode_one(kEncoder, packed, raw_caps(name, 41, 23, "2:4:5:4")),
              encoded_on_cpu(want.view()))
        << name;
  }
}

TEST(GstEncoder, TheMatrixOfHighDefinitionBecomesThatOfJpeg) {
  // Pure red, green and blue in limited-range BT.709.
  const int colours[][6] = {
      {63, 102, 240, 255, 0, 0}, {173, 42, 26, 0, 255, 0}, {32, 240, 118, 0, 0, 255}};
  for (const auto& c : colours) {
    for (const char* colorimetry : {"bt709", ""}) {  // the default for HD
      const int size = *colorimetry == 0 ? 1280 : 32;
      TestFrame large(PixelFormat::yuv420p, size, size);
      for (int p = 0; p < 3; ++p)
        for (int y = 0; y < large.rows(p); ++y)
          std::memset(large.row(p, y), c[p], large.row_bytes(p));
      const Bytes jpeg = encode_one(kEncoder, large, raw_caps("I420", size, size, colorimetry));
      const std::vector<std::uint8_t> rgb = decode(jpeg, PixelFormat::rgb24);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(rgb[i], c[3 + i], 3) << colorimetry;
    }
  }
}

TEST(GstEncoder, LimitedRangeRgbIsRefused) {
  const std::string caps = raw_caps("RGB", 8, 8, "2:1:7:1");
  const Owned<GstHarness> harness = make_harness(kEncoder, caps);
  const TestFrame frame(PixelFormat::rgb24, 8, 8);
  EXPECT_EQ(gst_harness_push(harness.get(), to_buffer(frame, caps).release()),
            GST_FLOW_NOT_NEGOTIATED);
}

TEST(GstEncoder, QualityChangesWithTheNextFrame) {
  const std::string caps = raw_caps("I420", 64, 48);
  const Owned<GstHarness> harness = make_harness(kEncoder, caps);
  const Owned<GstElement> encoder(gst_harness_find_element(harness.get(), "zerorunenc"));
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 64, 48, 14);
  const int qualities[] = {90, 20, 100, 1, 75};
  for (const int quality : qualities) {  // all in flight together
    g_object_set(encoder.get(), "quality", quality, nullptr);
    ASSERT_EQ(gst_harness_push(harness.get(), to_buffer(frame, caps).release()), GST_FLOW_OK);
  }
  for (const int quality : qualities) {
    const Owned<GstBuffer> out(gst_harness_pull(harness.get()));
    ASSERT_TRUE(out);
    EncodeParams params;
    params.quality = quality;
    EXPECT_EQ(bytes_of(out.get()), encoded_on_cpu(frame.view(), params)) << quality;
  }
}

TEST(GstEncoder, PropertiesReachTheStream) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv444p, 100, 60, 15);
  const std::string caps = raw_caps("Y444", 100, 60);
  EncodeParams params;
  params.quality = 50;
  params.restart = RestartPolicy::mcus(3);
  params.huffman = HuffmanTables::optimal;
  params.subsampling = Subsampling::s420;
  EXPECT_EQ(encode_one("zerorunenc device=cpu quality=50 restart-interval=3 huffman=optimal "
                       "subsampling=420 depth=1",
                       frame, caps),
            encoded_on_cpu(frame.view(), params));
  params.tune = Tune::photo;
  params.effort = Effort::best;
  params.tables = QuantTables::flat;
  EXPECT_EQ(encode_one("zerorunenc device=cpu quality=50 restart-interval=3 huffman=optimal "
                       "subsampling=420 tune=photo effort=best tables=flat",
                       frame, caps),
            encoded_on_cpu(frame.view(), params));
  params = {};
  params.size.target_psnr = 36.5;
  EXPECT_EQ(encode_one("zerorunenc device=cpu target-psnr=36.5", frame, caps),
            encoded_on_cpu(frame.view(), params));
  params.size = {};
  params.size.target_ssim = 0.9;
  EXPECT_EQ(encode_one("zerorunenc device=cpu target-ssim=0.9", frame, caps),
            encoded_on_cpu(frame.view(), params));
  params.size = {};
  params.progressive = true;
  EXPECT_EQ(encode_one("zerorunenc device=cpu progressive=true", frame, caps),
            encoded_on_cpu(frame.view(), params));

  const Bytes plain =
      encode_one("zerorunenc device=cpu restart-interval=0 subsampling=gray", frame, caps);
  const auto info = inspect(plain);
  ASSERT_TRUE(info.is_ok());
  EXPECT_EQ(info->restart_interval_mcus, 0);
  EXPECT_EQ(info->subsampling, Subsampling::gray);
}

TEST(GstEncoder, SizesReachTheStream) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 320, 240, 15);
  const std::string caps = raw_caps("I420", 320, 240);  // 25 frames a second
  EncodeParams params;
  params.size.max_bytes = 9000;
  const Bytes capped = encode_one("zerorunenc device=cpu max-frame-size=9000", frame, caps);
  EXPECT_EQ(capped, encoded_on_cpu(frame.view(), params));
  EXPECT_LE(capped.size(), 9000u);
  params.size = {};
  params.size.target_bytes = 12000;  // half a bucket is there, and no more is wanted
  EXPECT_EQ(encode_one("zerorunenc device=cpu bitrate=2400000", frame, caps),
            encoded_on_cpu(frame.view(), params));
}

TEST(GstEncoder, AnErrorOfFramesInFlightIsToldOnce) {
  const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv420p, 640, 480, 15);
  const std::string caps = raw_caps("I420", 640, 480);
  const ToldHarness harness("zerorunenc device=cpu depth=8 bitrate=1000", caps);
  for (int round = 0; round < 2; ++round) {
    for (int n = 0; n < 8; ++n)
      if (gst_harness_push(harness.get(), to_buffer(frame, caps).release()) != GST_FLOW_OK) break;
    gst_harness_push_event(harness.get(), gst_event_new_eos());  // waits for all
    EXPECT_EQ(harness.told(GST_MESSAGE_ERROR).size(), 1U) << round;
    // After a flush there may be another one.
    flush(harness.get());
  }
}

TEST(GstEncoder, TheBitrateChangesWhilePlaying) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 320, 240, 15);
  const std::string caps = raw_caps("I420", 320, 240);
  const Owned<GstHarness> harness =
      make_harness("zerorunenc device=cpu depth=1 bitrate=2400000", caps);
  const Owned<GstElement> encoder(gst_harness_find_element(harness.get(), "zerorunenc"));
  ASSERT_TRUE(encoder);
  const auto size_of_next = [&] {
    const Owned<GstBuffer> out = pull_after(harness.get(), to_buffer(frame, caps));
    return out ? gst_buffer_get_size(out.get()) : 0;
  };
  EXPECT_NEAR(static_cast<double>(size_of_next()), 12000, 60);
  g_object_set(encoder.get(), "bitrate", 3000000, nullptr);
  EXPECT_NEAR(static_cast<double>(size_of_next()), 15000, 75);
  g_object_set(encoder.get(), "max-frame-size", 10000, nullptr);
  EXPECT_NEAR(static_cast<double>(size_of_next()), 9975, 26);
  g_object_set(encoder.get(), "bitrate", 0, "max-frame-size", 0, nullptr);
  EncodeParams params;
  EXPECT_EQ(size_of_next(), encoded_on_cpu(frame.view(), params).size());
}

TEST(GstEncoder, PixelAspectGoesIntoTheHeader) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::gray8, 32, 32, 16);
  const Bytes jpeg =
      encode_one(kEncoder, frame, raw_caps("GRAY8", 32, 32) + ", pixel-aspect-ratio=16/15");
  const auto info = inspect(jpeg);
  ASSERT_TRUE(info.is_ok());
  EXPECT_EQ(info->pixel_aspect_x, 16);
  EXPECT_EQ(info->pixel_aspect_y, 15);
}

TEST(GstEncoder, CapsSayWhatTheStreamIs) {
  const auto caps_of = [](const std::string& launch, const FormatName& format,
                          const std::string& colorimetry) {
    const Owned<GstHarness> harness = make_harness(launch);
    const std::string in = raw_caps(format.gst, 34, 18, colorimetry);
    gst_harness_set_src_caps_str(harness.get(), in.c_str());
    const TestFrame frame = make_frame(Content::flat, format.zerorun, 34, 18, 1);
    const Owned<GstBuffer> out = pull_after(harness.get(), to_buffer(frame, in));
    EXPECT_TRUE(out);
    return Owned<GstCaps>(gst_pad_get_current_caps(harness->sinkpad));
  };
  const auto expect = [](const Owned<GstCaps>& caps, const std::string& want) {
    const Owned<GstCaps> wanted(gst_caps_from_string(want.c_str()));
    gchar* text = gst_caps_to_string(caps.get());
    EXPECT_TRUE(gst_caps_is_subset(caps.get(), wanted.get())) << text;
    g_free(text);
  };
  const std::string common =
      "image/jpeg, parsed=true, sof-marker=0, width=34, height=18, framerate=25/1, "
      "interlace-mode=progressive, ";
  expect(caps_of(kEncoder, {"NV12", PixelFormat::nv12}, "bt601"),
         common + "colorspace=sYUV, sampling=YCbCr-4:2:0, colorimetry=1:4:16:4");
  expect(caps_of(kEncoder, {"UYVY", PixelFormat::uyvy}, "1:4:0:0"),
         common + "colorspace=sYUV, sampling=YCbCr-4:2:2, colorimetry=1:4:0:0");
  expect(caps_of(kEncoder, {"RGB", PixelFormat::rgb24}, "sRGB"),
         common + "colorspace=sYUV, sampling=YCbCr-4:2:0, colorimetry=1:4:7:1");
  expect(caps_of(kEncoder, {"GRAY8", PixelFormat::gray8}, ""),
         common + "colorspace=GRAY, sampling=GRAYSCALE");
  expect(caps_of("zerorunenc device=cpu subsampling=411", {"I420", PixelFormat::yuv420p}, ""),
         common + "sampling=YCbCr-4:1:1");
}

TEST(GstEncoder, BuffersForTheFramesInFlightAreAskedFor) {
  const Owned<GstHarness> harness =
      make_harness("zerorunenc device=cpu depth=6", raw_caps("I420", 64, 48));
  const Owned<GstCaps> caps(gst_caps_from_string(raw_caps("I420", 64, 48).c_str()));
  GstQuery* query = gst_query_new_allocation(caps.get(), TRUE);
  ASSERT_TRUE(gst_pad_peer_query(harness->srcpad, query));
  EXPECT_TRUE(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
  ASSERT_EQ(gst_query_get_n_allocation_pools(query), 1U);
  GstBufferPool* pool = nullptr;
  guint size = 0, least = 0, most = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
  EXPECT_EQ(size, 64U * 48 * 3 / 2);
  EXPECT_EQ(least, 7U);
  ASSERT_NE(pool, nullptr);
  gst_object_unref(pool);
  gst_query_unref(query);
}

TEST(GstEncoder, LatencyIsThatOfTheLanes) {
  const auto latency = [](const char* launch) {
    const Owned<GstHarness> harness = make_harness(launch, raw_caps("I420", 64, 48));
    const TestFrame frame(PixelFormat::yuv420p, 64, 48);
    const Owned<GstBuffer> out =
        pull_after(harness.get(), to_buffer(frame, raw_caps("I420", 64, 48)));
    return gst_harness_query_latency(harness.get());
  };
  EXPECT_EQ(latency("zerorunenc device=cpu depth=1"), 0U);
  const GstClockTime deep = latency("zerorunenc device=cpu depth=2");
  EXPECT_EQ(deep, g_get_num_processors() > 1 ? 40 * GST_MSECOND : 0);
}

TEST(GstEncoder, DevicesThatAreNotThereAreNamed) {
  const auto error_of = [](const std::string& device) {
    const Pipeline pipeline("fakesrc ! zerorunenc device=" + device + " ! fakesink");
    gst_element_set_state(pipeline.get(), GST_STATE_PAUSED);
    return pipeline.wait();
  };
  EXPECT_NE(error_of("gpu").find("'gpu' is not auto, cpu, cuda or cuda:N"), std::string::npos);
  EXPECT_NE(error_of("cuda:x").find("cuda:x"), std::string::npos);
  const Status absent = resolve_backend(Backend::cuda, 99).status();
  EXPECT_EQ(error_of("cuda:99"), absent.message());
}

}  // namespace
}  // namespace zerorun::test
