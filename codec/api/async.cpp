// AsyncEncoder and AsyncDecoder: lanes of coders.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <utility>

#include "codec/api/pipelines.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "zerorun/async.hpp"
#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

/// One frame is uploaded, one is coded, one is downloaded, and one more hides the host's part
/// between them. Time per frame with one Encoder a thread, 4K q90 from pinned memory on an H200:
/// 333 us with 1 thread, 236 with 3, 238 with 4, 240 with 8; the upload alone takes 228.
constexpr int kCudaLanes = 4;  // of each device
constexpr int kMaxLanes = 256;
constexpr int kMaxDepth = 4096;

struct EncodeJob {
  ConstFrameView view;
  int quality = 0;
  SizeGoal size;
};

Status encode(Encoder& encoder, const EncodeJob& job, EncodedFrame& result) {
  ZR_TRY(encoder.set_quality(job.quality));
  ZR_TRY(encoder.set_size(job.size));
  const HostMemory memory = preferred_memory(encoder.backend());
  if (result.jpeg.memory() != memory) result.jpeg = HostBuffer(memory);
  auto report = encoder.encode(job.view, result.jpeg);
  if (report) result.report = *report;
  return report.status();
}

struct DecodeJob {
  std::span<const std::byte> jpeg;
  PixelFormat format = PixelFormat::gray8;
  std::optional<FrameView> into;
};

Status decode(Decoder& decoder, const DecodeJob& job, DecodedFrame& result) {
  const HostMemory memory = preferred_memory(decoder.backend());
  if (result.frame.memory() != memory) result.frame = Frame(memory);
  auto report = job.into ? decoder.decode(job.jpeg, *job.into)
                         : decoder.decode(job.jpeg, job.format, result.frame);
  if (report) result.report = *std::move(report);
  return report.status();
}

Status validate_format(PixelFormat format) {
  if (format <= PixelFormat::cmyk32) return Status::ok();
  return Status(Errc::invalid_frame, "the pixel format is not one of PixelFormat");
}

}  // namespace

Result<FlightSizes> choose_flight_sizes(int lanes, int depth, const DevicePlan& plan) {
  if (lanes < 0 || lanes > kMaxLanes)
    return Status(Errc::invalid_argument,
                  "lanes " + std::to_string(lanes) + " is not in 0.." + std::to_string(kMaxLanes));
  if (depth < 0 || depth > kMaxDepth)
    return Status(Errc::invalid_argument,
                  "depth " + std::to_string(depth) + " is not in 0.." + std::to_string(kMaxDepth));
  const int cores = usable_processors();
  const int devices = static_cast<int>(plan.devices.size());
  const int on_cuda = devices * kCudaLanes;
  const int automatic = std::min(plan.backend == Backend::cuda ? on_cuda : cores, kMaxLanes);
  const int chosen = lanes > 0 ? lanes : automatic;
  return FlightSizes{chosen, depth > 0 ? depth : 2 * chosen};
}

struct AsyncEncoder::Impl {
  AsyncEncodeParams params;
  std::atomic<int> quality;
  AsyncLanes<Encoder, EncodeJob, EncodedFrame, &EncodedFrame::frame> lanes;

  /// `fill(job, result)` sets the view.
  template <typename Fill>
  Status submit(const SubmitOptions& options, const Fill& fill) {
    if (options.quality) ZR_TRY(guarded([&] { return validate_quality(*options.quality); }));
    return lanes.submit(options.tag, options.wait, [&](EncodeJob& job, EncodedFrame& result) {
      job.quality = options.quality.value_or(quality);
      job.size = options.size.value_or(params.encode.size);
      fill(job, result);
    });
  }
};

Result<AsyncEncoder> AsyncEncoder::create(const AsyncEncodeParams& params) {
  return guarded([&]() -> Result<AsyncEncoder> {
    auto impl = std::make_unique<Impl>();
    impl->params = params;
    impl->quality = params.encode.quality;
    ZR_TRY(start_lanes<Encoder>(impl->lanes, params, params.encode, encode));
    return AsyncEncoder(std::move(impl));
  });
}

Status AsyncEncoder::submit(const ConstFrameView& frame, const SubmitOptions& options) {
  return impl_->submit(options, [&](EncodeJob& job, EncodedFrame&) { job.view = frame; });
}

