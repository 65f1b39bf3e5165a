// The decoder of a device: every scan by the fused decoder, and by the staged one what that cannot
// take. Used for host frames (DecodePipeline) and for device frames (DeviceDecoder).
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "cuda/decode/scan_decoder.hpp"
#include "cuda/decode/scan_upload.hpp"
#include "cuda/stages/careful_decoder.hpp"

namespace zerorun {

/// The staged pipeline has the image's planes; it also decodes damaged scans once more, since it
/// knows how to conceal and to report them. decode_scan() ends when the device has done the work.
class CudaDecodePipeline final : public DecodePipeline {
 public:
  explicit CudaDecodePipeline(int device) : device_(device), staged_(device) {}
  Status create();

  /// As StagedDecodePipeline::work_on().
  void work_on(const cudaStream_t* stream, const std::uint8_t* host_jpeg,
               const std::uint8_t* device_jpeg);
  /// The steps of each scan, those of the staged decoder where that has to do it.
  void observe(StepProbe probe) {
    staged_.observe(probe);
    probe_ = std::move(probe);
  }

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) override;
  Status begin_coefficients(std::vector<ComponentCoefficients>& out) override;
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) override;
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) override;
  Status finish_planes(std::vector<ComponentPlane>& out) override;
  Status finish_coefficients() override;

  /// As StagedDecodePipeline::finish_device_frame().
  Status finish_device_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out);

 private:
  /// With the index of the scan, if there is one; again without it where it was wrong.
  Status decode_fast(const ScanHeader& scan, std::span<const std::uint8_t> data);

  const int device_;
  ScanDecoder fused_;
  ScanUpload upload_;
  StagedDecodePipeline staged_;  ///< the first to be destroyed: it waits for the stream
  StepProbe probe_;
  const std::uint8_t *host_jpeg_ = nullptr, *device_jpeg_ = nullptr;
  bool coefficients_ = false;
};

}  // namespace zerorun
