// Which frame of a container is shown when, and at which rate.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "io/ffmpeg/demuxer.hpp"

namespace zerorun::io::av {
namespace {

/// True if the two rates place the frames of `span_ticks` within two ticks of each other.
bool agree(const Rational& a, const Rational& b, std::int64_t span_ticks) noexcept {
  const double ratio = a.value() / b.value();
  return std::abs(ratio - 1) * static_cast<double>(span_ticks) <= 2.0;
}

/// The first packets may have another rate than the rest, which the header knows. Times of few
/// frames are coarse: see agree(), too.
bool are_alike(const Rational& average, const Rational& measured) noexcept {
  return std::abs(average.value() / measured.value() - 1) < 0.01;
}

/// Presentation times in order, of all frames or of the first packets.
std::vector<std::int64_t> sample_times(AVStream* stream, const std::deque<PacketPtr>& first_packets,
                                       bool lists_stored) {
  std::vector<std::int64_t> times;
  if (has_whole_index(stream) || lists_stored) {
    // The steps of decoding times are those of presentation times in another order.
    for (int i = 0; i < avformat_index_get_entries_count(stream); ++i)
      times.push_back(avformat_index_get_entry(stream, i)->timestamp);
    return times;
  }
  for (const PacketPtr& packet : first_packets)
    if (packet->pts != AV_NOPTS_VALUE) times.push_back(packet->pts);
  std::sort(times.begin(), times.end());
  // Frames that are shown before the last ones may come later.
  constexpr std::size_t kReordered = 4;
  const bool intra = is_intra_only(stream);
  if (!intra && times.size() > 2 * kReordered) times.resize(times.size() - kReordered);
  return times;
}

}  // namespace

bool has_whole_index(AVStream* stream) noexcept {
  return stream->nb_frames > 2 && avformat_index_get_entries_count(stream) == stream->nb_frames;
}

bool is_intra_only(AVStream* stream) noexcept {
  const AVCodecDescriptor* codec = avcodec_descriptor_get(stream->codecpar->codec_id);
  return codec != nullptr && (codec->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
}

void measure_rate(AVStream* stream, const std::deque<PacketPtr>& first_packets, bool lists_stored,
                  SourceInfo& info) {
  const Rational average = from_av(stream->avg_frame_rate), base = from_av(stream->r_frame_rate);
  const std::vector<std::int64_t> times = sample_times(stream, first_packets, lists_stored);
  constexpr std::size_t kFewest = 3;
  if (times.size() < kFewest) {
    info.frame_rate = average.known() ? average : base;
    return;
  }
  std::int64_t least = INT64_MAX, most = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    least = std::min(least, times[i] - times[i - 1]);
    most = std::max(most, times[i] - times[i - 1]);
  }
  // An index of AVI counts frames; other clocks round.
  info.variable_frame_rate = most - least > (lists_stored ? 0 : 1);
  const std::int64_t span = times.back() - times.front();
  const auto steps = static_cast<std::int64_t>(times.size()) - 1;
  AVRational reduced{0, 1};
  if (span > 0)
    av_reduce(&reduced.num, &reduced.den, steps * stream->time_base.den,
              span * stream->time_base.num, INT32_MAX);
  const Rational measured = from_av(reduced);
  if (!has_whole_index(stream) && !lists_stored && average.known() && measured.known() &&
      !are_alike(average, measured) && !agree(average, measured, span))
    info.variable_frame_rate = true;
  if (info.variable_frame_rate) {
    info.frame_rate = average.known() ? average : measured;
    return;
  }
  info.frame_rate = measured.known() ? measured : average;
  // The header's fractions are exact; the times carry the rounding of the clock.
  for (const Rational& exact : {average, base})
    if (exact.known() && measured.known() && agree(exact, measured, span)) info.frame_rate = exact;
}

FrameTimes::FrameTimes(AVStream* stream, std::int64_t start, bool lists_all_frames,
                       const SourceInfo& info) {
  if (stream->start_time != AV_NOPTS_VALUE) first_ = stream->start_time - start;
  constexpr double kUnknownRate = 25.0;
  const double rate = info.frame_rate.known() ? info.frame_rate.value() : kUnknownRate;
  ticks_per_frame_ = 1.0 / (rate * info.time_base.value());
  if (!lists_all_frames) return;
  const int entries = avformat_index_get_entries_count(stream);
  times_.reserve(static_cast<std::size_t>(entries));
  for (int i = 0; i < entries; ++i) {
    const AVIndexEntry* entry = avformat_index_get_entry(stream, i);
    if (entry->flags & AVINDEX_DISCARD_FRAME) continue;
    times_.push_back(entry->timestamp - start);
  }
  // Unsorted times are decoding times or a damaged index, not times of presentation.
  if (!std::is_sorted(times_.begin(), times_.end())) times_.clear();
  if (!times_.empty()) first_ = times_.front();
}

std::int64_t FrameTimes::index_at(std::int64_t pts) const noexcept {
  if (times_.empty()) {
    // Clocks round: a time less than half a frame early means that frame.
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
