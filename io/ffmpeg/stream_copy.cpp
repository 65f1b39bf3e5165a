// The sound, subtitles and attachments of a file, trimmed to a range of time.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/muxer.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "codec/base/try.hpp"
#include "io/ffmpeg/container_content.hpp"
#include "io/output/sinks.hpp"

namespace zerorun::io::av {
namespace {

/// MOV, MP4 and Matroska want AAC without the ADTS headers that MPEG-TS and AVI have.
bool has_adts(const AVCodecParameters& codec) noexcept {
  return codec.codec_id == AV_CODEC_ID_AAC && codec.extradata_size == 0;
}

/// No subtitles in MOV and MP4: FFmpeg writes samples of its own between them, for which MovIndex
/// has no place.
bool fits(const AVOutputFormat& container, AVMediaType type, AVCodecID codec) {
  const std::string_view name = container.name;
  if (type == AVMEDIA_TYPE_ATTACHMENT) return name == "matroska";
  if (type == AVMEDIA_TYPE_SUBTITLE && (name == "mov" || name == "mp4")) return false;
  return avformat_query_codec(&container, codec, FF_COMPLIANCE_NORMAL) == 1;
}

/// Bytes of a sample of all channels; 0 if silence is not all zeros, or 128 for unsigned samples.
std::size_t pcm_bytes(const AVCodecParameters& codec) noexcept {
  const std::string_view name = avcodec_get_name(codec.codec_id);
  if (!name.starts_with("pcm_s") && !name.starts_with("pcm_f") && name != "pcm_u8") return 0;
  const int bits = av_get_bits_per_sample(codec.codec_id) * codec.ch_layout.nb_channels;
  return bits > 0 ? static_cast<std::size_t>(bits) / 8 : 0;
}

}  // namespace

Result<std::unique_ptr<StreamCopy>> StreamCopy::open(const SinkOptions& options,
                                                     const AVOutputFormat& container) {
  std::unique_ptr<StreamCopy> copy(new StreamCopy);
  copy->copies_sound_ = !options.audio_from.empty();
  copy->name_ = copy->copies_sound_ ? options.audio_from : options.streams_from;
  copy->copies_others_ = copy->name_ == options.streams_from;
  copy->start_ = options.audio_start_seconds;
  copy->end_ = options.audio_end_seconds;
  copy->packet_.reset(av_packet_alloc());
  copy->silence_.reset(av_packet_alloc());
  if (!copy->packet_ || !copy->silence_) return Status(Errc::out_of_memory);
  ZR_LET(opened, open_file(copy->name_, copy->reads_));
  copy->context_ = std::move(opened);
  ZR_TRY(copy->choose_tracks(container));
  if (copy->start_ > 0 && copy->has_streams()) {
    const auto target =
        static_cast<std::int64_t>(copy->start_ * AV_TIME_BASE) +
        (copy->context_->start_time == AV_NOPTS_VALUE ? 0 : copy->context_->start_time);
    // This only saves reading: if it fails, packets before the start are skipped one by one.
    avformat_seek_file(copy->context_.get(), -1, INT64_MIN, target, target, 0);
  }
  return copy;
}

Status StreamCopy::choose_tracks(const AVOutputFormat& container) {
  track_of_stream_.assign(context_->nb_streams, -1);
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    AVStream* stream = context_->streams[i];
    stream->discard = AVDISCARD_ALL;
    const AVMediaType type = stream->codecpar->codec_type;
    const bool is_other = type == AVMEDIA_TYPE_SUBTITLE || type == AVMEDIA_TYPE_ATTACHMENT;
    const bool is_wanted =
        (type == AVMEDIA_TYPE_AUDIO && copies_sound_) || (is_other && copies_others_);
    if (!is_wanted || !fits(container, type, stream->codecpar->codec_id)) continue;
    Track track;
    track.stream = stream;
    track.needs_silence = std::string_view(container.name) == "avi" && type == AVMEDIA_TYPE_AUDIO &&
                          pcm_bytes(*stream->codecpar) > 0;
    ZR_TRY(set_filter(track));
    stream->discard = AVDISCARD_DEFAULT;
    track_of_stream_[i] = static_cast<int>(tracks_.size());
    tracks_.push_back(std::move(track));
  }
  return Status::ok();
}

Status StreamCopy::set_filter(Track& track) {
  if (!has_adts(*track.stream->codecpar)) return Status::ok();
  const AVBitStreamFilter* filter = av_bsf_get_by_name("aac_adtstoasc");
  AVBSFContext* made = nullptr;
  if (filter == nullptr || av_bsf_alloc(filter, &made) < 0) return Status(Errc::out_of_memory);
  track.filter.reset(made);
  made->time_base_in = track.stream->time_base;
  int error = avcodec_parameters_copy(made->par_in, track.stream->codecpar);
  if (error >= 0) error = av_bsf_init(made);
  return error < 0 ? failure(Errc::bad_input, name_, error) : Status::ok();
}

