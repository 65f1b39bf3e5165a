// zerorunenc in a stream: order, times, new caps, end, flush, statistics.
// SPDX-License-Identifier: MIT
#include "tests/gstreamer/support.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

constexpr const char* kEncoder = "zerorunenc device=cpu depth=8";

void push_frame(GstHarness* harness, const TestFrame& frame, const std::string& caps,
                GstClockTime pts) {
  Owned<GstBuffer> buffer = to_buffer(frame, caps);
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = 40 * GST_MSECOND;
  ASSERT_EQ(gst_harness_push(harness, buffer.release()), GST_FLOW_OK);
}

TEST(GstFlow, FramesComeInOrderWithTheirTimesAsSyncPoints) {
  const std::string caps = raw_caps("I420", 80, 60);
  const Owned<GstHarness> harness = make_harness(kEncoder, caps);
  constexpr int kFrames = 40;
  for (int n = 0; n < kFrames; ++n) {
    // Large and small frames alternate, so that lanes finish out of order.
    const Content content = n % 2 == 0 ? Content::extreme : Content::flat;
    push_frame(harness.get(),
               make_frame(content, PixelFormat::yuv420p, 80, 60, static_cast<std::uint64_t>(n)),
               caps, static_cast<GstClockTime>(n) * 40 * GST_MSECOND);
  }
  for (int n = 0; n < kFrames; ++n) {
    const Owned<GstBuffer> out(gst_harness_pull(harness.get()));
    ASSERT_TRUE(out);
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), static_cast<GstClockTime>(n) * 40 * GST_MSECOND);
    EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 40 * GST_MSECOND);
    EXPECT_FALSE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DELTA_UNIT));
    const Content content = n % 2 == 0 ? Content::extreme : Content::flat;
    const TestFrame frame =
        make_frame(content, PixelFormat::yuv420p, 80, 60, static_cast<std::uint64_t>(n));
    EXPECT_EQ(bytes_of(out.get()), encoded_on_cpu(frame.view()));
  }
}

TEST(GstFlow, NewCapsComeBetweenTheFramesThatTheyBelongTo) {
  const Owned<GstHarness> harness = make_harness(kEncoder);
  struct Shape {
    const char* name;
    PixelFormat format;
    int width, height;
  };
  const Shape shapes[] = {{"I420", PixelFormat::yuv420p, 64, 48},
                          {"RGB", PixelFormat::rgb24, 33, 21},
                          {"GRAY8", PixelFormat::gray8, 1, 1},
                          {"Y444", PixelFormat::yuv444p, 640, 360},
                          {"I420", PixelFormat::yuv420p, 64, 48}};
  constexpr int kEach = 5;
  for (const Shape& shape : shapes) {
    const std::string caps = raw_caps(shape.name, shape.width, shape.height, "");
    gst_harness_set_src_caps_str(harness.get(), caps.c_str());
    const TestFrame frame = make_frame(Content::photo, shape.format, shape.width, shape.height, 2);
    for (int n = 0; n < kEach; ++n) push_frame(harness.get(), frame, caps, GST_CLOCK_TIME_NONE);
  }
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  for (const Shape& shape : shapes)
    for (int n = 0; n < kEach; ++n) {
      const Owned<GstBuffer> out(gst_harness_pull(harness.get()));
      ASSERT_TRUE(out);
      const auto info = inspect(bytes_of(out.get()));
      ASSERT_TRUE(info.is_ok());
      EXPECT_EQ(std::pair(info->width, info->height), std::pair(shape.width, shape.height));
    }
  std::vector<int> widths;
  bool ended = false;
  while (const Owned<GstEvent> event{gst_harness_try_pull_event(harness.get())}) {
    EXPECT_FALSE(ended);
    ended = GST_EVENT_TYPE(event.get()) == GST_EVENT_EOS;
    if (GST_EVENT_TYPE(event.get()) != GST_EVENT_CAPS) continue;
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event.get(), &caps);
    int width = 0;
    gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
    widths.push_back(width);
  }
  EXPECT_EQ(widths, (std::vector<int>{64, 33, 1, 640, 64}));
  EXPECT_TRUE(ended);
}

