// Whole pipelines: files, live sources, seeks, RTP, and GStreamer's own JPEG elements.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <fstream>

#include "tests/gstreamer/support.hpp"
#include "tests/support/libjpeg_encode.hpp"

namespace zerorun::test {
namespace {

#define ZR_NEEDS(...)                                    \
  if (!has_elements({__VA_ARGS__}))                      \
  GTEST_SKIP() << "gstreamer1.0-plugins-base, -good or " \
                  "-libav is missing"

std::string source(int frames, const std::string& more = "pattern=ball") {
  return "videotestsrc num-buffers=" + std::to_string(frames) + " " + more +
         " ! video/x-raw,format=I420,width=176,height=146,framerate=25/1 ! ";
}

/// Asks again and again, for half a minute at most.
template <typename Condition>
bool comes(const Condition& is_so) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (is_so()) return true;
    g_usleep(10000);
  }
  return false;
}

/// Frames and bytes that arrive at the element `sink`.
struct Arrived {
  std::atomic<int> frames{0};
  std::atomic<guint64> last_pts{0};
};
/// `arrived` has to live longer than the pipeline, which goes on until it is destroyed.
void watch(const Pipeline& pipeline, Arrived& arrived) {
  const Owned<GstElement> sink = pipeline.element("sink");
  GstPad* pad = gst_element_get_static_pad(sink.get(), "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        auto* to = static_cast<Arrived*>(data);
        to->frames += 1;
        to->last_pts = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
        return GST_PAD_PROBE_OK;
      },
      &arrived, nullptr);
  gst_object_unref(pad);
}

bool takes_jpeg(const char* muxer) {
  GstElementFactory* factory = gst_element_factory_find(muxer);
  if (factory == nullptr) return false;
  GstCaps* jpeg = gst_caps_new_empty_simple("image/jpeg");
  const bool takes = gst_element_factory_can_sink_any_caps(factory, jpeg) != FALSE;
  gst_caps_unref(jpeg);
  gst_object_unref(factory);
  return takes;
}

/// GStreamer's own mp4mux has no image/jpeg up to 1.22 at least; gstreamer1.0-libav's has.
TEST(GstPipeline, EveryContainerIsWrittenAndReadAgain) {
  ZR_NEEDS("videotestsrc", "matroskamux", "matroskademux", "avimux", "qtmux", "multipartmux",
           "qtdemux", "avmux_mp4");
  EXPECT_TRUE(takes_jpeg("avmux_mp4"));
  for (const auto& [muxer, demuxer] : {std::pair{"matroskamux", "matroskademux"},
                                       {"avimux", "avidemux"},
                                       {"qtmux", "qtdemux"},
                                       {"multipartmux", "multipartdemux"},
                                       {"mp4mux", "qtdemux"},
                                       {"avmux_mp4", "qtdemux"}}) {
    if (!takes_jpeg(muxer)) continue;
    SCOPED_TRACE(muxer);
    const ScratchFile file(".out");
    ASSERT_EQ(Pipeline(source(30) + "zerorunenc device=cpu ! " + muxer +
                       " ! filesink location=" + file.name())
                  .run_to_end(),
              "");
    EXPECT_EQ(file.content().find("mp4v") != std::string::npos,
              std::string_view(muxer).find("mp4") != std::string_view::npos);
    Arrived arrived;
    const Pipeline reader("filesrc location=" + file.name() + " ! " + demuxer +
                          " ! zerorundec device=cpu ! fakesink name=sink");
    watch(reader, arrived);
    ASSERT_EQ(reader.run_to_end(), "");
    EXPECT_EQ(arrived.frames, 30);
    if (std::string_view(muxer) == "matroskamux") {
      EXPECT_EQ(arrived.last_pts, 29 * 40 * GST_MSECOND);
    }
  }
}

TEST(GstPipeline, GStreamersDecoderGivesTheSameSamplesOfOurStream) {
  ZR_NEEDS("videotestsrc", "jpegdec");
  const std::string ours = source(5) + "zerorunenc device=cpu quality=80 ! ";
  const std::string samples = decoded(ours + "zerorundec device=cpu");
  EXPECT_EQ(samples.size(), 5U * 176 * 146 * 3 / 2);
  EXPECT_EQ(samples, decoded(ours + "jpegdec idct-method=islow"));
}

