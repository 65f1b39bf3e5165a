// The elements on several GPUs: the CPU pretends to be three of them, and one fails.
// SPDX-License-Identifier: MIT
#include <functional>
#include <string>
#include <vector>

#include "codec/base/cuda_device.hpp"
#include "tests/gstreamer/support.hpp"
#include "tests/support/libjpeg_encode.hpp"

namespace zerorun::test {
namespace {

constexpr int kFrames = 60;

class GstSeveralDevices : public testing::Test {
 protected:
  void SetUp() override { set_test_devices({.count = 3}); }
  void TearDown() override { set_test_devices({}); }

  /// The only warning of a run. Frames go to the device that is free, so on a busy machine the
  /// failing one may get too few of them to fail: then there is another run.
  static std::string run_until_told(const std::string& launch,
                                    const std::function<void(GstHarness*)>& code) {
    constexpr int kMostRuns = 100;
    for (int run = 0; run < kMostRuns && !HasFailure(); ++run) {
      const ToldHarness harness(launch);
      code(harness.get());
      const auto told = harness.told(GST_MESSAGE_WARNING);
      EXPECT_LE(told.size(), 1U);
      if (!told.empty()) return told[0];
    }
    return "";
  }
};

/// Streams of two sizes: images in flight are delivered before the size changes.
Bytes jpeg_of(int number) {
  return libjpeg_sample(number < kFrames / 2 ? 48 : 80, 32 + number % 3, Subsampling::s420);
}

void decode_all(GstHarness* harness) {
  gst_harness_set_src_caps_str(harness, "image/jpeg, parsed=true, framerate=25/1");
  int got = 0;
  const auto pull = [&] {
    while (const Owned<GstBuffer> out{gst_harness_try_pull(harness)}) {
      const Bytes jpeg = jpeg_of(got++);
      EXPECT_EQ(gst_buffer_get_size(out.get()) > 0, true);
      const auto wanted = decode(jpeg, PixelFormat::yuv420p);
      const int width = got <= kFrames / 2 ? 48 : 80;
      const std::string text = raw_caps("I420", width, 32 + (got - 1) % 3);
      const Owned<GstCaps> caps(gst_caps_from_string(text.c_str()));
      EXPECT_EQ(samples_of(out.get(), caps.get()), wanted) << "image " << got - 1;
    }
  };
  for (int number = 0; number < kFrames; ++number) {
    EXPECT_EQ(gst_harness_push(harness, to_buffer(jpeg_of(number)).release()), GST_FLOW_OK);
    pull();
  }
  gst_harness_push_event(harness, gst_event_new_eos());
  pull();
  EXPECT_EQ(got, kFrames);
}

TEST_F(GstSeveralDevices, DecodeInOrder) {
  const ToldHarness harness("zerorundec device=cuda:0,1,2");
  decode_all(harness.get());
  EXPECT_TRUE(harness.told(GST_MESSAGE_WARNING).empty());
}

TEST_F(GstSeveralDevices, DecodeAgainWhatAFailedOneHad) {
  set_test_devices({.count = 3, .failing = 1, .frames = 2});
  EXPECT_NE(run_until_told("zerorundec device=cuda:all", decode_all).find("cuda:1 failed"),
            std::string::npos);
}

TEST_F(GstSeveralDevices, FlushDropsWhatIsInFlight) {
  const auto harness =
      make_harness("zerorundec device=cuda:all", "image/jpeg, parsed=true, framerate=25/1");
  for (int number = 0; number < 5; ++number)
    EXPECT_EQ(gst_harness_push(harness.get(), to_buffer(jpeg_of(0)).release()), GST_FLOW_OK);
  flush(harness.get());
}

TEST_F(GstSeveralDevices, EncodeInOrderAndNameTheOneThatFails) {
  set_test_devices({.count = 3, .failing = 2, .frames = 2});
  const std::string caps = raw_caps("I420", 64, 48, "1:4:0:0");
  std::vector<TestFrame> frames;
  for (std::uint64_t seed = 0; seed < kFrames; ++seed)
    frames.push_back(make_frame(Content::photo, PixelFormat::yuv420p, 64, 48, seed));
  const auto encode_all = [&](GstHarness* harness) {
    gst_harness_set_src_caps_str(harness, caps.c_str());
    for (const TestFrame& frame : frames)
      EXPECT_EQ(gst_harness_push(harness, to_buffer(frame, caps).release()), GST_FLOW_OK);
    gst_harness_push_event(harness, gst_event_new_eos());
    for (const TestFrame& frame : frames) {
      const Owned<GstBuffer> out(gst_harness_try_pull(harness));
      ASSERT_TRUE(out);
      EXPECT_EQ(bytes_of(out.get()), encoded_on_cpu(frame.view()));
    }
  };
  EXPECT_NE(run_until_told("zerorunenc device=cuda:0,2 depth=6", encode_all).find("cuda:2 failed"),
            std::string::npos);
}

}  // namespace
}  // namespace zerorun::test
