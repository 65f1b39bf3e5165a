// AsyncEncoder: lanes of encoders.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <utility>

#include "codec/api/async_lanes.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "zerorun/async.hpp"

namespace zerorun {
namespace {

struct EncodeJob {
  ConstFrameView view;
  int quality = 0;
  SizeGoal size;
};

Status encode(Encoder& encoder, const EncodeJob& job, EncodedFrame& result) {
  ZR_TRY(encoder.set_quality(job.quality));
  ZR_TRY(encoder.set_size(job.size));
  return with_memory(encoder, [&](HostMemory memory) {
    if (result.jpeg.memory() != memory) result.jpeg = HostBuffer(memory);
    auto report = encoder.encode(job.view, result.jpeg);
    if (report) result.report = *report;
    return report.status();
  });
}

}  // namespace

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

}  // namespace zerorun
