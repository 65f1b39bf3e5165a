// zerorun::Encoder on frames in host memory, on the CPU or a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "apps/bench/lane.hpp"

namespace zerorun::app::bench {

/// Frames in host memory and room for a stream, with whatever owns them.
struct HostMemory {
  std::vector<ConstFrameView> frames;
  std::span<std::byte> out;
  std::shared_ptr<const void> owner;
};

class HostEncodeLane final : public EncodeLane {
 public:
  static Result<std::unique_ptr<Lane>> open(const EncodeParams& params, HostMemory memory) {
    auto encoder = Encoder::create(params);
    if (!encoder) return encoder.status();
    return std::unique_ptr<Lane>(new HostEncodeLane(*std::move(encoder), std::move(memory)));
  }

  Status start(std::size_t index) override {
    const auto report = encoder_.encode(memory_.frames[index], memory_.out);
    if (!report) return report.status();
    bytes_ = report->bytes;
    return Status::ok();
  }
  Status finish() override { return Status::ok(); }
  Status stream(std::vector<std::byte>& out) override {
    out.assign(memory_.out.begin(), memory_.out.begin() + static_cast<std::ptrdiff_t>(bytes_));
    return Status::ok();
  }

 private:
  HostEncodeLane(Encoder encoder, HostMemory memory)
      : encoder_(std::move(encoder)), memory_(std::move(memory)) {}

  Encoder encoder_;
  HostMemory memory_;
  std::size_t bytes_ = 0;
};

/// The frames where they are, and a vector for the stream.
HostMemory pageable_memory(const FrameSet& frames, std::size_t stream_bytes);

}  // namespace zerorun::app::bench
