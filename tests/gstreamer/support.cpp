// Harnesses, buffers and pipelines for the tests of the elements.
// SPDX-License-Identifier: MIT
#include "tests/gstreamer/support.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#if defined(__SANITIZE_ADDRESS__)
/// GLib does not free its table of quarks when a larger one replaces it (see gquark.c), and the
/// stack of that allocation shows only g_malloc. The test that runs a thousand frames finds what
/// the elements leak.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:g_malloc\n";
}
/// The run-time library guesses where the thread-local memory of a plugin lies from the words in
/// front of it, and may look for pointers at an address like 0x450 then.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}
#endif

#ifdef ZERORUN_STATIC_PLUGIN
extern "C" void gst_plugin_zerorun_register();
#endif

namespace zerorun::test {
namespace {

/// A folder with links to the system's plugins that the tests use. Which others a machine has must
/// not matter: some leak when they are only looked at.
std::string link_plugins() {
  constexpr const char* kPlugins[] = {"app",
                                      "avi",
                                      "coreelements",
                                      "isomp4",
                                      "jpeg",
                                      "libav",
                                      "matroska",
                                      "multipart",
                                      "rtp",
                                      "rtpmanager",
                                      "typefindfunctions",
                                      "udp",
                                      "videoconvert",
                                      "videoconvertscale",
                                      "videorate",
                                      "videoscale",
                                      "videotestsrc"};
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(ZERORUN_PLUGIN_FOLDER) / "test-plugins";
  std::error_code ignored;  // tests that run side by side make the same links
  fs::create_directories(folder, ignored);
  for (const std::string plugin : kPlugins) {
    const fs::path file = "libgst" + plugin + ".so";
    if (fs::exists(ZERORUN_SYSTEM_PLUGINS / file))
      fs::create_symlink(ZERORUN_SYSTEM_PLUGINS / file, folder / file, ignored);
  }
  return folder;
}

class GStreamer : public ::testing::Environment {
 public:
  void SetUp() override {
    setenv("GST_PLUGIN_SYSTEM_PATH", link_plugins().c_str(), 1);
    // A registry for the tests only, without a scanner process, which could not load a sanitized
    // plugin.
    setenv("GST_REGISTRY", ZERORUN_PLUGIN_FOLDER "/test-registry.bin", 1);
    setenv("GST_PLUGIN_PATH", ZERORUN_PLUGIN_FOLDER, 1);
    gst_registry_fork_set_enabled(FALSE);
    gst_init(nullptr, nullptr);
#ifdef ZERORUN_STATIC_PLUGIN
    gst_plugin_zerorun_register();
#endif
    g_log_set_always_fatal(
        static_cast<GLogLevelFlags>(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK));
  }
};
const auto* const environment = ::testing::AddGlobalTestEnvironment(new GStreamer);

/// Rows of a plane in a mapped frame, by component for planar formats (YV12 stores Cr first).
std::uint8_t* row_of(const GstVideoFrame& frame, PixelFormat format, int plane, int y) {
  const bool planar = is_planar_yuv(format);
  auto* data = static_cast<std::uint8_t*>(planar ? GST_VIDEO_FRAME_COMP_DATA(&frame, plane)
                                                 : GST_VIDEO_FRAME_PLANE_DATA(&frame, plane));
  return data + std::ptrdiff_t{y} * (planar ? GST_VIDEO_FRAME_COMP_STRIDE(&frame, plane)
                                            : GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane));
}

PixelFormat format_of(const GstVideoInfo& info) {
  const std::string name = gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info));
  for (const FormatName& format : kFormatNames)
    if (name == format.gst) return format.zerorun;
  ADD_FAILURE() << name;
  return PixelFormat::gray8;
}

}  // namespace

Owned<GstHarness> make_harness(const std::string& launch, const std::string& caps) {
  Owned<GstHarness> harness(gst_harness_new_parse(launch.c_str()));
  if (!caps.empty()) gst_harness_set_src_caps_str(harness.get(), caps.c_str());
  return harness;
}

Owned<GstBuffer> pull_after(GstHarness* harness, Owned<GstBuffer> in) {
  return Owned<GstBuffer>(gst_harness_push_and_pull(harness, in.release()));
}

void flush(GstHarness* harness) {
  EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_flush_start()));
  EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_TRUE(gst_harness_push_event(harness, gst_event_new_segment(&segment)));
}

std::string text_of(GstMessage* message) {
  GError* error = nullptr;
  (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING
       ? gst_message_parse_warning
       : gst_message_parse_error)(message, &error, nullptr);
  std::string text = error->message;
  g_clear_error(&error);
  return text;
}

ToldHarness::ToldHarness(const std::string& launch, const std::string& caps)
    : harness_(make_harness(launch)), bus_(gst_bus_new()) {
  gst_element_set_bus(harness_->element, bus_.get());
  if (!caps.empty()) gst_harness_set_src_caps_str(harness_.get(), caps.c_str());
}

