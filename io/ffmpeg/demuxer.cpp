// Reads the packets of a video stream, describes it, and finds which frame is shown when.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/demuxer.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "codec/base/try.hpp"
#include "io/ffmpeg/container_bytes.hpp"
#include "io/ffmpeg/container_content.hpp"

namespace zerorun::io::av {
namespace {

/// "mov,mp4,m4a,3gp,3g2,mj2" is one demuxer; the major brand tells which of them it is.
std::string container_name(AVFormatContext& context) {
  const std::string_view names = context.iformat->name;
  if (names.starts_with("mov,")) {
    const AVDictionaryEntry* brand = av_dict_get(context.metadata, "major_brand", nullptr, 0);
    return brand == nullptr || std::string_view(brand->value) == "qt  " ? "mov" : "mp4";
  }
  return std::string(names.substr(0, names.find(',')));
}

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

/// Only of single pictures: others cannot be decoded twice.
void Demuxer::repeat_dropped() {
  const bool is_avi = std::string_view(context_->iformat->name) == "avi";
  if (!is_avi || !is_intra_only(stream_) || !info_.variable_frame_rate) return;
  fills_gaps_ = true;
  info_.variable_frame_rate = false;
  info_.frame_rate = {info_.time_base.den, info_.time_base.num};
  info_.frame_count = -1;
  last_.reset(av_packet_alloc());
}

Result<bool> Demuxer::read(AVPacket& packet) {
  ZR_LET(more, read_stored(packet));
  if (!more || !fills_gaps_ || !last_ || repeats_last(packet)) return more;
  av_packet_unref(last_.get());
  if (av_packet_ref(last_.get(), &packet) < 0) return Status(Errc::out_of_memory);
  return true;
}

/// Puts `packet` back and makes it the last one again, a tick later, if there is a gap before it.
bool Demuxer::repeats_last(AVPacket& packet) {
  constexpr std::int64_t kMostRepeats = 10'000;  // more are a jump in time
  const std::int64_t gap = packet.pts - last_->pts;
  if (last_->size == 0 || packet.pts == AV_NOPTS_VALUE || gap < 2 || gap > kMostRepeats)
    return false;
  PacketPtr next(av_packet_alloc());
  if (!next) return false;
  av_packet_move_ref(next.get(), &packet);
  ahead_.push_front(std::move(next));
  ++last_->pts;
  ++last_->dts;
  return av_packet_ref(&packet, last_.get()) >= 0;
}

Result<bool> Demuxer::read_stored(AVPacket& packet) {
  if (!ahead_.empty()) {
    av_packet_unref(&packet);
    av_packet_move_ref(&packet, ahead_.front().get());
    ahead_.pop_front();
    return true;
  }
  if (!ahead_error_) return std::exchange(ahead_error_, Status::ok());
  return next_packet(packet);
}

bool Demuxer::can_seek() const noexcept {
  return !pipe_ && timeout_seconds_ <= 0 && context_->pb != nullptr &&
         (context_->pb->seekable & AVIO_SEEKABLE_NORMAL) != 0;
}

Status Demuxer::seek(std::int64_t pts) {
  ahead_.clear();
  ahead_error_ = Status::ok();
  if (last_) av_packet_unref(last_.get());
  // Clip far ends so that adding the start cannot overflow.
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  const std::int64_t wanted = std::clamp(pts, -kFar, kFar) + start_;
  int error = av_seek_frame(context_, stream_->index, wanted, AVSEEK_FLAG_BACKWARD);
  if (error < 0) {
    const std::int64_t first = stream_->start_time != AV_NOPTS_VALUE ? stream_->start_time : 0;
    error = av_seek_frame(context_, stream_->index, first, AVSEEK_FLAG_BACKWARD);
  }
  if (error < 0) error = avformat_seek_file(context_, -1, INT64_MIN, 0, INT64_MAX, 0);
  return error < 0 ? failure(Errc::read_failed, name_, error) : Status::ok();
}

/// The times of a Matroska file whose frames are all key frames. The walk has to agree with the
/// packets that were read at the start.
std::optional<FrameTimes> Demuxer::walked_times() {
  if (!std::string_view(context_->iformat->name).starts_with("matroska") || !can_seek() ||
      missing_bytes_ > 0 || !is_intra_only(stream_))
    return std::nullopt;
  const auto file = ByteReader::open(name_);
  if (!file) return std::nullopt;
  auto times = mkv_frame_times(*file);
  if (!times || times->size() < first_times_.size() ||
      !std::equal(first_times_.begin(), first_times_.end(), times->begin()))
    return std::nullopt;
  for (std::int64_t& time : *times) time -= start_;
  return FrameTimes(*std::move(times));
}

std::int64_t Demuxer::listed_frames() {
  const bool is_known = info_.frame_count >= 0 || !finds_index() || !times().lists_all();
  return is_known ? -1 : times().count();
}

const FrameTimes& Demuxer::times() {
  if (!times_) times_ = walked_times();
  if (!times_) {
    // MOV, MP4 and AVI files have an index of all frames, if they are whole. Its times are decoding
    // times, which are presentation times too if all frames are key frames.
    const bool is_avi = std::string_view(context_->iformat->name) == "avi";
    const bool lists_all_frames = is_intra_only(stream_) && !fills_gaps_ &&
                                  (has_whole_index(stream_) || (is_avi && has_index_));
    times_.emplace(stream_, start_, lists_all_frames, info_);
  }
  return *times_;
}

bool Demuxer::finds_index() {
  if (!can_seek() || missing_bytes_ > 0 || fills_gaps_) return false;
  return times().lists_all() || (has_whole_index(stream_) && !info_.variable_frame_rate);
}

/// Reads some packets if the container has no index with the time of every frame.
Status Demuxer::look_ahead() {
  if (has_whole_index(stream_) || timeout_seconds_ > 0) return Status::ok();
  constexpr std::size_t kPackets = 32;  // enough for a rate, few enough to keep
  constexpr std::int64_t kBytes = std::int64_t{8} << 20;
  std::int64_t bytes = 0;
  while (ahead_.size() < kPackets && bytes < kBytes) {
    PacketPtr packet(av_packet_alloc());
    if (!packet) return Status(Errc::out_of_memory);
    Result<bool> more = next_packet(*packet);
    if (!more) ahead_error_ = more.status();
    if (!more || !*more) break;
    bytes += packet->size;
    first_times_.push_back(packet->pts);
    ahead_.push_back(std::move(packet));
  }
  return Status::ok();
}

Result<bool> Demuxer::next_packet(AVPacket& packet) {
  for (;;) {
    av_packet_unref(&packet);
    if (timeout_seconds_ > 0) reads_.end_within(timeout_seconds_);
    int error = av_read_frame(context_, &packet);
    if (timeout_seconds_ > 0 && error < 0) {
      const int io_error = connection_ != nullptr ? connection_->error : 0;
      if (error == AVERROR_EOF && io_error < 0) error = io_error;
      if (error != AVERROR_EOF && delivered_ == 0)
        return failure_of_address(Errc::read_failed, error);
      live_end_ = reads_.is_late() || error == AVERROR_EXIT ? AVERROR(ETIMEDOUT) : error;
      return false;
    }
    if (timeout_seconds_ > 0 && (packet.flags & AV_PKT_FLAG_CORRUPT) != 0) continue;  // cut short
    if (error == AVERROR_EOF || error == AVERROR_INVALIDDATA) {
      // A demuxer may report the end of a damaged file as invalid; what came before is good.
      if (pipe_ && !pipe_->error()) return pipe_->error();
      const int io_error = context_->pb != nullptr ? context_->pb->error : 0;
      if (io_error < 0 && io_error != AVERROR_EOF)
        return failure(Errc::read_failed, name_, io_error);
      if (delivered_ == 0 && error == AVERROR_INVALIDDATA)
        return Status(Errc::bad_input,
                      "'" + name_ + "': no picture can be read from it" +
                          (pipe_ ? "; this format may need a file instead of a pipe" : ""));
      return false;
    }
    if (error < 0) return failure(Errc::read_failed, name_, error);
    // Empty packets stand for repeated frames in AVI; the time stamps show the repetition.
    if (packet.stream_index != stream_->index || packet.size == 0) continue;
    ++delivered_;
    return true;
  }
}

std::string Demuxer::notice() const {
  const int error = live_end_;
  if (error == 0 || error == AVERROR_EOF) return {};
  return "'" + name_ + "': " +
         (error == AVERROR(ETIMEDOUT)
              ? "nothing came for " + std::to_string(std::lround(timeout_seconds_)) + " seconds"
              : "the connection was lost (" + reason(error) + ")") +
         "; what came before is used";
}

void Demuxer::describe() {
  info_.is_live = timeout_seconds_ > 0;
  info_.container = container_name(*context_);
  const AVCodecParameters& codec = *stream_->codecpar;
  info_.width = codec.width;
  info_.height = codec.height;
  info_.time_base = from_av(stream_->time_base);
  measure_rate(stream_, ahead_, has_index_ && info_.container == "avi", info_);
  const AVRational aspect = av_guess_sample_aspect_ratio(context_, stream_, nullptr);
  if (from_av(aspect).known()) info_.sample_aspect = from_av(aspect);
  read_display_matrix(*stream_, info_);
  info_.content = content_of(*context_, *stream_);
  info_.frame_count = stream_->nb_frames > 0 ? stream_->nb_frames : -1;
  // An AVI header counts repeated frames (empty chunks), too; the index lists the stored ones.
  // Without an index FFmpeg lists the frames that it has read so far.
  if (info_.container == "avi")
    info_.frame_count = has_index_ ? avformat_index_get_entries_count(stream_) : -1;
  info_.missing_bytes = missing_bytes_;
  if (missing_bytes_ > 0) info_.frame_count = -1;
  if (context_->duration > 0)
    info_.duration_seconds = static_cast<double>(context_->duration) / AV_TIME_BASE;
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    info_.has_audio |= context_->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  info_.codec = avcodec_get_name(codec.codec_id);
}

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
