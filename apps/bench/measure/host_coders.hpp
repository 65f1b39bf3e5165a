// zerorun::Encoder, Decoder and their Async forms on host memory, on the CPU or a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "apps/bench/measure/measure.hpp"

namespace zerorun::app::bench {

/// Frames and streams of a case in host memory, shared by runners.
class HostData {
 public:
  /// The frames of the set and the streams of the reference. With pinned memory, what the operation
  /// of the case reads is a pinned copy.
  static Result<std::shared_ptr<HostData>> make(const Setting& setting, HostMemory memory);

  const ConstFrameView& frame(std::size_t i) const { return frames_[i]; }
  std::span<const std::byte> stream(std::size_t i) const { return streams_[i]; }
  std::size_t largest_stream() const noexcept { return largest_; }
  HostMemory memory() const noexcept { return memory_; }

 private:
  Status pin_frames();
  Status pin_streams();

  HostMemory memory_ = HostMemory::pageable;
  std::vector<Frame> pinned_frames_;
  std::vector<HostBuffer> pinned_streams_;
  std::vector<ConstFrameView> frames_;
  std::vector<std::span<const std::byte>> streams_;
  std::size_t largest_ = 0;
};
using SharedHostData = std::shared_ptr<HostData>;

OpenRunner host_encoder(const EncodeParams& params, const SharedHostData& data);
OpenRunner host_decoder(const DecodeParams& params, const SharedHostData& data);
/// One AsyncEncoder or AsyncDecoder that keeps all frames in flight: for joint coders.
/// `devices` as AsyncEncodeParams::devices.
OpenRunner async_encoder(const EncodeParams& params, const SharedHostData& data,
                         const std::vector<int>& devices = {});
OpenRunner async_decoder(const DecodeParams& params, const SharedHostData& data,
                         const std::vector<int>& devices = {});

/// The name of rows of AsyncDecoder, beside those of one Decoder a thread.
constexpr const char* kAsyncCoder = "zerorun-async";

}  // namespace zerorun::app::bench
