// The sound of a file, decoded by FFmpeg and resampled.
// SPDX-License-Identifier: MIT
extern "C" {
#include <libavutil/channel_layout.h>
#include <libswresample/swresample.h>
}

#include <algorithm>
#include <cmath>
#include <vector>

#include "codec/base/try.hpp"
#include "io/ffmpeg/av.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {
namespace {

/// Smaller steps between packets are rounded time stamps. Larger ones are gaps; a gap of more than
/// the second number is a damaged time stamp.
constexpr double kLeastGap = 0.05, kLongestGap = 10.0;

struct ResamplerRelease {
  void operator()(SwrContext* p) const noexcept { swr_free(&p); }
};

class FfmpegAudio final : public AudioSource {
 public:
  FfmpegAudio(std::string name, const AudioFormat& format)
      : name_(std::move(name)), format_(format) {}

  Status open();
  Result<std::size_t> read(std::span<float> samples) override;
  Status seek(double seconds) override;

 private:
  Status open_decoder(const AVCodec& codec);
  Status set_resampler();
  Result<bool> decode_next();
  Result<bool> receive();
  Status send_next();
  Status take_frame();
  std::size_t place(double begins);
  std::size_t channels() const noexcept { return static_cast<std::size_t>(format_.channels); }

  const std::string name_;
  const AudioFormat format_;
  av::InterruptedReads reads_;
  av::InputPtr context_;
  const AVStream* stream_ = nullptr;
  av::CodecPtr decoder_;
  std::unique_ptr<SwrContext, ResamplerRelease> resampler_;
  int from_rate_ = 0, from_format_ = -1, from_channels_ = 0;  // of resampler_
  av::PacketPtr packet_;
  av::FramePtr frame_;
  bool input_ended_ = false;
  std::vector<float> ready_;  // converted and not yet read
  std::size_t used_ = 0;      // of ready_
  double next_ = 0;           // seconds, of the sample behind ready_
  bool sought_ = true;        // the next sample has to be that of next_ exactly
};

Status FfmpegAudio::open() {
  packet_.reset(av_packet_alloc());
  frame_.reset(av_frame_alloc());
  if (!packet_ || !frame_) return Status(Errc::out_of_memory);
  ZR_LET(opened, av::open_file(name_, reads_));
  context_ = std::move(opened);
  const AVCodec* codec = nullptr;
  const int index = av_find_best_stream(context_.get(), AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0);
  if (index < 0 || codec == nullptr) return av::failure(Errc::bad_input, name_, index);
  stream_ = context_->streams[index];
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    if (static_cast<int>(i) != index) context_->streams[i]->discard = AVDISCARD_ALL;
  return open_decoder(*codec);
}

Status FfmpegAudio::open_decoder(const AVCodec& codec) {
  decoder_.reset(avcodec_alloc_context3(&codec));
  if (!decoder_) return Status(Errc::out_of_memory);
  int error = avcodec_parameters_to_context(decoder_.get(), stream_->codecpar);
  decoder_->pkt_timebase = stream_->time_base;
  if (error >= 0) error = avcodec_open2(decoder_.get(), &codec, nullptr);
  return error < 0 ? av::failure(Errc::bad_input, name_, error) : Status::ok();
}

/// Rate, format or channels may change in the middle of a stream.
Status FfmpegAudio::set_resampler() {
  const AVChannelLayout& from = frame_->ch_layout;
  if (resampler_ && frame_->sample_rate == from_rate_ && frame_->format == from_format_ &&
      from.nb_channels == from_channels_)
    return Status::ok();
  AVChannelLayout to{}, known = from;  // swr_alloc_set_opts2() copies both
  av_channel_layout_default(&to, format_.channels);
  // A file may say how many channels there are, but not which.
  if (from.order == AV_CHANNEL_ORDER_UNSPEC) av_channel_layout_default(&known, from.nb_channels);
  SwrContext* made = nullptr;
  int error = swr_alloc_set_opts2(&made, &to, AV_SAMPLE_FMT_FLT, format_.sample_rate, &known,
                                  static_cast<AVSampleFormat>(frame_->format), frame_->sample_rate,
                                  0, nullptr);
  resampler_.reset(made);
  if (error >= 0) error = swr_init(made);
  if (error < 0) return av::failure(Errc::bad_input, name_, error);
  from_rate_ = frame_->sample_rate;
  from_format_ = frame_->format;
  from_channels_ = from.nb_channels;
  return Status::ok();
}

/// Returns how many of the next samples, which begin at `begins`, lie before next_. If they begin
/// later, silence fills the gap.
std::size_t FfmpegAudio::place(double begins) {
  const double gap = begins - next_;
  const bool is_small = std::abs(gap)<kLeastGap, is_jump = std::abs(gap)> kLongestGap;
  if (!sought_ && (is_small || is_jump)) return 0;
  const auto frames = static_cast<std::size_t>(
      std::llround(std::min(std::abs(gap), kLongestGap) * format_.sample_rate));
  if (gap < 0) return frames;
  ready_.insert(ready_.end(), frames * channels(), 0.0F);
  next_ += static_cast<double>(frames) / format_.sample_rate;
  return 0;
}

/// Appends the samples of frame_ that lie behind next_.
Status FfmpegAudio::take_frame() {
  ZR_TRY(set_resampler());
  const std::int64_t pts = frame_->best_effort_timestamp;
  const double zero = context_->start_time == AV_NOPTS_VALUE
                          ? 0.0
                          : static_cast<double>(context_->start_time) / AV_TIME_BASE;
  const double begins =
      pts == AV_NOPTS_VALUE ? next_ : static_cast<double>(pts) * av_q2d(stream_->time_base) - zero;
  const std::size_t early = place(begins);
  const int room = swr_get_out_samples(resampler_.get(), frame_->nb_samples);
  if (room < 0) return av::failure(Errc::read_failed, name_, room);
  const std::size_t before = ready_.size();
  ready_.resize(before + static_cast<std::size_t>(room) * channels());
  auto* to = reinterpret_cast<std::uint8_t*>(ready_.data() + before);
  const int made =
      swr_convert(resampler_.get(), &to, room,
                  const_cast<const std::uint8_t**>(frame_->extended_data), frame_->nb_samples);
  ready_.resize(before + static_cast<std::size_t>(std::max(made, 0)) * channels());
  if (made < 0) return av::failure(Errc::read_failed, name_, made);
  const std::size_t skipped = std::min(early, static_cast<std::size_t>(made));
  if (skipped < static_cast<std::size_t>(made)) sought_ = false;
  const auto first = ready_.begin() + static_cast<std::ptrdiff_t>(before);
  ready_.erase(first, first + static_cast<std::ptrdiff_t>(skipped * channels()));
  next_ += static_cast<double>(static_cast<std::size_t>(made) - skipped) / format_.sample_rate;
  return Status::ok();
}

/// False if the decoder needs another packet.
Result<bool> FfmpegAudio::receive() {
  const int error = avcodec_receive_frame(decoder_.get(), frame_.get());
  if (error == AVERROR(ENOMEM)) return Status(Errc::out_of_memory);
  if (error < 0) return false;
  const Status status = take_frame();
  av_frame_unref(frame_.get());
  if (!status) return status;
  return true;
}

Status FfmpegAudio::send_next() {
  for (;;) {
    const int error = av_read_frame(context_.get(), packet_.get());
    if (error == AVERROR(ENOMEM)) return Status(Errc::out_of_memory);
    if (error < 0) {  // the end, or what cannot be read is the end
      input_ended_ = true;
      avcodec_send_packet(decoder_.get(), nullptr);
      return Status::ok();
    }
    const bool is_ours = packet_->stream_index == stream_->index;
    if (is_ours) avcodec_send_packet(decoder_.get(), packet_.get());  // a damaged packet is skipped
    av_packet_unref(packet_.get());
    if (is_ours) return Status::ok();
  }
}

/// False at the end.
Result<bool> FfmpegAudio::decode_next() {
  for (;;) {
    ZR_LET(received, receive());
    if (received) return true;
    if (input_ended_) return false;
    ZR_TRY(send_next());
  }
}

Result<std::size_t> FfmpegAudio::read(std::span<float> samples) {
  const std::size_t wanted = samples.size() / channels() * channels();
  while (ready_.size() - used_ < wanted) {
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    ZR_LET(more, decode_next());
    if (!more) break;
  }
  const std::size_t count = std::min(wanted, ready_.size() - used_);
  std::copy_n(ready_.begin() + static_cast<std::ptrdiff_t>(used_), count, samples.begin());
  used_ += count;
  return count;
}

Status FfmpegAudio::seek(double seconds) {
  seconds = std::max(seconds, 0.0);
  const std::int64_t zero = context_->start_time == AV_NOPTS_VALUE ? 0 : context_->start_time;
  // Before it, so that the decoder is in step when the time comes.
  constexpr double kEarlier = 0.1, kFar = 1e12;
  const auto target =
      zero + static_cast<std::int64_t>(std::clamp(seconds - kEarlier, -kFar, kFar) * AV_TIME_BASE);
  const int error = avformat_seek_file(context_.get(), -1, INT64_MIN, target, target, 0);
  if (error < 0 && av_seek_frame(context_.get(), -1, zero, AVSEEK_FLAG_BACKWARD) < 0)
    return av::failure(Errc::read_failed, name_, error);
  avcodec_flush_buffers(decoder_.get());
  resampler_.reset();
  ready_.clear();
  used_ = 0;
  input_ended_ = false;
  next_ = seconds;
  sought_ = true;
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path,
                                                const AudioFormat& format) {
  if (format.channels < 1 || format.channels > 8 || format.sample_rate < 1000 ||
      format.sample_rate > 384000)
    return Status(Errc::invalid_argument, "an audio format");
  ZR_TRY(av::load());
  auto audio = std::make_unique<FfmpegAudio>(path, format);
  ZR_TRY(audio->open());
  return std::unique_ptr<AudioSource>(std::move(audio));
}

}  // namespace zerorun::io