Status StreamCopy::add_streams(AVFormatContext& output) const {
  for (const Track& track : tracks_) {
    AVStream* stream = avformat_new_stream(&output, nullptr);
    if (stream == nullptr || avcodec_parameters_copy(stream->codecpar, track.stream->codecpar) < 0)
      return Status(Errc::out_of_memory);
    stream->codecpar->codec_tag = 0;  // the muxer chooses its own
    stream->time_base = track.stream->time_base;
    stream->disposition = track.stream->disposition;
    set_stream_tags(tags_of(track.stream->metadata), output, *stream);
  }
  return Status::ok();
}

AVRational StreamCopy::time_base(const AVPacket& packet) const {
  return tracks_[static_cast<std::size_t>(packet.stream_index - 1)].stream->time_base;
}

/// Sets the times of packet_ to the output's; false if it lies before the range.
bool StreamCopy::place(Track& track) {
  const AVRational clock = track.stream->time_base;
  std::int64_t zero = std::llround(start_ / av_q2d(clock));
  if (context_->start_time != AV_NOPTS_VALUE)
    zero += av_rescale_q(context_->start_time, AV_TIME_BASE_Q, clock);
  std::int64_t pts = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
  pts = pts == AV_NOPTS_VALUE ? track.next_pts : pts - zero;
  track.next_pts = pts + packet_->duration;
  packet_->pts = packet_->dts = pts;
  packet_->pos = -1;
  // A packet that begins before the start is left out: some milliseconds of silence at most. A
  // negative time would shift the video in some containers.
  return pts >= 0;
}

Result<bool> StreamCopy::read_packet() {
  for (;;) {
    av_packet_unref(packet_.get());
    const int error = av_read_frame(context_.get(), packet_.get());
    if (error == AVERROR_EOF || error == AVERROR_INVALIDDATA) return false;
    if (error < 0) return failure(Errc::read_failed, name_, error);
    const int index = track_of_stream_[static_cast<std::size_t>(packet_->stream_index)];
    if (index < 0 || packet_->size == 0) continue;
    Track& track = tracks_[static_cast<std::size_t>(index)];
    if (track.filter) {
      const bool passed = av_bsf_send_packet(track.filter.get(), packet_.get()) >= 0 &&
                          av_bsf_receive_packet(track.filter.get(), packet_.get()) >= 0;
      if (!passed) continue;  // damaged
    }
    packet_->stream_index = index + 1;
    if (!place(track)) continue;
    return true;
  }
}

/// Silence from the start up to packet_, the first packet of its track; packet_ itself if there is
/// no gap.
Result<const AVPacket*> StreamCopy::silence(Track& track) {
  const AVCodecParameters& codec = *track.stream->codecpar;
  constexpr std::int64_t kMostSeconds = 600;
  const AVRational clock = track.stream->time_base;
  const std::int64_t samples =
      std::min(av_rescale_q(packet_->pts, clock, {1, std::max(codec.sample_rate, 1)}),
               kMostSeconds * codec.sample_rate);
  if (samples <= 0) {
    pending_ = false;
    return packet_.get();
  }
  const auto bytes = static_cast<std::size_t>(samples) * pcm_bytes(codec);
  av_packet_unref(silence_.get());
  if (bytes > INT32_MAX || av_new_packet(silence_.get(), static_cast<int>(bytes)) < 0)
    return Status(Errc::out_of_memory);
  std::memset(silence_->data, codec.codec_id == AV_CODEC_ID_PCM_U8 ? 0x80 : 0, bytes);
  silence_->stream_index = packet_->stream_index;
  silence_->pts = silence_->dts = 0;
  silence_->duration = packet_->pts;
  silence_->flags = AV_PKT_FLAG_KEY;
  return silence_.get();
}

Result<const AVPacket*> StreamCopy::next_before(double until_seconds) {
  if (at_end_) return static_cast<const AVPacket*>(nullptr);
  if (!pending_) {
    ZR_LET(more, read_packet());
    at_end_ = !more;
    if (at_end_) return static_cast<const AVPacket*>(nullptr);
  }
  Track& track = tracks_[static_cast<std::size_t>(packet_->stream_index - 1)];
  if (std::exchange(track.needs_silence, false)) {
    pending_ = true;
    return silence(track);
  }
  const double begins = static_cast<double>(packet_->pts) * av_q2d(time_base(*packet_));
  const bool over = end_ >= 0 && begins >= end_ - start_;
  pending_ = over || begins >= until_seconds;
  return pending_ ? nullptr : packet_.get();
}

}  // namespace zerorun::io::av

namespace zerorun::io {

bool container_holds(const std::string& muxer, const SourceFact& fact) {
  if (muxer.empty() || !av::load()) return false;
  if (fact.fact == Fact::languages) return av::holds_language(muxer, fact.value);
  const AVOutputFormat* container = av_guess_format(muxer.c_str(), nullptr, nullptr);
  const AVCodecDescriptor* codec = avcodec_descriptor_get_by_name(fact.value.c_str());
  return container != nullptr && codec != nullptr && av::fits(*container, codec->type, codec->id);
}

}  // namespace zerorun::io