Status AsyncEncoder::submit(Frame&& frame, const SubmitOptions& options) {
  return impl_->submit(options, [&](EncodeJob& job, EncodedFrame& result) {
    result.frame = std::move(frame);
    job.view = std::as_const(result.frame).view();
  });
}

Received AsyncEncoder::receive(EncodedFrame& out, bool wait) {
  return impl_->lanes.receive(out, wait);
}

void AsyncEncoder::finish() { impl_->lanes.finish(); }
void AsyncEncoder::discard() { impl_->lanes.discard(); }

Status AsyncEncoder::set_quality(int quality) {
  return guarded([&] {
    ZR_TRY(validate_quality(quality));
    impl_->quality = quality;
    return Status::ok();
  });
}

int AsyncEncoder::in_flight() const noexcept { return impl_->lanes.in_flight(); }
int AsyncEncoder::depth() const noexcept { return impl_->lanes.depth(); }
int AsyncEncoder::lanes() const noexcept { return impl_->lanes.lanes(); }
Backend AsyncEncoder::backend() const noexcept { return impl_->lanes.backend(); }
std::vector<LostDevice> AsyncEncoder::lost_devices() const { return impl_->lanes.lost_devices(); }
const AsyncEncodeParams& AsyncEncoder::params() const noexcept { return impl_->params; }

AsyncEncoder::AsyncEncoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
AsyncEncoder::AsyncEncoder(AsyncEncoder&&) noexcept = default;
AsyncEncoder& AsyncEncoder::operator=(AsyncEncoder&&) noexcept = default;
AsyncEncoder::~AsyncEncoder() = default;

struct AsyncDecoder::Impl {
  AsyncDecodeParams params;
  AsyncLanes<Decoder, DecodeJob, DecodedFrame, &DecodedFrame::jpeg> lanes;

  /// `bytes(result)` returns the stream, and may move it into the result.
  template <typename Bytes>
  Status submit(const DecodeOptions& options, const Bytes& bytes) {
    const PixelFormat format = options.format.value_or(params.format);
    ZR_TRY(guarded([&] { return validate_format(format); }));
    return lanes.submit(options.tag, options.wait, [&](DecodeJob& job, DecodedFrame& result) {
      job = {bytes(result), format, options.into};
    });
  }
};

Result<AsyncDecoder> AsyncDecoder::create(const AsyncDecodeParams& params) {
  return guarded([&]() -> Result<AsyncDecoder> {
    ZR_TRY(validate_format(params.format));
    auto impl = std::make_unique<Impl>();
    impl->params = params;
    ZR_TRY(start_lanes<Decoder>(impl->lanes, params, params.decode, decode));
    return AsyncDecoder(std::move(impl));
  });
}

Status AsyncDecoder::submit(std::span<const std::byte> jpeg, const DecodeOptions& options) {
  return impl_->submit(options, [&](DecodedFrame&) { return jpeg; });
}

Status AsyncDecoder::submit(HostBuffer&& jpeg, const DecodeOptions& options) {
  return impl_->submit(options, [&](DecodedFrame& result) {
    result.jpeg = std::move(jpeg);
    return result.jpeg.bytes();
  });
}

Received AsyncDecoder::receive(DecodedFrame& out, bool wait) {
  return impl_->lanes.receive(out, wait);
}

void AsyncDecoder::finish() { impl_->lanes.finish(); }
void AsyncDecoder::discard() { impl_->lanes.discard(); }

int AsyncDecoder::in_flight() const noexcept { return impl_->lanes.in_flight(); }
int AsyncDecoder::depth() const noexcept { return impl_->lanes.depth(); }
int AsyncDecoder::lanes() const noexcept { return impl_->lanes.lanes(); }
Backend AsyncDecoder::backend() const noexcept { return impl_->lanes.backend(); }
std::vector<LostDevice> AsyncDecoder::lost_devices() const { return impl_->lanes.lost_devices(); }
const AsyncDecodeParams& AsyncDecoder::params() const noexcept { return impl_->params; }

AsyncDecoder::AsyncDecoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
AsyncDecoder::AsyncDecoder(AsyncDecoder&&) noexcept = default;
AsyncDecoder& AsyncDecoder::operator=(AsyncDecoder&&) noexcept = default;
AsyncDecoder::~AsyncDecoder() = default;

}  // namespace zerorun
