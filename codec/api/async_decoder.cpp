// AsyncDecoder: lanes of decoders.
// SPDX-License-Identifier: MIT
#include <utility>

#include "codec/api/async_lanes.hpp"
#include "zerorun/async.hpp"

namespace zerorun {
namespace {

struct DecodeJob {
  std::span<const std::byte> jpeg;
  PixelFormat format = PixelFormat::gray8;
  std::optional<FrameView> into;
};

Status decode(Decoder& decoder, const DecodeJob& job, DecodedFrame& result) {
  return with_memory(decoder, [&](HostMemory memory) {
    if (result.frame.memory() != memory) result.frame = Frame(memory);
    auto report = job.into ? decoder.decode(job.jpeg, *job.into)
                           : decoder.decode(job.jpeg, job.format, result.frame);
    if (report) result.report = *std::move(report);
    return report.status();
  });
}

Status validate_format(PixelFormat format) {
  if (static_cast<int>(format) < kPixelFormatCount) return Status::ok();
  return Status(Errc::invalid_frame, "the pixel format is not one of PixelFormat");
}

}  // namespace

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
