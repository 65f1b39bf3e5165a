// A job of a DeviceEncoder, beside the stream that the CPU makes of its frame.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tests/cuda/device_frame.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {

/// Fills a job's output behind its capacity.
inline constexpr std::byte kUntouched{0xA5};

/// A frame, its stream by the CPU, and the memory for the stream by the device.
class Job {
 public:
  /// No stream is expected where the CPU reaches no size.
  Job(Encoder& cpu, const TestFrame& frame) : frame_(frame) {
    const Status status = cpu.encode(frame.view(), expected_).status();
    EXPECT_TRUE(status || status.code() == Errc::size_not_reached) << status.message();
    if (!status) expected_.clear();
    out_.emplace(std::vector<std::byte>(expected_.size() + 64, kUntouched));
  }

  DeviceEncodeJob job(bool fits = true) {
    fits_ = fits;
    size_ = std::make_unique<DeviceArray<std::size_t>>(1);
    return {frame_.view, out_->data(), expected_.size() - (fits ? 0 : 1), size_->data()};
  }

  const ConstFrameView& frame() const { return frame_.view; }
  const std::vector<std::byte>& expected() const { return expected_; }

  void expect_done() {
    EXPECT_EQ(size_->to_host()[0], expected_.size());
    auto found = out_->to_host();
    const std::vector<std::byte> behind(found.end() - 64, found.end());
    EXPECT_EQ(behind, std::vector<std::byte>(64, kUntouched));
    found.resize(expected_.size());
    if (fits_) {
      EXPECT_TRUE(found == expected_);
    } else {
      EXPECT_EQ(found.back(), kUntouched);
    }
  }

 private:
  DeviceFrame frame_;
  std::vector<std::byte> expected_;
  std::optional<DeviceArray<std::byte>> out_;
  std::unique_ptr<DeviceArray<std::size_t>> size_;
  bool fits_ = true;
};

}  // namespace zerorun::test
