// Which scans the fused decoder takes, and what is done about the others.
// SPDX-License-Identifier: MIT
#include "cuda/decode/cuda_decode_pipeline.hpp"

#include "codec/base/try.hpp"
#include "codec/pipeline/cuda_backend.hpp"

namespace zerorun {
namespace {

/// What to send of the data behind a scan's header. Mostly they are the scan and EOI, which is not
/// worth a walk through them; where there may be much more, the walk is the cheaper way.
std::size_t bytes_to_send(const ScanHeader& scan, std::size_t components,
                          std::span<const std::uint8_t> data) {
  const auto samples = static_cast<std::size_t>(scan.layout.blocks()) * kBlockSize;
  constexpr std::size_t kSmall = std::size_t{1} << 16;
  const bool last_scan = scan.components.size() == components;
  return last_scan && data.size() <= samples + kSmall ? data.size() : scan_extent(data);
}

}  // namespace

Status CudaDecodePipeline::create() {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(staged_.create());
  return fused_.create();
}

void CudaDecodePipeline::work_on(const cudaStream_t* stream, const std::uint8_t* host_jpeg,
                                 const std::uint8_t* device_jpeg) {
  staged_.work_on(stream, host_jpeg, device_jpeg);
  host_jpeg_ = host_jpeg;
  device_jpeg_ = device_jpeg;
}

Status CudaDecodePipeline::begin_planes(const FrameHeader& frame, const FrameView* direct,
                                        bool luma_only) {
  coefficients_ = false;
  return staged_.begin_planes(frame, direct, luma_only);
}

Status CudaDecodePipeline::begin_coefficients(std::vector<ComponentCoefficients>& out) {
  coefficients_ = true;
  return staged_.begin_coefficients(out);
}

Status CudaDecodePipeline::decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                       ScanOutcome& outcome) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  if (!coefficients_) {
    const auto sent =
        data.first(bytes_to_send(scan, static_cast<std::size_t>(staged_.components()), data));
    if (ScanDecoder::takes(scan, sent.size())) {
      Status status = decode_fast(scan, sent);
      // After an error too: pinned memory is in use until the stream is idle.
      Status idle = staged_.wait();
      if (!status) return status;
      ZR_TRY(idle);
      fused_.ended();
      if (fused_.succeeded()) {
        outcome.consumed_bytes = fused_.consumed_bytes();
        outcome.intervals = scan.layout.intervals();
        return Status::ok();
      }
    }
  }
  outcome.staged = true;
  return staged_.decode_scan(scan, data, outcome);
}

Status CudaDecodePipeline::decode_fast(const ScanHeader& scan, std::span<const std::uint8_t> data) {
  // The index stands before the scan in the same stream.
  const std::size_t before = scan.index ? scan.data_offset - scan.index->offset : 0;
  const std::span sent(data.data() - before, before + data.size());
  const std::uint8_t* on_device = nullptr;
  if (device_jpeg_ != nullptr) {
    on_device = device_jpeg_ + (sent.data() - host_jpeg_);
  } else {
    ZR_TRY(announce(probe_, "upload"));
    ZR_TRY(upload_.enqueue(sent, staged_.stream(), on_device));
  }
  PlaneView planes[kMaxComponents];
  staged_.open_planes(scan, planes);
  ScanDecoder::Input input{on_device + before, data.size(), nullptr};
  if (scan.index) {
    input.index = on_device;
    ZR_TRY(fused_.enqueue(scan, input, planes, staged_.stream(), probe_));
    ZR_TRY(staged_.wait());
    fused_.ended();
    if (!fused_.index_was_wrong()) return Status::ok();
    input.index = nullptr;
  }
  return fused_.enqueue(scan, input, planes, staged_.stream(), probe_);
}

Status CudaDecodePipeline::finish_frame(ColorModel model, ChromaUpsampling upsampling,
                                        const FrameView& out) {
  return staged_.finish_frame(model, upsampling, out);
}
Status CudaDecodePipeline::finish_planes(std::vector<ComponentPlane>& out) {
  return staged_.finish_planes(out);
}
Status CudaDecodePipeline::finish_coefficients() { return staged_.finish_coefficients(); }
Status CudaDecodePipeline::finish_device_frame(ColorModel model, ChromaUpsampling upsampling,
                                               const FrameView& out) {
  return staged_.finish_device_frame(model, upsampling, out);
}

Result<std::unique_ptr<DecodePipeline>> make_cuda_decode_pipeline(int device) {
  auto pipeline = std::make_unique<CudaDecodePipeline>(device);
  ZR_TRY(pipeline->create());
  return std::unique_ptr<DecodePipeline>(std::move(pipeline));
}

}  // namespace zerorun
