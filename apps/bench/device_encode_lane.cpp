// To host memory the size comes first, then exactly the bytes: the frame after it is enqueued by
// then on other lanes, so that several lanes keep the device busy.
// SPDX-License-Identifier: MIT
#include "apps/bench/device_encode_lane.hpp"

#include <utility>

namespace zerorun::app::bench {
namespace {

class ToHostLane final : public DeviceEncodeLane {
 public:
  ToHostLane(DeviceEncoder encoder, std::shared_ptr<DeviceFrames> frames)
      : DeviceEncodeLane(std::move(encoder), std::move(frames)) {}

  Status reserve_host(std::size_t room) {
    ZR_TRY(reserve());
    ZR_TRY(host_size_.reserve(1));
    ZR_TRY(host_out_.reserve(static_cast<std::int64_t>(room)));
    return size_known_.create(cudaEventDisableTiming);
  }

  Status start(std::size_t index) override {
    ZR_TRY(fetch());
    ZR_TRY(DeviceEncodeLane::start(index));
    ZR_CUDA_TRY(cudaMemcpyAsync(host_size_.data(), size_.data(), sizeof(std::size_t),
                                cudaMemcpyDeviceToHost, stream_.get()));
    ZR_CUDA_TRY(cudaEventRecord(size_known_.get(), stream_.get()));
    pending_ = true;
    return Status::ok();
  }

  Status finish() override {
    ZR_TRY(fetch());
    return DeviceEncodeLane::finish();
  }

  Status stream(std::vector<std::byte>& out) override {
    out.assign(host_out_.data(), host_out_.data() + *host_size_.data());
    return Status::ok();
  }

 private:
  /// Enqueues the copy of the stream that is under way.
  Status fetch() {
    if (!std::exchange(pending_, false)) return Status::ok();
    ZR_CUDA_TRY(cudaEventSynchronize(size_known_.get()));
    if (*host_size_.data() > static_cast<std::size_t>(host_out_.capacity()))
      return Status(Errc::output_too_small);
    ZR_CUDA_TRY(cudaMemcpyAsync(host_out_.data(), out_.data(), *host_size_.data(),
                                cudaMemcpyDeviceToHost, stream_.get()));
    return Status::ok();
  }

  PinnedBuffer<std::size_t> host_size_;
  PinnedBuffer<std::byte> host_out_;
  Event size_known_;
  bool pending_ = false;
};

}  // namespace

Result<std::unique_ptr<Lane>> DeviceEncodeLane::open_to_device(
    const EncodeParams& params, std::shared_ptr<DeviceFrames> frames) {
  auto encoder = DeviceEncoder::create(params);
  if (!encoder) return encoder.status();
  std::unique_ptr<DeviceEncodeLane> lane(
      new DeviceEncodeLane(*std::move(encoder), std::move(frames)));
  ZR_TRY(lane->reserve());
  return std::unique_ptr<Lane>(std::move(lane));
}

Result<std::unique_ptr<Lane>> DeviceEncodeLane::open_to_host(const EncodeParams& params,
                                                             std::shared_ptr<DeviceFrames> frames,
                                                             std::size_t room) {
  auto encoder = DeviceEncoder::create(params);
  if (!encoder) return encoder.status();
  auto lane = std::make_unique<ToHostLane>(*std::move(encoder), std::move(frames));
  ZR_TRY(lane->reserve_host(room));
  return std::unique_ptr<Lane>(std::move(lane));
}

Status DeviceEncodeLane::reserve() {
  const DeviceGuard guard(encoder_.params().device);
  ZR_TRY(guard.status());
  const ConstFrameView& frame = frames_->view(0);
  const auto most = max_encoded_bytes(encoder_.params(), frame.format, frame.width, frame.height);
  if (!most) return most.status();
  ZR_TRY(out_.reserve(static_cast<std::int64_t>(*most)));
  ZR_TRY(size_.reserve(1));
  return stream_.create();
}

Status DeviceEncodeLane::attach() {
  ZR_CUDA_TRY(cudaSetDevice(encoder_.params().device));
  return Status::ok();
}

Status DeviceEncodeLane::start(std::size_t index) {
  return encoder_.encode(frames_->view(index), out_.data(),
                         static_cast<std::size_t>(out_.capacity()), size_.data(), stream_.get());
}

Status DeviceEncodeLane::finish() {
  ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
  return Status::ok();
}

Status DeviceEncodeLane::stream(std::vector<std::byte>& out) {
  std::size_t size = 0;
  ZR_CUDA_TRY(cudaMemcpy(&size, size_.data(), sizeof size, cudaMemcpyDeviceToHost));
  if (size > static_cast<std::size_t>(out_.capacity())) return Status(Errc::output_too_small);
  out.resize(size);
  ZR_CUDA_TRY(cudaMemcpy(out.data(), out_.data(), size, cudaMemcpyDeviceToHost));
  return Status::ok();
}

}  // namespace zerorun::app::bench
