// zerorun::DeviceEncoder on its own stream: device frames to streams in device or host memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "apps/bench/cuda_frames.hpp"
#include "apps/bench/lane.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::app::bench {

class DeviceEncodeLane : public EncodeLane {
 public:
  static Result<std::unique_ptr<Lane>> open_to_device(const EncodeParams& params,
                                                      std::shared_ptr<DeviceFrames> frames);
  /// `room`: bytes of the largest stream there will be.
  static Result<std::unique_ptr<Lane>> open_to_host(const EncodeParams& params,
                                                    std::shared_ptr<DeviceFrames> frames,
                                                    std::size_t room);

  Status attach() override;
  Status start(std::size_t index) override;
  Status finish() override;
  Status stream(std::vector<std::byte>& out) override;

 protected:
  DeviceEncodeLane(DeviceEncoder encoder, std::shared_ptr<DeviceFrames> frames)
      : encoder_(std::move(encoder)), frames_(std::move(frames)) {}
  Status reserve();

  DeviceEncoder encoder_;
  std::shared_ptr<DeviceFrames> frames_;
  Stream stream_;
  DeviceBuffer<std::byte> out_;
  DeviceBuffer<std::size_t> size_;
};

}  // namespace zerorun::app::bench
