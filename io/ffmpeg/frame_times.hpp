// Which frame of a container is shown when: by its index where it lists all frames, else by its
// rate.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "io/ffmpeg/demuxer.hpp"

namespace zerorun::io::av {

/// Times are those of FrameTime. Without a whole index a frame is where its rate puts it.
class FrameTimes {
 public:
  explicit FrameTimes(Demuxer& demuxer, const SourceInfo& info);

  /// The frame that is shown at `pts`.
  std::int64_t index_at(std::int64_t pts) const noexcept;
  std::int64_t time_of(std::int64_t index) const noexcept;
  std::int64_t first() const noexcept { return first_; }

 private:
  std::vector<std::int64_t> times_;  // sorted; empty = by the rate
  std::int64_t first_ = 0;
  double ticks_per_frame_ = 1.0;
};

}  // namespace zerorun::io::av
