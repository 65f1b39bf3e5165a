// Whole pipelines: files, live sources, seeks, GStreamer's own JPEG elements, and long runs.
// SPDX-License-Identifier: MIT
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/gstreamer/support.hpp"
#include "tests/support/resources.hpp"

namespace zerorun::test {
namespace {

#define ZR_NEEDS(...)                                    \
  if (!has_elements({__VA_ARGS__}))                      \
  GTEST_SKIP() << "gstreamer1.0-plugins-base, -good or " \
                  "-libav is missing"

/// A file name; the destructor removes the file.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& ending)
      : path_(std::filesystem::temp_directory_path() /
              ("zerorun-gst-" + std::to_string(g_random_int()) + ending)) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path_); }
  std::string name() const { return path_.string(); }
  std::string content() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path path_;
};

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

TEST(GstPipeline, MatroskaIsWrittenAndReadAgain) {
  ZR_NEEDS("videotestsrc", "matroskamux", "matroskademux");
  const ScratchFile file(".mkv");
  ASSERT_EQ(Pipeline(source(30) +
                     "zerorunenc device=cpu ! matroskamux ! filesink location=" + file.name())
                .run_to_end(),
            "");
  Arrived arrived;
  const Pipeline reader("filesrc location=" + file.name() +
                        " ! matroskademux ! zerorundec device=cpu ! fakesink name=sink");
  watch(reader, arrived);
  ASSERT_EQ(reader.run_to_end(), "");
  EXPECT_EQ(arrived.frames, 30);
  EXPECT_EQ(arrived.last_pts, 29 * 40 * GST_MSECOND);
}

TEST(GstPipeline, OtherMuxersTakeTheStream) {
  ZR_NEEDS("videotestsrc", "avimux", "qtmux", "multipartmux", "jpegdec");
  for (const char* muxer : {"avimux", "qtmux", "multipartmux"}) {
    const ScratchFile file(".out");
    ASSERT_EQ(Pipeline(source(10) + "zerorunenc device=cpu ! " + muxer +
                       " ! filesink location=" + file.name())
                  .run_to_end(),
              "")
        << muxer;
    const std::string demuxer =
        std::string(muxer) == "multipartmux"
            ? "multipartdemux"
            : std::string(muxer).replace(std::string(muxer).size() - 3, 3, "demux");
    Arrived arrived;
    const Pipeline reader("filesrc location=" + file.name() + " ! " + demuxer +
                          " ! zerorundec device=cpu ! fakesink name=sink");
    watch(reader, arrived);
    ASSERT_EQ(reader.run_to_end(), "") << muxer;
    EXPECT_EQ(arrived.frames, 10) << muxer;
  }
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

/// GStreamer's own mp4mux has no image/jpeg up to 1.22 at least; the muxer of gstreamer1.0-libav
/// has.
TEST(GstPipeline, Mp4IsWrittenByEveryMuxerThatTakesJpeg) {
  ZR_NEEDS("videotestsrc", "qtdemux", "avmux_mp4");
  EXPECT_TRUE(takes_jpeg("avmux_mp4"));
  for (const char* muxer : {"mp4mux", "avmux_mp4"}) {
    if (!takes_jpeg(muxer)) continue;
    const ScratchFile file(".mp4");
    ASSERT_EQ(Pipeline(source(10) + "zerorunenc device=cpu ! " + muxer +
                       " ! filesink location=" + file.name())
                  .run_to_end(),
              "")
        << muxer;
    EXPECT_NE(file.content().find("mp4v"), std::string::npos);
    Arrived arrived;
    const Pipeline reader("filesrc location=" + file.name() +
                          " ! qtdemux ! zerorundec device=cpu ! fakesink name=sink");
    watch(reader, arrived);
    ASSERT_EQ(reader.run_to_end(), "") << muxer;
    EXPECT_EQ(arrived.frames, 10) << muxer;
  }
}

/// The decoded samples of a pipeline that ends in a file.
std::string decoded(const std::string& launch) {
  const ScratchFile file(".yuv");
  EXPECT_EQ(Pipeline(launch + " ! filesink location=" + file.name()).run_to_end(), "") << launch;
  return file.content();
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

TEST(GstPipeline, AFileCanBeSeeked) {
  ZR_NEEDS("videotestsrc", "matroskamux", "matroskademux");
  const ScratchFile file(".mkv");
  ASSERT_EQ(Pipeline(source(100) +
                     "zerorunenc device=cpu ! matroskamux ! filesink location=" + file.name())
                .run_to_end(),
            "");
  Arrived arrived;
  const Pipeline reader("filesrc location=" + file.name() +
                        " ! matroskademux ! zerorundec device=cpu ! fakesink name=sink");
  watch(reader, arrived);
  ASSERT_TRUE(reader.set_state(GST_STATE_PAUSED));
  ASSERT_TRUE(gst_element_seek_simple(
      reader.get(), GST_FORMAT_TIME,
      static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE), 3 * GST_SECOND));
  ASSERT_TRUE(reader.set_state(GST_STATE_PAUSED));
  arrived.frames = 0;
  ASSERT_EQ(reader.run_to_end(), "");
  EXPECT_GE(arrived.frames, 24);  // the first one was prerolled
  EXPECT_LE(arrived.frames, 25);
  EXPECT_EQ(arrived.last_pts, 99 * 40 * GST_MSECOND);
}

TEST(GstPipeline, CapsMayChangeWhilePlaying) {
  ZR_NEEDS("videotestsrc");
  Arrived arrived;
  const Pipeline pipeline(
      "videotestsrc ! capsfilter name=filter caps=video/x-raw,format=I420,width=64,height=48 ! "
      "zerorunenc device=cpu ! zerorundec device=cpu ! fakesink name=sink sync=false");
  watch(pipeline, arrived);
  ASSERT_TRUE(pipeline.set_state(GST_STATE_PLAYING));
  const Owned<GstElement> filter = pipeline.element("filter");
  const Owned<GstElement> sink = pipeline.element("sink");
  GstPad* pad = gst_element_get_static_pad(sink.get(), "sink");
  for (const int width : {100, 33, 640, 1, 64}) {
    const Owned<GstCaps> caps(gst_caps_from_string(
        ("video/x-raw,format=NV12,height=50,width=" + std::to_string(width)).c_str()));
    g_object_set(filter.get(), "caps", caps.get(), nullptr);
    EXPECT_TRUE(comes([&] {
      int now = 0;
      const Owned<GstCaps> current(gst_pad_get_current_caps(pad));
      if (current) gst_structure_get_int(gst_caps_get_structure(current.get(), 0), "width", &now);
      return now == width;
    })) << width;
  }
  gst_object_unref(pad);
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "VmRSS:") {
      long kib = 0;
      status >> kib;
      return kib;
    }
  return 0;
}

