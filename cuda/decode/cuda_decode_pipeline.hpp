// The decoder of a device: scans that the GPU proves sound are decoded there, and all others by the
// CPU pipeline. For host frames it is used as a DecodePipeline, for device frames by DeviceDecoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "cuda/base/span_clock.hpp"
#include "cuda/decode/cpu_scans.hpp"
#include "cuda/decode/device_image.hpp"
#include "cuda/decode/scan_decoder.hpp"

namespace zerorun {

/// decode_scan() returns when the device has done the work.
class CudaDecodePipeline : public DecodePipeline {
 public:
  /// `threads` copy a frame to pageable memory and decode the CPU's scans: 0 = as many as helps.
  explicit CudaDecodePipeline(int device, int threads = 0,
                              const DecodeChoices& choices = default_decode_choices())
      : device_(device), choices_(choices), clock_(device), cpu_(threads), image_(threads) {}
  Status create();

  /// For device frames, before each image: the caller's stream, and where the JPEG lies in device
  /// memory; null: scans are uploaded. `meanwhile`, which lives until the image is decoded and may
  /// be empty, is called once, when the device is busy and decode_scan() would wait.
  void use_device_frames(cudaStream_t stream, const std::uint8_t* device_jpeg,
                         const std::function<void()>* meanwhile = nullptr);
  /// `probe` is called before each step of a scan, and nothing goes to DeviceSpans any more.
  void observe(StepProbe probe) {
    probe_ = std::move(probe);
    is_observed_ = true;
  }

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override;
  void expect_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) override {
    image_.expect_frame(model, upsampling, out);
  }
  Status begin_coefficients(std::vector<ComponentCoefficients>& out) override;
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override;
  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes) override;
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) override;
  Status finish_planes(std::vector<ComponentPlane>& out) override;
  Status finish_coefficients() override;

  /// finish_frame() for a frame in device memory; enqueued only.
  Status finish_device_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out);
  /// True if the stream is known to be idle; false means unknown.
  bool is_idle() const { return is_idle_; }

 private:
  Status run_scan(const ScanHeader& scan, std::span<const std::uint8_t> data, ScanOutcome& outcome);
  bool stays(const ScanHeader& scan, const ScanDecoder::Input& in) const;
  /// Called when the kernels of a scan are on their way; `skip` as in ScanDecoder::Behind.
  Status go_on_behind_scan(const std::uint32_t* skip);
  Result<ScanResult> decode_on_device(const ScanHeader& scan, std::span<const std::uint8_t> data);
  Status upload_cpu_planes(ColorModel model, ChromaUpsampling upsampling);
  Status upload_cpu_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out);

  const int device_;
  const DecodeChoices choices_;
  SpanClock clock_;  ///< of host frames
  StepProbe probe_;
  bool is_observed_ = false;
  const std::uint8_t* device_jpeg_ = nullptr;         ///< of the image
  const std::function<void()>* meanwhile_ = nullptr;  ///< of the image; null once it was called
  bool is_idle_ = false;
  bool wants_coefficients_ = false;  ///< the image's output; false: samples
  bool is_whole_cpus_ = false;       ///< the image has four components
  PinnedBuffer<std::uint8_t> cpu_frame_;
  ScanDecoder scans_;
  CpuScans cpu_;
  ScanUpload upload_;
  DeviceImage image_;  ///< the first to be destroyed: it waits for its stream
};

}  // namespace zerorun