TEST(GstFlow, TheEndWaitsForEveryFrame) {
  const std::string caps = raw_caps("I420", 320, 240);
  const Owned<GstHarness> harness = make_harness("zerorunenc device=cpu depth=64", caps);
  const TestFrame frame = make_frame(Content::extreme, PixelFormat::yuv420p, 320, 240, 3);
  for (int n = 0; n < 30; ++n) push_frame(harness.get(), frame, caps, GST_CLOCK_TIME_NONE);
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  EXPECT_EQ(gst_harness_buffers_received(harness.get()), 30U);
  const Owned<GstElement> encoder(gst_harness_find_element(harness.get(), "zerorunenc"));
  EXPECT_EQ(statistic(encoder.get(), "frames"), 30U);
  EXPECT_EQ(statistic(encoder.get(), "bytes"), 30 * statistic(encoder.get(), "last-frame-bytes"));
  EXPECT_EQ(statistic(encoder.get(), "errors"), 0U);
  EXPECT_GT(statistic(encoder.get(), "mean-latency"), 0U);
  EXPECT_GE(statistic(encoder.get(), "max-latency"), statistic(encoder.get(), "mean-latency"));
}

TEST(GstFlow, AFlushDropsWhatIsInFlightAndTheStreamGoesOn) {
  const std::string caps = raw_caps("I420", 320, 240);
  const Owned<GstHarness> harness = make_harness(kEncoder, caps);
  const TestFrame before = make_frame(Content::extreme, PixelFormat::yuv420p, 320, 240, 4);
  const TestFrame after = make_frame(Content::gradient, PixelFormat::yuv420p, 320, 240, 5);
  for (int round = 0; round < 10; ++round) {
    for (int n = 0; n < 6; ++n)
      push_frame(harness.get(), before, caps, static_cast<GstClockTime>(n) * GST_SECOND);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_start()));
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE)));
    while (const Owned<GstBuffer> old{gst_harness_try_pull(harness.get())})
      EXPECT_EQ(bytes_of(old.get()), encoded_on_cpu(before.view()));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
    push_frame(harness.get(), after, caps, 77 * GST_SECOND);
    const Owned<GstBuffer> out(gst_harness_pull(harness.get()));
    ASSERT_TRUE(out);
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), 77 * GST_SECOND);
    EXPECT_EQ(bytes_of(out.get()), encoded_on_cpu(after.view()));
  }
}

TEST(GstFlow, AStopInTheMiddleIsSafe) {
  for (int round = 0; round < 20; ++round) {
    const std::string caps = raw_caps("I420", 320, 240);
    const Owned<GstHarness> harness = make_harness("zerorunenc device=cpu depth=64", caps);
    const TestFrame frame = make_frame(Content::extreme, PixelFormat::yuv420p, 320, 240, 6);
    for (int n = 0; n < round; ++n) push_frame(harness.get(), frame, caps, GST_CLOCK_TIME_NONE);
  }
}

TEST(GstFlow, AForcedKeyUnitIsAnswered) {
  const std::string caps = raw_caps("I420", 16, 16);
  const Owned<GstHarness> harness = make_harness(kEncoder, caps);
  ASSERT_TRUE(gst_harness_push_event(
      harness.get(), gst_video_event_new_downstream_force_key_unit(0, 0, 0, FALSE, 1)));
  push_frame(harness.get(), TestFrame(PixelFormat::yuv420p, 16, 16), caps, 0);
  const Owned<GstBuffer> out(gst_harness_pull(harness.get()));
  ASSERT_TRUE(out);
  bool answered = false;
  while (const Owned<GstEvent> event{gst_harness_try_pull_event(harness.get())})
    answered |= gst_video_event_is_force_key_unit(event.get()) != FALSE;
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace zerorun::test