ToldHarness::~ToldHarness() { gst_element_set_bus(harness_->element, nullptr); }

std::vector<std::string> ToldHarness::told(GstMessageType kind) const {
  std::vector<std::string> texts;
  while (const Owned<GstMessage> message{gst_bus_pop_filtered(bus_.get(), kind)})
    texts.push_back(text_of(message.get()));
  return texts;
}

bool has_elements(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    GstElementFactory* factory = gst_element_factory_find(name.c_str());
    if (factory == nullptr) return false;
    gst_object_unref(factory);
  }
  return true;
}

std::string raw_caps(const std::string& format, int width, int height,
                     const std::string& colorimetry) {
  return "video/x-raw, format=" + format + ", width=" + std::to_string(width) +
         ", height=" + std::to_string(height) + ", framerate=25/1" +
         (colorimetry.empty() ? "" : ", colorimetry=" + colorimetry);
}

Owned<GstBuffer> to_buffer(const TestFrame& frame, const std::string& caps_text) {
  const Owned<GstCaps> caps(gst_caps_from_string(caps_text.c_str()));
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, caps.get())) << caps_text;
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  GstVideoFrame mapped;
  EXPECT_TRUE(gst_video_frame_map(&mapped, &info, buffer.get(), GST_MAP_WRITE));
  const PixelFormat format = format_of(info);
  for (int p = 0; p < plane_count(format); ++p)
    for (int y = 0; y < frame.rows(p); ++y)
      std::memcpy(row_of(mapped, format, p, y), frame.row(p, y), frame.row_bytes(p));
  gst_video_frame_unmap(&mapped);
  return buffer;
}

Owned<GstBuffer> to_buffer(const Bytes& bytes) {
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, bytes.size(), nullptr));
  gst_buffer_fill(buffer.get(), 0, bytes.data(), bytes.size());
  return buffer;
}

Bytes bytes_of(GstBuffer* buffer) {
  Bytes bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

std::vector<std::uint8_t> samples_of(GstBuffer* buffer, GstCaps* caps) {
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, caps));
  GstVideoFrame mapped;
  EXPECT_TRUE(gst_video_frame_map(&mapped, &info, buffer, GST_MAP_READ));
  const PixelFormat format = format_of(info);
  std::vector<std::uint8_t> samples;
  for (int p = 0; p < plane_count(format); ++p)
    for (int y = 0; y < plane_rows(format, p, info.height); ++y) {
      const std::uint8_t* row = row_of(mapped, format, p, y);
      samples.insert(samples.end(), row, row + plane_row_bytes(format, p, info.width));
    }
  gst_video_frame_unmap(&mapped);
  return samples;
}

std::vector<std::uint8_t> decode(const Bytes& jpeg, PixelFormat format) {
  DecodeParams params;
  params.backend = Backend::cpu;
  auto decoder = Decoder::create(params);
  Frame frame;
  const auto report = decoder->decode(jpeg, format, frame);
  EXPECT_TRUE(report.is_ok()) << report.status().message();
  return packed(frame);
}

Pipeline::Pipeline(const std::string& launch) {
  GError* error = nullptr;
  pipeline_.reset(gst_parse_launch(launch.c_str(), &error));
  EXPECT_EQ(error, nullptr) << error->message;
  g_clear_error(&error);
}

Pipeline::~Pipeline() {
  if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

Owned<GstElement> Pipeline::element(const char* name) const {
  return Owned<GstElement>(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
}

bool Pipeline::set_state(GstState state) const {
  if (gst_element_set_state(pipeline_.get(), state) == GST_STATE_CHANGE_FAILURE) return false;
  return gst_element_get_state(pipeline_.get(), nullptr, nullptr, 20 * GST_SECOND) !=
         GST_STATE_CHANGE_FAILURE;
}

std::string Pipeline::wait() const {
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  const Owned<GstMessage> message(
      gst_bus_timed_pop_filtered(bus.get(), 60 * GST_SECOND,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  if (!message) return "no end after a minute";
  if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS) return {};
  return text_of(message.get());
}

std::string Pipeline::run_to_end() const {
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  return wait();
}

ScratchFile::ScratchFile(const std::string& ending)
    : path_(std::filesystem::temp_directory_path() /
            ("zerorun-gst-" + std::to_string(g_random_int()) + ending)) {}

std::string ScratchFile::content() const {
  std::ifstream in(path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string decoded(const std::string& launch) {
  const ScratchFile file(".yuv");
  EXPECT_EQ(Pipeline(launch + " ! filesink location=" + file.name()).run_to_end(), "") << launch;
  return file.content();
}

guint64 statistic(GstElement* element, const char* field) {
  GstStructure* all = nullptr;
  g_object_get(element, "statistics", &all, nullptr);
  const Owned<GstStructure> owner(all);
  guint64 value = 0;
  EXPECT_TRUE(gst_structure_get_uint64(all, field, &value)) << field;
  return value;
}

}  // namespace zerorun::test
