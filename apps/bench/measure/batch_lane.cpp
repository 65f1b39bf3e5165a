// Device frames by batches, as zerorun::DeviceEncoder::encode_batch() takes them.
// SPDX-License-Identifier: MIT
#include <optional>
#include <utility>
#include <vector>

#include "apps/bench/measure/device_lanes.hpp"

namespace zerorun::app::bench {
namespace {

/// Two encoders with a stream each: while one's batch is at work, the other's is gathered.
class BatchLane final : public EncodeLane {
 public:
  BatchLane(SharedDeviceFrames frames, std::size_t room, std::size_t at_once)
      : frames_(std::move(frames)), room_(room), at_once_(at_once) {}

  Status open(const EncodeParams& params) {
    device_ = params.device;
    for (Side& side : sides_) {
      auto encoder = DeviceEncoder::create(params);
      if (!encoder) return encoder.status();
      side.encoder = *std::move(encoder);
      ZR_TRY(side.out.reserve(static_cast<std::int64_t>(room_ * at_once_)));
      ZR_TRY(side.sizes.reserve(static_cast<std::int64_t>(at_once_)));
      ZR_TRY(side.queue.create());
    }
    return Status::ok();
  }

  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(device_));
    return Status::ok();
  }
  Status start(std::size_t index) override {
    Side& side = sides_[turn_];
    const std::size_t place = side.jobs.size();
    side.jobs.push_back(
        {frames_->view(index), side.out.data() + place * room_, room_, side.sizes.data() + place});
    return side.jobs.size() == at_once_ ? flush() : Status::ok();
  }
  Status finish() override {
    if (!sides_[turn_].jobs.empty()) ZR_TRY(flush());
    for (Side& side : sides_) ZR_CUDA_TRY(cudaStreamSynchronize(side.queue.get()));
    return Status::ok();
  }
  Status stream(std::vector<std::byte>& out) override {
    std::size_t size = 0;
    ZR_CUDA_TRY(cudaMemcpy(&size, last_.size, sizeof size, cudaMemcpyDeviceToHost));
    if (size > room_) return Status(Errc::output_too_small);
    out.resize(size);
    ZR_CUDA_TRY(cudaMemcpy(out.data(), last_.out, size, cudaMemcpyDeviceToHost));
    return Status::ok();
  }

 private:
  struct Side {
    std::optional<DeviceEncoder> encoder;
    Stream queue;
    DeviceBuffer<std::byte> out;
    DeviceBuffer<std::size_t> sizes;
    std::vector<DeviceEncodeJob> jobs;
  };

  Status flush() {
    Side& side = sides_[turn_];
    ZR_TRY(side.encoder->encode_batch(side.jobs, side.queue.get()));
    last_ = side.jobs.back();
    side.jobs.clear();
    turn_ ^= 1;
    return Status::ok();
  }

  SharedDeviceFrames frames_;
  const std::size_t room_, at_once_;
  int device_ = 0;
  Side sides_[2];
  std::size_t turn_ = 0;
  DeviceEncodeJob last_;
};

}  // namespace

Result<std::unique_ptr<Lane>> open_batch_encoder(const EncodeParams& params,
                                                 SharedDeviceFrames frames, std::size_t room,
                                                 std::size_t at_once) {
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto lane = std::make_unique<BatchLane>(std::move(frames), room, at_once);
  ZR_TRY(lane->open(params));
  return std::unique_ptr<Lane>(std::move(lane));
}

}  // namespace zerorun::app::bench
