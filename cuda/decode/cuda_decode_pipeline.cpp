// Which scans the GPU decodes, and which the CPU.
// SPDX-License-Identifier: MIT
#include "cuda/decode/cuda_decode_pipeline.hpp"

#include <algorithm>
#include <utility>

#include "codec/base/marker.hpp"
#include "codec/base/pixel_rows.hpp"
#include "codec/pipeline/decode_pipeline.hpp"

namespace zerorun {
namespace {

/// How much of the data after a scan's header to send. Mostly that is the scan and EOI, and looking
/// for the end would take longer than sending all. Noise at quality 100 has 1.6 bytes a sample;
/// where much more may follow, looking is cheaper.
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
  probe_ = [this](const char* step) {
    return image_.has_device_frames() ? Status::ok() : clock_.mark(image_.stream(), step);
  };
  return scans_.create(choices_.exhaustive_only);
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
  wants_coefficients_ = false;
  clock_.restart();
  is_whole_cpus_ = frame.components.size() > kMaxComponents;
  if (is_whole_cpus_) return cpu_.begin_whole(frame);
  cpu_.begin_planes(frame, luma_only);
  return image_.begin(frame, direct, luma_only);
}

Status CudaDecodePipeline::begin_coefficients(StoredFrame& out) {
  wants_coefficients_ = true;
  return cpu_.begin_coefficients(out);
}

Status CudaDecodePipeline::decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                       ScanOutcome& outcome) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  Status status = run_scan(scan, data, outcome);
  if (status) status = clock_.collect(image_.stream());
  // ScanDecoder waits for its work, but an error may leave some behind that uses pinned memory.
  if (!status) (void)image_.wait();
  return status;
}

Status CudaDecodePipeline::decode_progressive(const FrameHeader& frame,
                                              std::span<const FrameScan> scans,
                                              std::span<ScanOutcome> outcomes) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  is_idle_ = false;
  if (!wants_coefficients_ && !is_whole_cpus_)
    for (const FrameScan& scan : scans) (void)image_.open(scan.header);
  return cpu_.decode_progressive(frame, scans, outcomes);
}

Status CudaDecodePipeline::run_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                                    ScanOutcome& outcome) {
  is_idle_ = false;
  if (wants_coefficients_ || is_whole_cpus_) return cpu_.decode_scan(scan, data, outcome);
  const std::size_t bytes = bytes_to_send(scan, image_.components(), data);
  if (scans_.takes(scan, bytes)) {
    const auto result = decode_on_device(scan, data.first(bytes), {});
    if (!result) return result.status();
    if (result->succeeded) {
      cpu_.device_decoded(scan);
      outcome.consumed_bytes = result->consumed_bytes;
      outcome.intervals = scan.layout.intervals();
      is_idle_ = true;
      return Status::ok();
    }
  }
  (void)image_.open(scan);
  return cpu_.decode_scan(scan, data, outcome);
}

Result<ScanResult> CudaDecodePipeline::decode_on_device(const ScanHeader& scan,
                                                        std::span<const std::uint8_t> data,
                                                        const ScanDecoder::Behind& recode) {
  const ScanInFlight in_flight(device_);
  ScanDecoder::Input in{nullptr, data.size()};
  in.is_alone = in_flight.is_alone();
  const bool is_timed = is_observed_ || DeviceSpans::current() != nullptr;
  // Beside other scans, CTAs that wait for the bus would keep those of others from running.
  const bool is_worth_it = in.is_alone && in.bytes >= kFewestFollowedBytes;
  if (device_jpeg_ != nullptr) {
    in.data = device_jpeg_ + scan.data_offset;
  } else if (!is_timed && (is_worth_it || choices_.always_follows_bus) &&
             scans_.can_follow_bus(scan, in.bytes)) {
    in.data = address_of_pinned(data.data(), data.size());
    in.is_on_host = in.data != nullptr;
  }
  if (in.data == nullptr) {
    ZR_TRY(announce(probe_, "upload"));
    // Beside other scans, their threads are the help.
    ZR_TRY(upload_.enqueue(data, in.is_alone ? threads_ : 1, image_.stream(), in.data));
  }
  ZR_TRY(scans_.prepare(scan, image_.stream()));
  if (recode) return scans_.decode(scan, in, ScanPlanes{}.data(), image_.stream(), probe_, recode);
  const ScanPlanes planes = image_.open(scan);
  return scans_.decode(scan, in, planes.data(), image_.stream(), probe_,
                       [this](const ScanArgs& args) -> Status {
                         ZR_TRY(image_.convert_early(&args.summary->outcome, probe_));
                         const auto* const meanwhile = std::exchange(meanwhile_, nullptr);
                         if (meanwhile != nullptr && *meanwhile) (*meanwhile)();
                         return Status::ok();
                       });
}

