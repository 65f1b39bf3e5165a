// Which frame of a container is shown when.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/frame_times.hpp"

#include <algorithm>
#include <cmath>

namespace zerorun::io::av {

FrameTimes::FrameTimes(Demuxer& demuxer, const SourceInfo& info) {
  AVStream* stream = &demuxer.stream();
  if (stream->start_time != AV_NOPTS_VALUE) first_ = demuxer.from_start(stream->start_time);
  constexpr double kUnknownRate = 25.0;
  const double rate = info.frame_rate.known() ? info.frame_rate.value() : kUnknownRate;
  ticks_per_frame_ = 1.0 / (rate * info.time_base.value());
  if (!demuxer.lists_all_frames()) return;
  const int entries = avformat_index_get_entries_count(stream);
  times_.reserve(static_cast<std::size_t>(entries));
  for (int i = 0; i < entries; ++i) {
    const AVIndexEntry* entry = avformat_index_get_entry(stream, i);
    if (entry->flags & AVINDEX_DISCARD_FRAME) continue;
    times_.push_back(demuxer.from_start(entry->timestamp));
  }
  // An index of decoding times, or one that is damaged, is no list of what is shown.
  if (!std::is_sorted(times_.begin(), times_.end())) times_.clear();
  if (!times_.empty()) first_ = times_.front();
}

std::int64_t FrameTimes::index_at(std::int64_t pts) const noexcept {
  if (times_.empty()) {
    // Clocks round: a frame that is less than half a frame early is the one that was meant.
    const double frames = static_cast<double>(pts - first_) / ticks_per_frame_;
    return std::max<std::int64_t>(std::llround(frames), 0);
  }
  const auto after = std::upper_bound(times_.begin(), times_.end(), pts);
  return std::max<std::int64_t>(after - times_.begin() - 1, 0);
}

std::int64_t FrameTimes::time_of(std::int64_t index) const noexcept {
  index = std::max<std::int64_t>(index, 0);
  if (times_.empty())
    return first_ + std::llround((static_cast<double>(index) + 0.25) * ticks_per_frame_);
  return times_[std::min(static_cast<std::size_t>(index), times_.size() - 1)];
}

}  // namespace zerorun::io::av
