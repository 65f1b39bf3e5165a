// zerorunenc before rtpjpegpay: RFC 2435 carries standard tables, 4:2:0 and 4:2:2.
// SPDX-License-Identifier: MIT
#include <iterator>
#include <utility>

#include "tests/gstreamer/support.hpp"

namespace zerorun::test {
namespace {

constexpr const char* kElements[] = {"videotestsrc", "rtpjpegpay", "rtpjpegdepay", "jpegdec"};

bool has_rtp() { return has_elements({std::begin(kElements), std::end(kElements)}); }

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
  if (!has_rtp()) GTEST_SKIP() << "gstreamer1.0-plugins-good is missing";
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
  if (!has_rtp()) GTEST_SKIP() << "gstreamer1.0-plugins-good is missing";
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
