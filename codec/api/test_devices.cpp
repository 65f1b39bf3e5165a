// For tests: the CPU pretends to be several CUDA devices, and devices fail.
// SPDX-License-Identifier: MIT
#include "codec/api/test_devices.hpp"

#include <string>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun {
namespace {

class FailingEncodePipeline final : public EncodePipeline {
 public:
  FailingEncodePipeline(std::unique_ptr<EncodePipeline> inner, int device)
      : inner_(std::move(inner)), device_(device) {}
  Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                     std::array<HuffmanSpec, 4>& specs) override {
    Status status = next_frame_of_failing(device_);
    return status ? inner_->encode_scan(setup, frame, specs) : status;
  }
  Status encode_again(const EncodeSetup& setup, const ConstFrameView& frame,
                      std::array<HuffmanSpec, 4>& specs) override {
    Status status = next_frame_of_failing(device_);
    return status ? inner_->encode_again(setup, frame, specs) : status;
  }
  Status encode_surface(const EncodeSetup& setup, const DeviceSurface& surface,
                        std::array<HuffmanSpec, 4>& specs) override {
    Status status = next_frame_of_failing(device_);
    return status ? inner_->encode_surface(setup, surface, specs) : status;
  }
  bool reaches_sizes() const override { return inner_->reaches_sizes(); }
  Result<SizedCoding> encode_to_size(const EncodeParams& params, const EncodeSetup& setup,
                                     const ConstFrameView& frame) override {
    ZR_TRY(next_frame_of_failing(device_));
    return inner_->encode_to_size(params, setup, frame);
  }
  Result<SizedCoding> encode_to_size(const EncodeParams& params, const EncodeSetup& setup,
                                     const DeviceSurface& surface) override {
    ZR_TRY(next_frame_of_failing(device_));
    return inner_->encode_to_size(params, setup, surface);
  }
  Status count_symbols(const EncodeSetup& setup, const ConstFrameView& frame, bool is_again,
                       SymbolCounts& counts) override {
    Status status = next_frame_of_failing(device_);
    return status ? inner_->count_symbols(setup, frame, is_again, counts) : status;
  }
  std::uint64_t scan_bytes() const override { return inner_->scan_bytes(); }
  double device_microseconds() const override { return inner_->device_microseconds(); }
  Status copy_scan(std::byte* out) const override { return inner_->copy_scan(out); }

 private:
  const std::unique_ptr<EncodePipeline> inner_;
  const int device_;
};

/// Fails where the frame is finished: the device has done most of its work by then.
class FailingDecodePipeline final : public DecodePipeline {
 public:
  FailingDecodePipeline(std::unique_ptr<DecodePipeline> inner, int device)
      : inner_(std::move(inner)), device_(device) {}
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
  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes) override {
    return inner_->decode_progressive(frame, scans, outcomes);
  }
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                      const FrameView& out) override {
    Status status = next_frame_of_failing(device_);
    return status ? inner_->finish_frame(model, upsampling, out) : status;
  }
  Status finish_planes(std::vector<ComponentPlane>& out) override {
    return inner_->finish_planes(out);
  }
  Status finish_coefficients() override { return inner_->finish_coefficients(); }

 private:
  const std::unique_ptr<DecodePipeline> inner_;
  const int device_;
};

template <typename Wrapper, typename Pipeline>
std::unique_ptr<Pipeline> wrapped(std::unique_ptr<Pipeline> pipeline, int device) {
  if (!is_failing_device(device)) return pipeline;
  return std::make_unique<Wrapper>(std::move(pipeline), device);
}

}  // namespace

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
