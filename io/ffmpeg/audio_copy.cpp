// The audio packets of a file, trimmed to a range of time.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/audio_copy.hpp"

#include <algorithm>
#include <cmath>

#include "codec/base/try.hpp"

namespace zerorun::io::av {
namespace {

/// MOV, MP4 and Matroska want AAC without the ADTS headers that MPEG-TS and AVI have.
bool has_adts(const AVCodecParameters& codec) noexcept {
  return codec.codec_id == AV_CODEC_ID_AAC && codec.extradata_size == 0;
}

bool fits(const AVOutputFormat& container, const AVCodecParameters& codec) {
  return avformat_query_codec(&container, codec.codec_id, FF_COMPLIANCE_NORMAL) == 1;
}

}  // namespace

AudioCopy::~AudioCopy() { avformat_close_input(&context_); }

Result<std::unique_ptr<AudioCopy>> AudioCopy::open(const SinkOptions& options,
                                                   const AVOutputFormat& container) {
  keep_quiet();
  std::unique_ptr<AudioCopy> audio(new AudioCopy);
  audio->name_ = options.audio_from;
  audio->start_ = options.audio_start_seconds;
  audio->end_ = options.audio_end_seconds;
  audio->packet_.reset(av_packet_alloc());
  if (!audio->packet_) return Status(Errc::out_of_memory);
  Dictionary protocols;
  set_input_limits(protocols);
  const std::string url = "file:" + audio->name_;
  audio->context_ = avformat_alloc_context();
  if (audio->context_ == nullptr) return Status(Errc::out_of_memory);
  audio->context_->interrupt_callback = audio->reads_.callback();
  int error = avformat_open_input(&audio->context_, url.c_str(), nullptr, protocols.out());
  if (error < 0) return failure(Errc::open_failed, audio->name_, error);
  ZR_TRY(find_streams(*audio->context_, audio->name_));
  ZR_TRY(audio->choose_tracks(container));
  if (audio->start_ > 0 && audio->has_streams()) {
    const auto target =
        static_cast<std::int64_t>(audio->start_ * AV_TIME_BASE) +
        (audio->context_->start_time == AV_NOPTS_VALUE ? 0 : audio->context_->start_time);
    // This only saves reading: if it fails, packets before the start are skipped one by one.
    avformat_seek_file(audio->context_, -1, INT64_MIN, target, target, 0);
  }
  return audio;
}

Status AudioCopy::choose_tracks(const AVOutputFormat& container) {
  track_of_stream_.assign(context_->nb_streams, -1);
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    AVStream* stream = context_->streams[i];
    stream->discard = AVDISCARD_ALL;
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_AUDIO) continue;
    if (!fits(container, *stream->codecpar)) {
      notice_ += std::string(notice_.empty() ? "" : "; ") + "the audio (" +
                 avcodec_get_name(stream->codecpar->codec_id) + ") is left out, for " +
                 container.name + " cannot hold it";
      continue;
    }
    Track track;
    track.stream = stream;
    ZR_TRY(set_filter(track));
    stream->discard = AVDISCARD_DEFAULT;
    track_of_stream_[i] = static_cast<int>(tracks_.size());
    tracks_.push_back(std::move(track));
  }
  return Status::ok();
}

Status AudioCopy::set_filter(Track& track) {
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

Status AudioCopy::add_streams(AVFormatContext& output) const {
  for (const Track& track : tracks_) {
    AVStream* stream = avformat_new_stream(&output, nullptr);
    if (stream == nullptr || avcodec_parameters_copy(stream->codecpar, track.stream->codecpar) < 0)
      return Status(Errc::out_of_memory);
    stream->codecpar->codec_tag = 0;  // the muxer chooses its own
    stream->time_base = track.stream->time_base;
    stream->disposition = track.stream->disposition;
    const AVDictionaryEntry* language = av_dict_get(track.stream->metadata, "language", nullptr, 0);
    if (language != nullptr) av_dict_set(&stream->metadata, "language", language->value, 0);
  }
  return Status::ok();
}

AVRational AudioCopy::time_base(const AVPacket& packet) const {
  return tracks_[static_cast<std::size_t>(packet.stream_index - 1)].stream->time_base;
}

/// Sets the times of packet_ to the output's; false if it lies before the range.
bool AudioCopy::place(Track& track) {
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

Result<bool> AudioCopy::read_packet() {
  for (;;) {
    av_packet_unref(packet_.get());
    const int error = av_read_frame(context_, packet_.get());
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

Result<const AVPacket*> AudioCopy::next_before(double until_seconds) {
  if (at_end_) return static_cast<const AVPacket*>(nullptr);
  if (!pending_) {
    ZR_LET(more, read_packet());
    at_end_ = !more;
    if (at_end_) return static_cast<const AVPacket*>(nullptr);
  }
  const double begins = static_cast<double>(packet_->pts) * av_q2d(time_base(*packet_));
  const bool over = end_ >= 0 && begins >= end_ - start_;
  pending_ = over || begins >= until_seconds;
  return pending_ ? nullptr : packet_.get();
}

}  // namespace zerorun::io::av