TEST(GstPipeline, TheirStreamGivesTheSamplesOfTheirDecoder) {
  ZR_NEEDS("videotestsrc", "jpegenc", "jpegdec");
  const std::string theirs = source(5) + "jpegenc ! ";
  EXPECT_EQ(decoded(theirs + "zerorundec device=cpu"),
            decoded(theirs + "jpegdec idct-method=islow"));
}

TEST(GstPipeline, ALiveSourceLosesNoFrame) {
  ZR_NEEDS("videotestsrc");
  Arrived arrived;
  const Pipeline pipeline(
      "videotestsrc is-live=true num-buffers=25 ! "
      "video/x-raw,format=I420,width=320,height=240,framerate=50/1 ! "
      "zerorunenc name=encoder device=cpu ! fakesink name=sink sync=true qos=true max-lateness=0");
  watch(pipeline, arrived);
  ASSERT_EQ(pipeline.run_to_end(), "");
  EXPECT_EQ(arrived.frames, 25);
  EXPECT_EQ(statistic(pipeline.element("encoder").get(), "frames"), 25U);
}

TEST(GstPipeline, AStopWhileDownstreamBlocksIsSafe) {
  ZR_NEEDS("videotestsrc");
  for (const char* sink : {"fakesink sync=true", "fakesink sync=true async=false",
                           "queue max-size-buffers=1 ! fakesink sync=true"}) {
    const Pipeline pipeline(
        "videotestsrc ! video/x-raw,width=64,height=48,framerate=1/1 ! "
        "zerorunenc name=encoder device=cpu depth=4 ! " +
        std::string(sink));
    ASSERT_TRUE(pipeline.set_state(GST_STATE_PLAYING)) << sink;
    const Owned<GstElement> encoder = pipeline.element("encoder");
    // The sink shows the first frame, and waits for a second before it takes the next.
    EXPECT_TRUE(comes([&] { return statistic(encoder.get(), "frames") >= 2; })) << sink;
    ASSERT_TRUE(pipeline.set_state(GST_STATE_PAUSED)) << sink;
    ASSERT_TRUE(pipeline.set_state(GST_STATE_NULL)) << sink;
  }
}

TEST(GstPipeline, BytesWithoutCapsAreDecoded) {
  for (const Subsampling sampling : {Subsampling::s420, Subsampling::gray}) {
    const Bytes jpeg = libjpeg_sample(48, 40, sampling);
    const ScratchFile file(".jpg");
    std::ofstream(file.name(), std::ios::binary)
        .write(reinterpret_cast<const char*>(jpeg.data()),
               static_cast<std::streamsize>(jpeg.size()));
    const auto wanted =
        decode(jpeg, sampling == Subsampling::gray ? PixelFormat::gray8 : PixelFormat::yuv420p);
    EXPECT_EQ(decoded("filesrc location=" + file.name() + " ! zerorundec device=cpu"),
              std::string(wanted.begin(), wanted.end()));
  }
}

TEST(GstPipeline, AFileWithoutAUsableImageIsAnError) {
  const ScratchFile file(".jpg");
  std::ofstream(file.name(), std::ios::binary) << "\xFF\xD8\xFF\xDA no header before the scan";
  const Pipeline reader("filesrc location=" + file.name() + " ! zerorundec device=cpu ! fakesink");
  EXPECT_NE(reader.run_to_end().find("no image of the stream can be decoded"), std::string::npos);
}

TEST(GstPipeline, WhatDownstreamAnswersReachesTheSource) {
  ZR_NEEDS("videotestsrc");
  const Pipeline failing(source(1000) +
                         "zerorunenc device=cpu ! identity error-after=5 ! fakesink");
  EXPECT_NE(failing.run_to_end(), "");
  const Pipeline ending(source(1000) +
                        "zerorunenc name=encoder device=cpu ! identity eos-after=5 ! "
                        "fakesink");
  EXPECT_EQ(ending.run_to_end(), "");
  EXPECT_LT(statistic(ending.element("encoder").get(), "frames"), 100U);
}

