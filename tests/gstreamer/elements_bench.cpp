// The time of a frame in the GStreamer elements, with that of one call of a coder beside it:
// microseconds, medians. usage: elements_bench FOLDER_OF_THE_PLUGIN PHOTO.jpg [FRAMES] [DEVICE]
// SPDX-License-Identifier: MIT
#include <gst/check/gstharness.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/timing.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun {
namespace {

using test::check, test::median_of;
using Buffer = std::unique_ptr<GstBuffer, decltype(&gst_buffer_unref)>;

Buffer buffer_of(const void* data, std::size_t bytes) {
  return {gst_buffer_new_memdup(data, bytes), gst_buffer_unref};
}

/// A buffer goes in as soon as fewer than these have not come out.
constexpr int kInFlight = 8;

/// Microseconds of a frame, when `count` go in. Each has to come out as `bytes` bytes.
double element_us(const std::string& launch, const std::string& caps, const Buffer& in, int count,
                  std::size_t bytes) {
  const std::unique_ptr<GstHarness, decltype(&gst_harness_teardown)> harness(
      gst_harness_new_parse(launch.c_str()), gst_harness_teardown);
  gst_harness_set_src_caps_str(harness.get(), caps.c_str());
  return median_of([&] {
    const auto begin = std::chrono::steady_clock::now();
    for (int pushed = 0, pulled = 0; pulled < count;) {
      for (; pushed < count && pushed - pulled < kInFlight; ++pushed)
        gst_harness_push(harness.get(), gst_buffer_copy(in.get()));
      const Buffer out(gst_harness_pull(harness.get()), gst_buffer_unref);
      if (!out || gst_buffer_get_size(out.get()) != bytes) check(Status(Errc::device_failure));
      ++pulled;
    }
    return test::Us(std::chrono::steady_clock::now() - begin).count() / count;
  });
}

/// `call` makes one call of the coder in the element.
template <typename Call>
void row(const char* element, double element_us, const Call& call) {
  std::printf("| `%s` | %.1f | %.1f | %.1f |\n", element, element_us, test::time_of(call),
              test::kernels_of(call));
}

void run(const std::string& photo, int count, const std::string& device) {
  EncodeParams encode;
  DecodeParams decode;
  encode.backend = decode.backend = device == "cpu" ? Backend::cpu : Backend::cuda;
  auto encoder = Encoder::create(encode);
  check(encoder.status());
  auto decoder = Decoder::create(decode);
  check(decoder.status());
  Frame frame(preferred_memory(encode.backend)), decoded(preferred_memory(encode.backend));
  const auto bytes_of = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  check(decoder->decode(bytes_of(photo), PixelFormat::rgb24, frame).status());
  std::vector<std::byte> jpeg;
  const auto encode_one = [&] {
    check(encoder->encode(std::as_const(frame).view(), jpeg).status());
  };
  encode_one();
  const FrameView view = frame.view();
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(view.width);
  std::string pixels;
  for (int y = 0; y < view.height; ++y) {
    pixels.append(reinterpret_cast<const char*>(view.data[0] + y * view.stride_bytes[0]),
                  row_bytes);
    pixels.resize((pixels.size() + 3) / 4 * 4);  // GStreamer's rows of RGB
  }
  const std::string size =
      ", width=" + std::to_string(view.width) + ", height=" + std::to_string(view.height);
  const std::string properties = " device=" + device;
  std::printf(
      "\n| %dx%d, %s: us a frame | element | one call | kernels |\n| --- | ---: | ---: | ---: |\n",
      view.width, view.height, device.c_str());
  row("zerorunenc",
      element_us("zerorunenc quality=90" + properties,
                 "video/x-raw, format=RGB, framerate=25/1, colorimetry=1:4:0:0" + size,
                 buffer_of(pixels.data(), pixels.size()), count, jpeg.size()),
      encode_one);
  row("zerorundec ! RGB",
      element_us("( zerorundec" + properties + " ! capsfilter caps=video/x-raw,format=RGB )",
                 "image/jpeg, framerate=25/1" + size, buffer_of(jpeg.data(), jpeg.size()), count,
                 pixels.size()),
      [&] { check(decoder->decode(jpeg, PixelFormat::rgb24, decoded).status()); });
}

}  // namespace
}  // namespace zerorun

int main(int argc, char** argv) {
  if (argc < 3)
    return std::fputs("usage: elements_bench FOLDER_OF_THE_PLUGIN PHOTO.jpg [FRAMES] [DEVICE]\n",
                      stderr),
           2;
  setenv("GST_PLUGIN_PATH", argv[1], 1);
  gst_init(nullptr, nullptr);
  std::ifstream file(argv[2], std::ios::binary);
  zerorun::run({std::istreambuf_iterator<char>(file), {}}, argc > 3 ? std::atoi(argv[3]) : 32,
               argc > 4 ? argv[4] : "cuda:0");
}