TEST(GstPipeline, AThousandFramesTakeNoMoreMemory) {
  ZR_NEEDS("videotestsrc");
  struct Memory {
    int frames = 0;
    long after_warm_up = 0, at_end = 0;
  } memory;
  const Pipeline pipeline(
      "videotestsrc pattern=snow num-buffers=1200 ! "
      "video/x-raw,format=I420,width=320,height=240,framerate=25/1 ! "
      "zerorunenc device=cpu ! zerorundec device=cpu ! fakesink name=sink sync=false");
  const Owned<GstElement> sink = pipeline.element("sink");
  GstPad* pad = gst_element_get_static_pad(sink.get(), "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad*, GstPadProbeInfo*, gpointer data) {
        auto* to = static_cast<Memory*>(data);
        ++to->frames;
        if (to->frames == 200) to->after_warm_up = resident_kib();
        if (to->frames == 1200) to->at_end = resident_kib();
        return GST_PAD_PROBE_OK;
      },
      &memory, nullptr);
  gst_object_unref(pad);
  ASSERT_EQ(pipeline.run_to_end(), "");
  EXPECT_EQ(memory.frames, 1200);
  RecordProperty("growth_kib", static_cast<int>(memory.at_end - memory.after_warm_up));
  if (kSanitized) return;  // its allocator keeps freed memory for a while
  // One leaked input frame in ten would be 11 MiB.
  EXPECT_LT(memory.at_end - memory.after_warm_up, 2048);
}

std::string output_of(const std::string& command, int& status) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> part{};
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), n);
  status = pclose(pipe);
  return text;
}

TEST(GstPrograms, InspectDescribesTheElements) {
  int status = 0;
  if (output_of("gst-inspect-1.0 --version", status); status != 0)
    GTEST_SKIP() << "gstreamer1.0-tools is missing";
  if (kSanitized) GTEST_SKIP() << "gst-inspect-1.0 cannot load a sanitized plugin";
  const std::string encoder = output_of("gst-inspect-1.0 zerorunenc", status);
  EXPECT_EQ(status, 0);
  for (const char* word :
       {"GstVideoEncoder", "quality", "restart-interval", "huffman", "subsampling", "device",
        "depth", "statistics", "NV12", "image/jpeg", "PLAYING state", "MIT/X11"})
    EXPECT_NE(encoder.find(word), std::string::npos) << word;
  const std::string decoder = output_of("gst-inspect-1.0 zerorundec", status);
  EXPECT_EQ(status, 0);
  for (const char* word : {"GstVideoDecoder", "max-errors", "discard-corrupted-frames", "device"})
    EXPECT_NE(decoder.find(word), std::string::npos) << word;
}

TEST(GstPrograms, LaunchRunsALivePipeline) {
  int status = 0;
  if (output_of("gst-launch-1.0 --version", status); status != 0 || kSanitized)
    GTEST_SKIP() << "no gst-launch-1.0 that can load the plugin";
  const std::string text = output_of(
      "timeout 60 gst-launch-1.0 videotestsrc is-live=true num-buffers=10 ! zerorunenc quality=75 "
      "device=cpu ! zerorundec device=cpu ! videoconvert ! fakesink",
      status);
  EXPECT_EQ(status, 0) << text;
  EXPECT_EQ(text.find("WARNING"), std::string::npos) << text;
  EXPECT_EQ(text.find("CRITICAL"), std::string::npos) << text;
}

}  // namespace
}  // namespace zerorun::test
