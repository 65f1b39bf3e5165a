// Frames in flight: lanes of encoders.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include <atomic>
#include <new>
#include <utility>

#include "codec/api/flight_ring.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/encode_setup.hpp"

namespace zerorun {
namespace {

struct EncodeJob {
  ConstFrameView view;
  int quality = 0;
};

void encode(Encoder& encoder, EncodeJob& job, EncodedFrame& result) {
  result.status = encoder.set_quality(job.quality);
  if (!result.status) return;
  const HostMemory memory = preferred_memory(encoder.backend());
  if (result.jpeg.memory() != memory) result.jpeg = HostBuffer(memory);
  auto report = encoder.encode(job.view, result.jpeg);
  result.status = report.status();
  if (report) result.report = *report;
}

}  // namespace

struct AsyncEncoder::Impl {
  AsyncEncodeParams params;
  std::atomic<int> quality;
  FlightRing<Encoder, EncodeJob, EncodedFrame> ring;

  /// `fill` as for FlightRing::submit().
  template <typename Fill>
  Status submit(const SubmitOptions& options, const Fill& fill) {
    if (options.quality) ZR_TRY(validate_quality(*options.quality));
    return ring.submit(options.tag, options.wait, [&](EncodeJob& job, EncodedFrame& result) {
      job.quality = options.quality.value_or(quality);
      fill(job, result);
    });
  }
};

Result<AsyncEncoder> AsyncEncoder::create(const AsyncEncodeParams& params) try {
  EncodeParams encode_params = params.encode;
  if (encode_params.threads == 0) encode_params.threads = 1;
  const auto backend = resolve_backend(encode_params.backend, encode_params.device);
  if (!backend) return backend.status();
  encode_params.backend = *backend;
  const auto sizes = choose_flight_sizes(params.lanes, params.depth, *backend);
  if (!sizes) return sizes.status();
  auto impl = std::make_unique<Impl>();
  impl->params = params;
  impl->quality = encode_params.quality;
  Status status = impl->ring.start(*sizes, encode, [&] { return Encoder::create(encode_params); });
  if (!status) return status;
  return AsyncEncoder(std::move(impl));
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Status AsyncEncoder::submit(const ConstFrameView& frame, const SubmitOptions& options) try {
  return impl_->submit(options, [&](EncodeJob& job, EncodedFrame&) { job.view = frame; });
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Status AsyncEncoder::submit(Frame&& frame, const SubmitOptions& options) try {
  return impl_->submit(options, [&](EncodeJob& job, EncodedFrame& result) {
    result.frame = std::move(frame);
    job.view = std::as_const(result.frame).view();
  });
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Received AsyncEncoder::receive(EncodedFrame& out, bool wait) {
  Frame left;  // released without the lock, because releasing pinned memory takes long
  return impl_->ring.receive(wait, [&](EncodedFrame& result) {
    left = std::move(out.frame);
    out.frame = Frame();
    std::swap(out, result);
  });
}

void AsyncEncoder::finish() { impl_->ring.finish(); }

void AsyncEncoder::discard() {
  impl_->ring.discard([](EncodedFrame& result) { result.frame = Frame(); });
}

Status AsyncEncoder::set_quality(int quality) try {
  ZR_TRY(validate_quality(quality));
  impl_->quality = quality;
  return Status::ok();
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

int AsyncEncoder::in_flight() const noexcept { return impl_->ring.in_flight(); }
int AsyncEncoder::depth() const noexcept { return impl_->ring.depth(); }
int AsyncEncoder::lanes() const noexcept { return impl_->ring.lanes(); }
Backend AsyncEncoder::backend() const noexcept { return impl_->ring.backend(); }
const AsyncEncodeParams& AsyncEncoder::params() const noexcept { return impl_->params; }

AsyncEncoder::AsyncEncoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
AsyncEncoder::AsyncEncoder(AsyncEncoder&&) noexcept = default;
AsyncEncoder& AsyncEncoder::operator=(AsyncEncoder&&) noexcept = default;
AsyncEncoder::~AsyncEncoder() = default;

}  // namespace zerorun
