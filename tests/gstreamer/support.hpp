// Harnesses, buffers and pipelines for the tests of the elements.
// SPDX-License-Identifier: MIT
#pragma once

#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
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

/// zerorunenc or zerorundec on the CPU, or a launch line in parentheses.
Owned<GstHarness> make_harness(const std::string& launch);
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

guint64 statistic(GstElement* element, const char* field);

}  // namespace zerorun::test