/// Returns when the samples are in device memory: the next image uses the same host memory.
Status CudaDecodePipeline::upload_cpu_planes(ColorModel model, ChromaUpsampling upsampling) {
  if (!cpu_.has_planes()) return Status::ok();
  is_idle_ = false;
  ZR_TRY(cpu_.finish_planes(model, upsampling));
  for (std::size_t c = 0; c < image_.components(); ++c)
    if (const PlaneView plane = cpu_.plane(c); plane.data != nullptr)
      ZR_TRY(image_.upload_plane(c, plane));
  return image_.wait();
}

/// The CPU makes the frame in host memory of its own.
Status CudaDecodePipeline::upload_cpu_frame(ColorModel model, ChromaUpsampling upsampling,
                                            const FrameView& out) {
  FrameView frame{out.format, out.width, out.height, {}, {}};
  ZR_TRY(cpu_frame_.reserve(static_cast<std::int64_t>(place_planes(frame, nullptr, 1))));
  place_planes(frame, cpu_frame_.data(), 1);
  ZR_TRY(cpu_.finish_whole(model, upsampling, frame));
  for (int p = 0; p < plane_count(out.format); ++p) {
    const auto i = static_cast<std::size_t>(p);
    const auto row_bytes = static_cast<std::int32_t>(plane_row_bytes(out.format, p, out.width));
    const std::int32_t rows = plane_rows(out.format, p, out.height);
    ZR_TRY(image_.upload({out.data[i], out.stride_bytes[i], row_bytes, rows},
                         {frame.data[i], frame.stride_bytes[i], row_bytes, rows}));
  }
  return image_.wait();
}

Status CudaDecodePipeline::finish_frame(ColorModel model, ChromaUpsampling upsampling,
                                        const FrameView& out) {
  if (is_whole_cpus_) return cpu_.finish_whole(model, upsampling, out);
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(upload_cpu_planes(model, upsampling));
  ZR_TRY(image_.write_host_frame(model, upsampling, out, probe_));
  return clock_.collect(image_.stream());
}

Status CudaDecodePipeline::finish_planes(std::vector<ComponentPlane>& out) {
  if (is_whole_cpus_) return cpu_.finish_whole_planes(out);
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(upload_cpu_planes(ColorModel::ycbcr, ChromaUpsampling::nearest));  // neither counts
  return image_.write_planes(out);
}

Status CudaDecodePipeline::finish_device_frame(ColorModel model, ChromaUpsampling upsampling,
                                               const FrameView& out) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  if (is_whole_cpus_) return upload_cpu_frame(model, upsampling, out);
  ZR_TRY(upload_cpu_planes(model, upsampling));
  is_idle_ = is_idle_ && image_.is_complete();
  return image_.write_device_frame(model, upsampling, out);
}

Result<std::unique_ptr<DecodePipeline>> make_cuda_decode_pipeline(int device, int threads) {
  auto pipeline = std::make_unique<CudaDecodePipeline>(device, threads);
  ZR_TRY(pipeline->create());
  return std::unique_ptr<DecodePipeline>(std::move(pipeline));
}

}  // namespace zerorun
