// Which frame of a container is shown when, and at which rate.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "io/ffmpeg/av.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io::av {

/// MOV, MP4 and undamaged AVI files list every frame.
bool has_whole_index(AVStream* stream) noexcept;
/// True for codecs whose frames are all key frames.
bool is_intra_only(AVStream* stream) noexcept;

/// Sets frame_rate and variable_frame_rate by the times in the index, or else in the first packets.
/// A constant rate has steps that are equal but for the rounding of the clock. If times and header
/// disagree, the times are right (an AVI may say 50 fps and leave every second frame empty).
void measure_rate(AVStream* stream, const std::deque<PacketPtr>& first_packets, bool lists_stored,
                  SourceInfo& info);

/// Times are those of FrameTime: counted from `start`, a time stamp of the stream. If the container
/// does not list all frames, their times follow from the rate.
class FrameTimes {
 public:
  FrameTimes(AVStream* stream, std::int64_t start, bool lists_all_frames, const SourceInfo& info);
  /// All times, rising; not empty.
  explicit FrameTimes(std::vector<std::int64_t> times)
      : times_(std::move(times)), first_(times_.front()) {}

  /// The frame that is shown at `pts`.
  std::int64_t index_at(std::int64_t pts) const noexcept;
  std::int64_t time_of(std::int64_t index) const noexcept;
  std::int64_t first() const noexcept { return first_; }
  /// True if the time of every frame is known.
  bool lists_all() const noexcept { return !times_.empty(); }
  /// How many frames there are if lists_all().
  std::int64_t count() const noexcept { return static_cast<std::int64_t>(times_.size()); }

 private:
  std::vector<std::int64_t> times_;  // sorted; empty = by the rate
  std::int64_t first_ = 0;
  double ticks_per_frame_ = 1.0;
};

}  // namespace zerorun::io::av
