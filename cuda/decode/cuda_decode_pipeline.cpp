// Which of the two decoders gets a scan.
// SPDX-License-Identifier: MIT
#include "cuda/decode/cuda_decode_pipeline.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "codec/pipeline/cuda_backend.hpp"
#include "codec/syntax/marker.hpp"
#include "cuda/decode/scan_in_flight.hpp"
#include "cuda/decode/test_ways.hpp"

namespace zerorun {
namespace {

/// How much of the data after a scan's header to send. Mostly that is the scan and EOI, and looking
/// for the scan's end would take longer than sending all. Where much more may follow, looking for
/// the end is cheaper. Noise at quality 100 has 1.6 bytes a sample. (When the end was looked for in
/// all data of more bytes than samples, by a search from FF to FF, a grey page of text at quality
/// 100 took 1.8 ms, of which the device worked 0.4.)
std::size_t bytes_to_send(const ScanHeader& scan, std::size_t components,
                          std::span<const std::uint8_t> data) {
  const auto samples = static_cast<std::size_t>(scan.layout.blocks()) * kBlockSize;
  constexpr std::size_t kSmall = std::size_t{1} << 16;
  const bool last_scan = scan.components.size() == components;
  const bool ends =
      data.size() >= 2 && data[data.size() - 2] == 0xFF && data.back() == marker::kEoi;
  const std::size_t most = (ends ? 2 : 1) * samples + kSmall;
  return last_scan && data.size() <= std::min(most, ScanDecoder::kMostBytes) ? data.size()
                                                                             : scan_extent(data);
}

}  // namespace

Status CudaDecodePipeline::create() {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(image_.create());
  ZR_TRY(careful_.create());
  probe_ = [this](const char* step) {
    return image_.has_device_frames() ? Status::ok() : clock_.mark(image_.stream(), step);
  };
  return fast_.create();
}

void CudaDecodePipeline::use_device_frames(cudaStream_t stream, const std::uint8_t* device_jpeg,
                                           const std::function<void()>* meanwhile) {
  image_.use_device_frames(stream);
  device_jpeg_ = device_jpeg;
  meanwhile_ = meanwhile;
  is_idle_ = false;
}

Status CudaDecodePipeline::begin_planes(const FrameHeader& frame, const FrameView* direct,
                                        bool luma_only) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  coefficients_ = nullptr;
  clock_.restart();
  return image_.begin(frame, direct, luma_only);
}

Status CudaDecodePipeline::begin_coefficients(std::vector<ComponentCoefficients>& out) {
  coefficients_ = &out;
  return Status::ok();
}

Status CudaDecodePipeline::decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                       ScanOutcome& outcome) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  Status status = run_scan(scan, data, outcome);
  if (status) status = clock_.collect(image_.stream());
  // Both decoders wait for their work, but an error may leave some behind that uses pinned memory.
  if (!status) (void)image_.wait();
  return status;
}

Status CudaDecodePipeline::run_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                    ScanOutcome& outcome) {
  is_idle_ = false;
  DeviceBytes on_device;
  SubsequenceStarts starts;
  std::size_t sent = 0;
  if (coefficients_ == nullptr && decoders_ == ScanDecoders::both) {
    const std::size_t bytes = bytes_to_send(scan, image_.components(), data);
    if (fast_.takes(scan, bytes)) {
      sent = bytes;
      const ScanInFlight in_flight(device_);
      on_device.is_alone = in_flight.is_alone();
      if (!stays(scan, data.first(sent), in_flight.is_alone(), on_device))
        ZR_TRY(upload(scan, data.first(sent), on_device));
      ZR_TRY(fast_.prepare(scan, image_.stream()));
      const auto result = decode_fast(scan, on_device, sent);
      if (!result) return result.status();
      if (result->succeeded) {
        outcome.consumed_bytes = result->consumed_bytes;
        outcome.intervals = scan.layout.intervals();
        is_idle_ = true;
        return Status::ok();
      }
      starts = result->starts;
    }
  }
  outcome.staged = true;
  if (on_device.data == nullptr) sent = scan_extent(data);
  if (on_device.data == nullptr || on_device.is_on_host)
    ZR_TRY(upload(scan, data.first(sent), on_device));
  return decode_carefully({scan, data, {on_device.data, sent}, image_.exec(), probe_, starts},
                          outcome);
}

Status CudaDecodePipeline::go_on_behind_scan(const std::uint32_t* skip) {
  ZR_TRY(image_.convert_early(skip, probe_));
  const std::function<void()>* const meanwhile = std::exchange(meanwhile_, nullptr);
  if (meanwhile != nullptr && *meanwhile) (*meanwhile)();
  return Status::ok();
}

/// Where several scans are decoded at a time, CTAs that wait for the bus would keep those of others
/// from running.
bool CudaDecodePipeline::stays(const ScanHeader& scan, std::span<const std::uint8_t> data,
                               bool is_alone, DeviceBytes& out) const {
  static const bool always = std::getenv(kTestFollowVariable) != nullptr;
  if (device_jpeg_ != nullptr || is_timed() || !fast_.can_follow_bus(scan, data.size()))
    return false;
  if (!always && (!is_alone || data.size() < kFewestFollowedBytes)) return false;
  out.data = address_of_pinned(data.data(), data.size());
  out.is_on_host = out.data != nullptr;
  return out.is_on_host;
}

/// Sends the data, unless the stream is in device memory.
Status CudaDecodePipeline::upload(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                  DeviceBytes& out) {
  out.is_on_host = false;
  if (device_jpeg_ != nullptr) {
    out.data = device_jpeg_ + scan.data_offset;
    return Status::ok();
  }
  ZR_TRY(announce(probe_, "upload"));
  return upload_.enqueue(data, image_.stream(), out.data);
}

Result<ScanResult> CudaDecodePipeline::decode_fast(const ScanHeader& scan,
                                                   const DeviceBytes& on_device,
                                                   std::size_t bytes) {
  const ScanPlanes planes = image_.open(scan);
  return fast_.decode(scan,
                      {on_device.data, bytes, on_device.is_on_host, on_device.is_alone, is_timed()},
                      planes.data(), image_.stream(), probe_,
                      [&](const std::uint32_t* skip) { return go_on_behind_scan(skip); });
}

Status CudaDecodePipeline::decode_carefully(const CarefulDecoder::Input& in, ScanOutcome& outcome) {
  return coefficients_ != nullptr
             ? careful_.decode_coefficients(in, *coefficients_, outcome)
             : careful_.decode_planes(in, image_.open(in.scan).data(), outcome);
}

Status CudaDecodePipeline::finish_frame(ColorModel model, ChromaUpsampling upsampling,
                                        const FrameView& out) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(image_.write_host_frame(model, upsampling, out, probe_));
  return clock_.collect(image_.stream());
}

Status CudaDecodePipeline::finish_planes(std::vector<ComponentPlane>& out) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  return image_.write_planes(out);
}

Status CudaDecodePipeline::finish_coefficients() {
  coefficients_ = nullptr;
  return Status::ok();
}

Status CudaDecodePipeline::finish_device_frame(ColorModel model, ChromaUpsampling upsampling,
                                               const FrameView& out) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  is_idle_ = is_idle_ && image_.is_complete();
  return image_.write_device_frame(model, upsampling, out);
}

Result<std::unique_ptr<DecodePipeline>> make_cuda_decode_pipeline(int device, int threads) {
  auto pipeline = std::make_unique<CudaDecodePipeline>(device, threads);
  ZR_TRY(pipeline->create());
  return std::unique_ptr<DecodePipeline>(std::move(pipeline));
}

}  // namespace zerorun
