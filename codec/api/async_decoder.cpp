// Images in flight: lanes of decoders.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include <new>
#include <utility>

#include "codec/api/flight_ring.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
namespace {

struct DecodeJob {
  std::span<const std::byte> jpeg;
  PixelFormat format = PixelFormat::gray8;
  std::optional<FrameView> into;
};

void decode(Decoder& decoder, DecodeJob& job, DecodedFrame& result) {
  const HostMemory memory = preferred_memory(decoder.backend());
  if (result.frame.memory() != memory) result.frame = Frame(memory);
  auto report = job.into ? decoder.decode(job.jpeg, *job.into)
                         : decoder.decode(job.jpeg, job.format, result.frame);
  result.status = report.status();
  if (report) result.report = *std::move(report);
}

Status validate_format(PixelFormat format) {
  if (static_cast<int>(format) < kPixelFormatCount) return Status::ok();
  return Status(Errc::invalid_frame, "the pixel format is not one of PixelFormat");
}

}  // namespace

struct AsyncDecoder::Impl {
  AsyncDecodeParams params;
  FlightRing<Decoder, DecodeJob, DecodedFrame> ring;

  /// `bytes(result)` gives the stream, and may move it into the result.
  template <typename Bytes>
  Status submit(const DecodeOptions& options, const Bytes& bytes) {
    const PixelFormat format = options.format.value_or(params.format);
    ZR_TRY(validate_format(format));
    return ring.submit(options.tag, options.wait, [&](DecodeJob& job, DecodedFrame& result) {
      job = {bytes(result), format, options.into};
    });
  }
};

Result<AsyncDecoder> AsyncDecoder::create(const AsyncDecodeParams& params) try {
  ZR_TRY(validate_format(params.format));
  DecodeParams decode_params = params.decode;
  if (decode_params.threads == 0) decode_params.threads = 1;
  const auto backend = resolve_backend(decode_params.backend, decode_params.device);
  if (!backend) return backend.status();
  decode_params.backend = *backend;
  const auto sizes = choose_flight_sizes(params.lanes, params.depth, *backend);
  if (!sizes) return sizes.status();
  auto impl = std::make_unique<Impl>();
  impl->params = params;
  Status status = impl->ring.start(*sizes, decode, [&] { return Decoder::create(decode_params); });
  if (!status) return status;
  return AsyncDecoder(std::move(impl));
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Status AsyncDecoder::submit(std::span<const std::byte> jpeg, const DecodeOptions& options) try {
  return impl_->submit(options, [&](DecodedFrame&) { return jpeg; });
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Status AsyncDecoder::submit(HostBuffer&& jpeg, const DecodeOptions& options) try {
  return impl_->submit(options, [&](DecodedFrame& result) {
    result.jpeg = std::move(jpeg);
    return result.jpeg.bytes();
  });
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Received AsyncDecoder::receive(DecodedFrame& out, bool wait) {
  HostBuffer left;  // released without the lock, because releasing pinned memory takes long
  return impl_->ring.receive(wait, [&](DecodedFrame& result) {
    left = std::move(out.jpeg);
    std::swap(out, result);
  });
}

void AsyncDecoder::finish() { impl_->ring.finish(); }

void AsyncDecoder::discard() {
  impl_->ring.discard([](DecodedFrame& result) { result.jpeg = HostBuffer(); });
}

int AsyncDecoder::in_flight() const noexcept { return impl_->ring.in_flight(); }
int AsyncDecoder::depth() const noexcept { return impl_->ring.depth(); }
int AsyncDecoder::lanes() const noexcept { return impl_->ring.lanes(); }
Backend AsyncDecoder::backend() const noexcept { return impl_->ring.backend(); }
const AsyncDecodeParams& AsyncDecoder::params() const noexcept { return impl_->params; }

AsyncDecoder::AsyncDecoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
AsyncDecoder::AsyncDecoder(AsyncDecoder&&) noexcept = default;
AsyncDecoder& AsyncDecoder::operator=(AsyncDecoder&&) noexcept = default;
AsyncDecoder::~AsyncDecoder() = default;

}  // namespace zerorun
