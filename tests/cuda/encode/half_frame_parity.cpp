// A frame that fails half-way while it is enqueued does not change the next one.
// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "codec/pipeline/encode_setup.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "tests/cuda/device_frame.hpp"
#include "tests/support/gpu.hpp"

namespace zerorun::test {
namespace {

/// A FrameEncoder and memory for its output.
class Coder {
 public:
  explicit Coder(const EncodeSetup& setup) : setup_(setup), out_(1 << 20), size_(1) {}

  Status enqueue(const DeviceFrame& frame, const StepProbe& probe) {
    return encoder_.enqueue(setup_, frame.view, {out_.data(), 1 << 20, size_.data()}, nullptr,
                            probe);
  }

  /// Scan of the frame; empty after an error.
  std::vector<std::uint8_t> scan_of(const DeviceFrame& frame, const StepProbe& probe = {}) {
    const Status status = enqueue(frame, probe);
    EXPECT_TRUE(status) << status.message();
    if (!status) return {};
    auto bytes = out_.to_host();
    bytes.resize(size_.to_host()[0]);
    return bytes;
  }

 private:
  const EncodeSetup setup_;
  FrameEncoder encoder_;
  DeviceArray<std::uint8_t> out_;
  DeviceArray<std::uint64_t> size_;
};

class HalfFrameParity : public GpuTest {};

TEST_F(HalfFrameParity, NextFrameIsAsEver) {
  constexpr PixelFormat kFormat = PixelFormat::rgb24;
  constexpr int kWidth = 320, kHeight = 200;
  for (const HuffmanTables tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
    EncodeParams params;
    params.huffman = tables;
    const auto setup = make_encode_setup(params, kFormat, kWidth, kHeight);
    ASSERT_TRUE(setup) << setup.status().message();
    const DeviceFrame photo(make_frame(Content::photo, kFormat, kWidth, kHeight, 1));
    const DeviceFrame noise(make_frame(Content::noise, kFormat, kWidth, kHeight, 2));
    Coder coder(*setup);
    std::vector<std::string> steps;
    const auto expected = coder.scan_of(photo, [&](const char* step) {
      steps.emplace_back(step);
      return Status::ok();
    });
    ASSERT_FALSE(expected.empty());
    ASSERT_GE(steps.size(), 4u);
    for (const std::string& failing : steps) {
      SCOPED_TRACE("failure before \"" + failing + "\"");
      const Status status = coder.enqueue(noise, [&](const char* step) {
        return step == failing ? Status(Errc::device_failure) : Status::ok();
      });
      ASSERT_EQ(status.code(), Errc::device_failure);
      ASSERT_TRUE(coder.scan_of(photo) == expected);
      ASSERT_TRUE(coder.scan_of(photo) == expected);
    }
  }
}

}  // namespace
}  // namespace zerorun::test
