// zerorun::Encoder, Decoder and their Async forms on host memory, on the CPU or a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "apps/bench/measure/contenders.hpp"

namespace zerorun::app::bench {

/// Frames and streams of a case in host memory, shared by lanes.
class HostData {
 public:
  /// The set's own frames and the reference's streams. With pinned memory, what the case's
  /// operation reads is a pinned copy.
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

Result<std::unique_ptr<Lane>> open_host_encoder(const EncodeParams& params, SharedHostData data);
/// Keeps `at_once` frames under way.
Result<std::unique_ptr<Lane>> open_async_encoder(const EncodeParams& params, int at_once,
                                                 SharedHostData data);
Result<std::unique_ptr<Lane>> open_host_decoder(const DecodeParams& params, SharedHostData data);
/// Keeps `at_once` images under way.
Result<std::unique_ptr<Lane>> open_async_decoder(const DecodeParams& params, int at_once,
                                                 SharedHostData data);

}  // namespace zerorun::app::bench
