// What coders on a GPU share: frames in device memory, and runners on a stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "apps/bench/measure/coder.hpp"
#include "apps/bench/measure/cuda_memory.hpp"

namespace zerorun::app::bench {

/// The frames of a case in device memory. Rows start on 256 bytes, as cudaMallocPitch places them.
class DeviceFrames {
 public:
  /// Copies of the frames.
  static Result<std::shared_ptr<DeviceFrames>> upload(const FrameSet& set, int device);
  /// Memory for one frame at a time, with a view of the shape of each frame of the set over it.
  static Result<std::shared_ptr<DeviceFrames>> overlaid(const FrameSet& set, int device);

  const FrameView& view(std::size_t i) const { return views_[i]; }
  Status download(std::size_t i, const FrameView& out) const;

 private:
  std::vector<CudaArray<std::uint8_t>> memory_;
  std::vector<FrameView> views_;
};
using SharedDeviceFrames = std::shared_ptr<DeviceFrames>;

/// A runner that works on a device, on a stream of its own.
class DeviceRunner : public Runner {
 public:
  explicit DeviceRunner(int device) : device_(device) {}

  Status open() override {
    ZR_TRY(attach());
    return make_stream(stream_);
  }
  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(device_));
    return Status::ok();
  }
  Status finish() override {
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return Status::ok();
  }

 protected:
  cudaStream_t cuda_stream() const noexcept { return stream_.get(); }

 private:
  const int device_;
  StreamOwner stream_;
};

/// A coder of zerorun on a GPU, with rows for --in-flight.
Coder our_device_coder(const Setting& setting, int device, const char* path);
/// The same for one runner in one thread that keeps all frames in flight by itself.
Coder our_joint_coder(const Setting& setting, int device, const char* path);

/// Coders that read frames in device memory.
Status add_device_encoders(const Setting& setting, int device, Coders& coders);

/// Coders of several devices: a runner each, with a thread of its own, which belong to the devices
/// in turn. `at_once` counts all frames: --in-flight for each device.
Coder our_team_coder(const Setting& setting, const std::vector<int>& devices, const char* path);
/// Device frames to device streams.
Status add_team_encoder(const Setting& setting, const std::vector<int>& devices, Coders& coders);

/// Runners of runner_for(device), for the devices in turn.
template <typename RunnerFor>
OpenRunner in_turn(const std::vector<int>& devices, RunnerFor runner_for) {
  auto opened = std::make_shared<std::size_t>(0);
  return [=](int at_once) { return runner_for(devices[(*opened)++ % devices.size()])(at_once); };
}

}  // namespace zerorun::app::bench
