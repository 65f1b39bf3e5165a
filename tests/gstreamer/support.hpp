// Harnesses, buffers and pipelines for the tests of the elements.
// SPDX-License-Identifier: MIT
#pragma once

#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/coder.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

struct Unref {
  void operator()(GstBuffer* p) const noexcept { gst_buffer_unref(p); }
  void operator()(GstCaps* p) const noexcept { gst_caps_unref(p); }
  void operator()(GstEvent* p) const noexcept { gst_event_unref(p); }
  void operator()(GstMessage* p) const noexcept { gst_message_unref(p); }
  void operator()(GstElement* p) const noexcept { gst_object_unref(p); }
  void operator()(GstBus* p) const noexcept { gst_object_unref(p); }
  void operator()(GstStructure* p) const noexcept { gst_structure_free(p); }
  void operator()(GstHarness* p) const noexcept { gst_harness_teardown(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Unref>;

using Bytes = std::vector<std::byte>;

/// zerorunenc or zerorundec, or a launch line in parentheses; with caps of its input unless they
/// are empty.
Owned<GstHarness> make_harness(const std::string& launch, const std::string& caps = "");
/// What comes out when a buffer goes in.
Owned<GstBuffer> pull_after(GstHarness* harness, Owned<GstBuffer> in);
/// Start, stop, and a new segment.
void flush(GstHarness* harness);
/// The sentence of an error or a warning.
std::string text_of(GstMessage* message);

/// A harness whose messages can be read.
class ToldHarness {
 public:
  explicit ToldHarness(const std::string& launch, const std::string& caps = "");
  ~ToldHarness();
  ToldHarness(const ToldHarness&) = delete;
  ToldHarness& operator=(const ToldHarness&) = delete;

  GstHarness* get() const { return harness_.get(); }
  /// The sentences of this kind that came since the last call.
  std::vector<std::string> told(GstMessageType kind) const;

 private:
  Owned<GstHarness> harness_;
  Owned<GstBus> bus_;
};

bool has_elements(const std::vector<std::string>& names);

/// Full range BT.601 unless `colorimetry` says otherwise; "" leaves it out.
std::string raw_caps(const std::string& format, int width, int height,
                     const std::string& colorimetry = "1:4:0:0");

/// The samples of a frame in the layout that GStreamer gives such caps.
Owned<GstBuffer> to_buffer(const TestFrame& frame, const std::string& caps);
Owned<GstBuffer> to_buffer(const Bytes& bytes);
Bytes bytes_of(GstBuffer* buffer);

/// The planes of a decoded buffer without padding.
std::vector<std::uint8_t> samples_of(GstBuffer* buffer, GstCaps* caps);

/// What the library gives on the CPU, without GStreamer.
std::vector<std::uint8_t> decode(const Bytes& jpeg, PixelFormat format);

struct FormatName {
  const char* gst;
  PixelFormat zerorun;
};
inline constexpr FormatName kFormatNames[] = {
    {"I420", PixelFormat::yuv420p}, {"YV12", PixelFormat::yuv420p}, {"NV12", PixelFormat::nv12},
    {"NV21", PixelFormat::nv21},    {"Y42B", PixelFormat::yuv422p}, {"Y444", PixelFormat::yuv444p},
    {"Y41B", PixelFormat::yuv411p}, {"YUY2", PixelFormat::yuyv},    {"UYVY", PixelFormat::uyvy},
    {"GRAY8", PixelFormat::gray8},  {"RGB", PixelFormat::rgb24},    {"BGR", PixelFormat::bgr24},
    {"RGBx", PixelFormat::rgbx32},  {"BGRx", PixelFormat::bgrx32},  {"xRGB", PixelFormat::xrgb32},
    {"xBGR", PixelFormat::xbgr32}};

/// A pipeline from a launch line; stopped and freed at the end.
class Pipeline {
 public:
  explicit Pipeline(const std::string& launch);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  GstElement* get() const noexcept { return pipeline_.get(); }
  Owned<GstElement> element(const char* name) const;
  bool set_state(GstState state) const;
  /// Plays to the end; returns the first error, or an empty text.
  std::string run_to_end() const;
  /// Waits for EOS or an error.
  std::string wait() const;

 private:
  Owned<GstElement> pipeline_;
};

/// A file name; the destructor removes the file.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& ending);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove(path_); }
  std::string name() const { return path_.string(); }
  std::string content() const;

 private:
  std::filesystem::path path_;
};

/// The decoded samples at the end of a launch line, which has to play to its end.
std::string decoded(const std::string& launch);

guint64 statistic(GstElement* element, const char* field);

}  // namespace zerorun::test
