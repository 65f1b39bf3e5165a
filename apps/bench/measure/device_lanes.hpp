// zerorun::DeviceEncoder and DeviceDecoder, each lane on a stream of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "apps/bench/measure/cuda_frames.hpp"
#include "apps/bench/measure/host_lanes.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::app::bench {

using SharedDeviceFrames = std::shared_ptr<DeviceFrames>;

/// Device frames to streams in device memory; nothing is waited for before finish().
Result<std::unique_ptr<Lane>> open_device_encoder(const EncodeParams& params,
                                                  SharedDeviceFrames frames);

/// The same by batches of `at_once` frames; two encoders take turns. `room` is that of the largest
/// stream.
Result<std::unique_ptr<Lane>> open_batch_encoder(const EncodeParams& params,
                                                 SharedDeviceFrames frames, std::size_t room,
                                                 std::size_t at_once);

/// Device frames to streams in pinned host memory: first the size, then exactly the bytes. `room`
/// is that of the largest stream.
Result<std::unique_ptr<Lane>> open_device_encoder_to_host(const EncodeParams& params,
                                                          SharedDeviceFrames frames,
                                                          std::size_t room);

/// Device frames to streams in pinned host memory, written there by the encoder's own kernels: no
/// copy follows. `room` is that of the largest stream.
Result<std::unique_ptr<Lane>> open_device_encoder_into_pinned(const EncodeParams& params,
                                                              SharedDeviceFrames frames,
                                                              std::size_t room);

/// Streams in host memory, pinned or not, to device frames over memory of the lane's own.
Result<std::unique_ptr<Lane>> open_device_decoder(const DecodeParams& params, const FrameSet& like,
                                                  SharedHostData data);

}  // namespace zerorun::app::bench
