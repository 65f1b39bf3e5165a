// Jobs of a DeviceEncoder, beside the streams that the CPU makes of their frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "tests/cuda/device_memory.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
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

/// Jobs of one encoder.
class JobsTest : public GpuTest {
 protected:
  void open(EncodeParams params) {
    device_ = make_coder<DeviceEncoder>(params);
    params.backend = Backend::cpu;
    cpu_ = make_coder<Encoder>(params);
    ASSERT_TRUE(device_ && cpu_);
    jobs_.clear();
  }

  void add(const TestFrame& frame) { jobs_.push_back(std::make_unique<Job>(*cpu_, frame)); }
  void add(Content content, PixelFormat format, int width, int height) {
    add(make_frame(content, format, width, height, jobs_.size()));
  }

  Status encode(std::size_t first, std::size_t count) {
    std::vector<DeviceEncodeJob> jobs;
    for (std::size_t i = first; i < first + count; ++i) jobs.push_back(jobs_[i]->job());
    return device_->encode_batch(jobs, nullptr);
  }

  void expect_all() {
    const Status status = encode(0, jobs_.size());
    ASSERT_TRUE(status) << status.message();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      SCOPED_TRACE(i);
      ASSERT_NO_FATAL_FAILURE(jobs_[i]->expect_done());
    }
  }

  /// The memory that a batch leaves behind is right for a larger and for a smaller one.
  void expect_parts_of(const std::vector<std::size_t>& counts) {
    for (const std::size_t count : counts) {
      SCOPED_TRACE(count);
      const std::size_t first = jobs_.size() - count;
      ASSERT_TRUE(encode(first, count));
      for (std::size_t i = first; i < jobs_.size(); ++i) jobs_[i]->expect_done();
    }
  }

  /// The fourth output is too small.
  void expect_all_but_one() {
    std::vector<DeviceEncodeJob> jobs;
    for (std::size_t i = 0; i < jobs_.size(); ++i) jobs.push_back(jobs_[i]->job(i != 3));
    ASSERT_TRUE(device_->encode_batch(jobs, nullptr));
    for (const auto& job : jobs_) job->expect_done();
  }

  std::optional<DeviceEncoder> device_;
  std::optional<Encoder> cpu_;
  std::vector<std::unique_ptr<Job>> jobs_;
};

}  // namespace zerorun::test
