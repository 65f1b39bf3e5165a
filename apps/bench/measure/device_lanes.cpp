// Lanes that begin or end in device memory.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/device_lanes.hpp"

#include <utility>

namespace zerorun::app::bench {
namespace {

class DeviceEncodeLane : public EncodeLane {
 public:
  DeviceEncodeLane(DeviceEncoder encoder, SharedDeviceFrames frames)
      : encoder_(std::move(encoder)), frames_(std::move(frames)) {}

  Status reserve() {
    const FrameView& frame = frames_->view(0);
    const auto most = max_encoded_bytes(encoder_.params(), frame.format, frame.width, frame.height);
    if (!most) return most.status();
    ZR_TRY(out_.reserve(static_cast<std::int64_t>(*most)));
    ZR_TRY(size_.reserve(1));
    return queue_.create();
  }

  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(encoder_.params().device));
    return Status::ok();
  }
  Status start(std::size_t index) override {
    return encoder_.encode(frames_->view(index), out_.data(),
                           static_cast<std::size_t>(out_.capacity()), size_.data(), queue_.get());
  }
  Status finish() override {
    ZR_CUDA_TRY(cudaStreamSynchronize(queue_.get()));
    return Status::ok();
  }
  Status stream(std::vector<std::byte>& out) override {
    std::size_t size = 0;
    ZR_CUDA_TRY(cudaMemcpy(&size, size_.data(), sizeof size, cudaMemcpyDeviceToHost));
    if (size > static_cast<std::size_t>(out_.capacity())) return Status(Errc::output_too_small);
    out.resize(size);
    ZR_CUDA_TRY(cudaMemcpy(out.data(), out_.data(), size, cudaMemcpyDeviceToHost));
    return Status::ok();
  }

 protected:
  DeviceEncoder encoder_;
  SharedDeviceFrames frames_;
  Stream queue_;
  DeviceBuffer<std::byte> out_;
  DeviceBuffer<std::size_t> size_;
};

/// By the time the bytes of a frame are asked for, the other lanes have enqueued theirs.
class ToHostLane final : public DeviceEncodeLane {
 public:
  using DeviceEncodeLane::DeviceEncodeLane;

  Status reserve_host(std::size_t room) {
    ZR_TRY(reserve());
    ZR_TRY(host_size_.reserve(1));
    ZR_TRY(host_out_.reserve(static_cast<std::int64_t>(room)));
    return size_known_.create(cudaEventDisableTiming);
  }

  /// The device writes the size into host memory by itself: copies of a few bytes would keep the
  /// others' streams waiting.
  Status start(std::size_t index) override {
    ZR_TRY(fetch());
    ZR_TRY(encoder_.encode(frames_->view(index), out_.data(),
                           static_cast<std::size_t>(out_.capacity()), host_size_.data(),
                           queue_.get()));
    ZR_CUDA_TRY(cudaEventRecord(size_known_.get(), queue_.get()));
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
                                cudaMemcpyDeviceToHost, queue_.get()));
    return Status::ok();
  }

  PinnedBuffer<std::size_t> host_size_;
  PinnedBuffer<std::byte> host_out_;
  Event size_known_;
  bool pending_ = false;
};

/// The device writes the stream and its size into host memory by itself. A frame's bytes are waited
/// for before the next frame of the lane takes their place, as a caller who wants them would do.
class IntoPinnedLane final : public EncodeLane {
 public:
  IntoPinnedLane(DeviceEncoder encoder, SharedDeviceFrames frames)
      : encoder_(std::move(encoder)), frames_(std::move(frames)) {}

  Status reserve(std::size_t room) {
    ZR_TRY(out_.reserve(static_cast<std::int64_t>(room)));
    ZR_TRY(size_.reserve(1));
    return queue_.create();
  }

  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(encoder_.params().device));
    return Status::ok();
  }
  Status start(std::size_t index) override {
    ZR_TRY(finish());
    return encoder_.encode(frames_->view(index), out_.data(),
                           static_cast<std::size_t>(out_.capacity()), size_.data(), queue_.get());
  }
  Status finish() override {
    ZR_CUDA_TRY(cudaStreamSynchronize(queue_.get()));
    return Status::ok();
  }
  Status stream(std::vector<std::byte>& out) override {
    if (*size_.data() > static_cast<std::size_t>(out_.capacity()))
      return Status(Errc::output_too_small);
    out.assign(out_.data(), out_.data() + *size_.data());
    return Status::ok();
  }

 private:
  DeviceEncoder encoder_;
  SharedDeviceFrames frames_;
  Stream queue_;
  PinnedBuffer<std::byte> out_;
  PinnedBuffer<std::size_t> size_;
};

class DeviceDecodeLane final : public DecodeLane {
 public:
  /// `room`: frames of the case's sizes over one piece of memory.
  DeviceDecodeLane(DeviceDecoder decoder, SharedDeviceFrames room, SharedHostData data)
      : decoder_(std::move(decoder)), room_(std::move(room)), data_(std::move(data)) {}
  Status create() { return queue_.create(); }

  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(decoder_.params().device));
    return Status::ok();
  }
  Status start(std::size_t index) override {
    last_ = index;
    return decoder_.decode(data_->stream(index), room_->view(index), queue_.get()).status();
  }
  Status finish() override {
    ZR_CUDA_TRY(cudaStreamSynchronize(queue_.get()));
    return Status::ok();
  }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    return room_->download(last_, out);
  }

 private:
  DeviceDecoder decoder_;
  SharedDeviceFrames room_;
  SharedHostData data_;
  std::size_t last_ = 0;
  Stream queue_;
};

}  // namespace

Result<std::unique_ptr<Lane>> open_device_encoder(const EncodeParams& params,
                                                  SharedDeviceFrames frames) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto encoder = DeviceEncoder::create(params);
  if (!encoder) return encoder.status();
  auto lane = std::make_unique<DeviceEncodeLane>(*std::move(encoder), std::move(frames));
  ZR_TRY(lane->reserve());
  return std::unique_ptr<Lane>(std::move(lane));
}

Result<std::unique_ptr<Lane>> open_device_encoder_to_host(const EncodeParams& params,
                                                          SharedDeviceFrames frames,
                                                          std::size_t room) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto encoder = DeviceEncoder::create(params);
  if (!encoder) return encoder.status();
  auto lane = std::make_unique<ToHostLane>(*std::move(encoder), std::move(frames));
  ZR_TRY(lane->reserve_host(room));
  return std::unique_ptr<Lane>(std::move(lane));
}

Result<std::unique_ptr<Lane>> open_device_encoder_into_pinned(const EncodeParams& params,
                                                              SharedDeviceFrames frames,
                                                              std::size_t room) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto encoder = DeviceEncoder::create(params);
  if (!encoder) return encoder.status();
  auto lane = std::make_unique<IntoPinnedLane>(*std::move(encoder), std::move(frames));
  ZR_TRY(lane->reserve(room));
  return std::unique_ptr<Lane>(std::move(lane));
}

Result<std::unique_ptr<Lane>> open_device_decoder(const DecodeParams& params, const FrameSet& like,
                                                  SharedHostData data) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto decoder = DeviceDecoder::create(params);
  if (!decoder) return decoder.status();
  auto room = DeviceFrames::overlaid(like, params.device);
  if (!room) return room.status();
  auto lane =
      std::make_unique<DeviceDecodeLane>(*std::move(decoder), *std::move(room), std::move(data));
  ZR_TRY(lane->create());
  return std::unique_ptr<Lane>(std::move(lane));
}

}  // namespace zerorun::app::bench
