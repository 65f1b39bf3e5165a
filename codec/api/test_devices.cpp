// For tests: the CPU pretends to be several CUDA devices, and devices fail.
// SPDX-License-Identifier: MIT
#include "codec/api/test_devices.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun {
namespace {

constexpr int kMostDevices = 64;

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// The frames that the device codes before it fails; nothing if it does not.
std::optional<int> frames_before_failure(int device) {
  const std::string_view text = variable("ZERORUN_TEST_FAILING_DEVICE");
  const std::size_t at = text.find('@');
  if (at == text.npos || number_of(text.substr(0, at)) != device) return std::nullopt;
  return number_of(text.substr(at + 1));
}

/// Counts the frames of a device, over all its pipelines.
class Failure {
 public:
  Failure(int device, int frames) : device_(device), frames_(frames) {}
  Status next() const {
    static std::array<std::atomic<int>, kMostDevices> counts{};
    if (counts[static_cast<std::size_t>(device_ % kMostDevices)]++ < frames_) return Status::ok();
    return Status(Errc::device_failure, "device " + std::to_string(device_) + " fails for a test");
  }

 private:
  int device_, frames_;
};

class FailingEncodePipeline final : public EncodePipeline {
 public:
  FailingEncodePipeline(std::unique_ptr<EncodePipeline> inner, Failure failure)
      : inner_(std::move(inner)), failure_(failure) {}
  Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                     std::array<HuffmanSpec, 4>& specs) override {
    Status status = failure_.next();
    return status ? inner_->encode_scan(setup, frame, specs) : status;
  }
  Status encode_again(const EncodeSetup& setup, const ConstFrameView& frame,
                      std::array<HuffmanSpec, 4>& specs) override {
    Status status = failure_.next();
    return status ? inner_->encode_again(setup, frame, specs) : status;
  }
  Status encode_surface(const EncodeSetup& setup, const DeviceSurface& surface,
                        std::array<HuffmanSpec, 4>& specs) override {
    Status status = failure_.next();
    return status ? inner_->encode_surface(setup, surface, specs) : status;
  }
  bool reaches_sizes() const override { return inner_->reaches_sizes(); }
  Result<SizedCoding> encode_to_size(const EncodeParams& params, const EncodeSetup& setup,
                                     const ConstFrameView& frame) override {
    ZR_TRY(failure_.next());
    return inner_->encode_to_size(params, setup, frame);
  }
  Result<SizedCoding> encode_to_size(const EncodeParams& params, const EncodeSetup& setup,
                                     const DeviceSurface& surface) override {
    ZR_TRY(failure_.next());
    return inner_->encode_to_size(params, setup, surface);
  }
  Status count_symbols(const EncodeSetup& setup, const ConstFrameView& frame, bool is_again,
                       SymbolCounts& counts) override {
    Status status = failure_.next();
    return status ? inner_->count_symbols(setup, frame, is_again, counts) : status;
  }
  std::uint64_t scan_bytes() const override { return inner_->scan_bytes(); }
  double device_microseconds() const override { return inner_->device_microseconds(); }
  Status copy_scan(std::byte* out) const override { return inner_->copy_scan(out); }

 private:
  const std::unique_ptr<EncodePipeline> inner_;
  const Failure failure_;
};

/// Fails where the frame is finished: the device has done most of its work by then.
class FailingDecodePipeline final : public DecodePipeline {
 public:
  FailingDecodePipeline(std::unique_ptr<DecodePipeline> inner, Failure failure)
      : inner_(std::move(inner)), failure_(failure) {}
  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override {
    return inner_->begin_planes(frame, direct, luma_only);
  }
  void expect_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) override {
    inner_->expect_frame(model, upsampling, out);
  }
  Status begin_coefficients(std::vector<ComponentCoefficients>& out) override {
    return inner_->begin_coefficients(out);
  }
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override {
    return inner_->decode_scan(scan, data, outcome);
  }
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                      const FrameView& out) override {
    Status status = failure_.next();
    return status ? inner_->finish_frame(model, upsampling, out) : status;
  }
  Status finish_planes(std::vector<ComponentPlane>& out) override {
    return inner_->finish_planes(out);
  }
  Status finish_coefficients() override { return inner_->finish_coefficients(); }

 private:
  const std::unique_ptr<DecodePipeline> inner_;
  const Failure failure_;
};

template <typename Wrapper, typename Pipeline>
std::unique_ptr<Pipeline> wrapped(std::unique_ptr<Pipeline> pipeline, int device) {
  const auto frames = frames_before_failure(device);
  if (!frames) return pipeline;
  return std::make_unique<Wrapper>(std::move(pipeline), Failure(device, *frames));
}

}  // namespace

int test_device_count() {
  const auto count = number_of(variable("ZERORUN_TEST_DEVICES"));
  return count && *count <= kMostDevices ? *count : 0;
}

Result<DeviceInfo> test_device(int device) {
  if (device >= test_device_count())
    return Status(Errc::no_device, "there is no device " + std::to_string(device) + ", only 0 to " +
                                       std::to_string(test_device_count() - 1));
  DeviceInfo info;
  info.index = device;
  info.name = "the CPU, for a test";
  return info;
}

std::vector<DeviceInfo> test_devices() {
  std::vector<DeviceInfo> all;
  for (int device = 0; device < test_device_count(); ++device) all.push_back(*test_device(device));
  return all;
}

std::unique_ptr<EncodePipeline> with_failures(std::unique_ptr<EncodePipeline> pipeline,
                                              int device) {
  return wrapped<FailingEncodePipeline>(std::move(pipeline), device);
}

std::unique_ptr<DecodePipeline> with_failures(std::unique_ptr<DecodePipeline> pipeline,
                                              int device) {
  return wrapped<FailingDecodePipeline>(std::move(pipeline), device);
}

}  // namespace zerorun