TEST(GstPipeline, SeeksFlushAndGoOn) {
  ZR_NEEDS("videotestsrc");
  Arrived arrived;
  const Pipeline pipeline(
      "videotestsrc ! video/x-raw,format=I420,width=640,height=480,framerate=25/1 ! "
      "zerorunenc device=cpu ! zerorundec device=cpu ! fakesink name=sink sync=false");
  watch(pipeline, arrived);
  ASSERT_TRUE(pipeline.set_state(GST_STATE_PLAYING));
  for (gint64 second = 1; second <= 10; ++second) {
    EXPECT_TRUE(comes([&] { return arrived.frames > 0; }));
    ASSERT_TRUE(gst_element_seek_simple(pipeline.get(), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                        second * 1000 * GST_SECOND));
    ASSERT_NE(gst_element_get_state(pipeline.get(), nullptr, nullptr, 20 * GST_SECOND),
              GST_STATE_CHANGE_FAILURE);
    const auto from = static_cast<guint64>(second) * 1000 * GST_SECOND;
    EXPECT_TRUE(comes([&] { return arrived.last_pts >= from; }));
  }
}

// RFC 2435 carries standard tables, 4:2:0 and 4:2:2: zerorunenc before rtpjpegpay.

std::string coded(const std::string& format, const std::string& encoder) {
  return "videotestsrc num-buffers=3 ! video/x-raw,format=" + format +
         ",width=176,height=144,framerate=25/1 ! zerorunenc device=cpu " + encoder + " ! ";
}

std::string sender(const std::string& format, const std::string& encoder) {
  return coded(format, encoder) + "queue ! rtpjpegpay ! ";
}

/// The words of the first warning of a run, or an empty text.
std::string warning_of(const std::string& launch) {
  const Pipeline pipeline(launch);
  pipeline.set_state(GST_STATE_PLAYING);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline.get()));
  const auto wanted =
      static_cast<GstMessageType>(GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const Owned<GstMessage> message(gst_bus_timed_pop_filtered(bus.get(), 30 * GST_SECOND, wanted));
  pipeline.set_state(GST_STATE_NULL);
  const bool is_warning = message && GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_WARNING;
  return is_warning ? text_of(message.get()) : "";
}

TEST(GstRtp, WhatTheInputHasBecomesWhatTheReceiverUnderstands) {
  ZR_NEEDS("videotestsrc", "rtpjpegpay", "rtpjpegdepay", "jpegdec");
  constexpr std::pair<const char*, const char*> kCases[] = {
      {"I420", "420"}, {"Y42B", "422"}, {"Y444", "420"}, {"GRAY8", "420"}, {"RGB", "420"}};
  for (const auto& [format, sampling] : kCases) {
    const std::string sent = decoded(
        coded(format, std::string("subsampling=") + sampling + " restart-interval=0") + "jpegdec");
    EXPECT_FALSE(sent.empty());
    EXPECT_TRUE(sent == decoded(sender(format, "restart-interval=0") + "rtpjpegdepay ! jpegdec"))
        << format;
  }
}

TEST(GstRtp, WhatWasAskedForAndCannotBeCarriedIsAWarning) {
  ZR_NEEDS("videotestsrc", "rtpjpegpay", "rtpjpegdepay", "jpegdec");
  EXPECT_NE(warning_of(sender("I420", "huffman=optimal") + "fakesink").find("Huffman"),
            std::string::npos);
  EXPECT_NE(warning_of(sender("I420", "progressive=true") + "fakesink").find("progressive"),
            std::string::npos);
  EXPECT_NE(warning_of(sender("I420", "subsampling=444") + "fakesink").find("4:2:0"),
            std::string::npos);
  EXPECT_EQ(warning_of(sender("I420", "") + "fakesink"), "");
}

}  // namespace
}  // namespace zerorun::test
