// Writes JPEG packets and copied audio to MOV, MKV, AVI and MP4.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <utility>

#include "io/ffmpeg/container_content.hpp"
#include "io/ffmpeg/muxer.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"
#include "io/output/sinks.hpp"
#include "zerorun/ffmpeg.hpp"

namespace zerorun::io {
namespace av {
namespace {

/// The time base before the muxer chooses its own: one tick per frame at a constant rate.
AVRational video_time_base(const SinkOptions& options) {
  if (options.variable_frame_rate) return to_av(options.time_base);
  return av_inv_q(to_av(options.frame_rate));
}

/// Fills in a new stream. Errors: invalid_argument (no size, no rate), out_of_memory.
Status describe_video(const SinkOptions& options, AVStream& stream) {
  if (options.width < 1 || options.height < 1 || options.width > kMaxDimension ||
      options.height > kMaxDimension)
    return Status(Errc::invalid_argument, "the size of the video has to be 1x1 to 65535x65535");
  if (!options.variable_frame_rate && !options.frame_rate.known())
    return Status(Errc::invalid_argument, "the video needs a frame rate (--fps)");
  if (options.variable_frame_rate && !options.time_base.known())
    return Status(Errc::invalid_argument, "the time base is not a positive fraction");
  AVCodecParameters& codec = *stream.codecpar;
  ffmpeg::describe_stream(codec, options.width, options.height,
                          native_subsampling(options.coded_format));
  set_field_order(options.content, codec);
  set_colour(options.content, codec);
  if (options.content.is_default) stream.disposition |= AV_DISPOSITION_DEFAULT;
  if (options.sample_aspect.known())
    stream.sample_aspect_ratio = codec.sample_aspect_ratio = to_av(options.sample_aspect);
  stream.time_base = video_time_base(options);
  // A variable rate is not set: Matroska would make it the default duration of a frame.
  if (options.frame_rate.known() && !options.variable_frame_rate)
    stream.avg_frame_rate = stream.r_frame_rate = to_av(options.frame_rate);
  return is_turned(options) ? set_display_matrix(options, stream) : Status::ok();
}

/// A notice about options that the container cannot hold; empty if it holds all.
std::string video_notice(const SinkOptions& options, const std::string& muxer) {
  if (!is_turned(options) || holds_display_matrix(muxer)) return {};
  return rotation_notice(options, muxer);
}

/// Whenever the process is killed, the file plays to its last frame. For that Matroska gets a
/// cluster per frame, and MOV and MP4 a fragment per frame, which finish() turns into a plain file
/// (MovIndex) unless the output is a pipe. AVI needs nothing more.
class ContainerSink final : public HalvedPacketSink {
 public:
  ContainerSink(std::unique_ptr<OutputFile> file, std::string muxer, const SinkOptions& options)
      : file_(std::move(file)), name_(std::move(muxer)), options_(options) {}

  Status start() {
    packet_.reset(av_packet_alloc());
    if (!packet_) return Status(Errc::out_of_memory);
    add_notice(video_notice(options_, name_));
    if (!options_.audio_from.empty() || !options_.streams_from.empty()) ZR_TRY(open_streams());
    Status status = open_muxers();
    if (!status && status.code() == Errc::unsupported_output && copied_) {
      // For some codecs only the writing of the header shows that the container cannot hold them.
      add_notice("the sound and the other streams are left out: " + status.detail());
      copied_.reset();
      ZR_TRY(file_->truncate());
      status = open_muxers();
    }
    return status;
  }

  Status prepare(std::span<const std::byte> jpeg, Outgoing& out) override {
    if (!is_jpeg(jpeg) || jpeg.size() > INT32_MAX)
      return Status(Errc::invalid_argument, "the packet is not a JPEG stream");
    out.parts.assign(1, jpeg);
    return Status::ok();
  }

  Status place(Outgoing& out) override {
    const std::span<const std::byte> jpeg = out.parts[0];
    AVPacket& packet = *packet_;
    packet.stream_index = 0;
    packet.flags = AV_PKT_FLAG_KEY;
    packet.data = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(jpeg.data()));
    packet.size = static_cast<int>(jpeg.size());
    stamp(out.time, packet);
    const AVRational clock = video_time_base(options_);
    // Sound up to the end of this frame comes first, so that a player never waits for it.
    const double end = static_cast<double>(packet.pts + packet.duration) * av_q2d(clock);
    Status status = put_streams_before(end);
    if (status) status = put(packet, clock);
    if (status) status = end_frame();
    packet.data = nullptr;
    packet.size = 0;
    return status;
  }

  Status finish() override {
    if (!last_pts_) return no_frame(*file_);
    ZR_TRY(file_->error());
    const double end =
        static_cast<double>(*last_pts_ + last_duration_) * av_q2d(video_time_base(options_));
    ZR_TRY(put_streams_before(end));
    Status status = !is_mov() ? muxer_->finish() : end_fragment();
    const auto chapters = [this](AVFormatContext& context) {
      return add_chapters(options_, context);
    };
    if (status && index_) status = index_->finish(chapters);
    ZR_TRY(status);
    return file_->commit();
  }

  std::int64_t bytes_written() const override { return file_->size(); }
  std::string notice() const override { return notice_; }

 private:
  bool is_mov() const { return name_ == "mov" || name_ == "mp4"; }

  void add_notice(const std::string& text) {
    if (text.empty()) return;
    notice_ += (notice_.empty() ? "" : "; ") + text;
  }

  Status open_streams() {
    const AVOutputFormat* container = av_guess_format(name_.c_str(), nullptr, nullptr);
    if (container == nullptr)
      return Status(Errc::unsupported_output, "this FFmpeg cannot write " + name_);
    ZR_LET(streams, StreamCopy::open(options_, *container));
    if (streams->has_streams()) copied_ = std::move(streams);
    return Status::ok();
  }

  Status add_streams(AVFormatContext& context) const {
    AVStream* stream = avformat_new_stream(&context, nullptr);
    if (stream == nullptr) return Status(Errc::out_of_memory);
    ZR_TRY(describe_video(options_, *stream));
    set_tags(options_, context);
    set_stream_tags(options_.content.stream_tags, context, *stream);
    // MOV and MP4 write them with the index.
    if (!is_mov()) ZR_TRY(add_chapters(options_, context));
    ZR_TRY(set_stereo_mode(options_.content, name_, *stream));
    return copied_ ? copied_->add_streams(context) : Status::ok();
  }

  Status open_muxers() {
    const auto add = [this](AVFormatContext& context) { return add_streams(context); };
    Dictionary options;
    // Optional by RFC 8794, and FFmpeg would compute it over every picture on this one thread,
    // which halves the speed of copying.
    if (name_ == "matroska") options.set("write_crc32", "0");
    // delay_moov: the movie box waits for the first packets, which describe AC-3 and others.
    // skip_trailer: no random access table, which grows with every frame.
    if (is_mov())
      // A time code track would begin the first fragment; MovIndex writes it.
      options.set("write_tmcd", "0");
    const bool has_keys = is_mov() && needs_key_list(options_.content, name_);
    const std::string keys = has_keys ? "+use_metadata_tags" : "";
    const std::string fragments =
        "frag_custom+empty_moov+delay_moov+default_base_moof+skip_trailer" + keys;
    if (is_mov()) options.set("movflags", fragments.c_str());
    ZR_LET(muxer, Muxer::create(name_, *file_, options, add));
    muxer_ = std::move(muxer);
    if (!is_mov() || !file_->is_seekable()) {
      if (is_mov() && !options_.content.chapters.empty())
        add_notice("the chapters are left out, for the output is a pipe");
      return Status::ok();
    }
    Dictionary plain;
    if (has_keys) plain.set("movflags", "use_metadata_tags");
    ZR_LET(index, MovIndex::create(name_, *file_, plain, add));
    index_ = std::move(index);
    return Status::ok();
  }

  /// Sets times in ticks of video_time_base(), counted from the first frame and always rising.
  void stamp(const FrameTime& time, AVPacket& packet) {
    if (!first_pts_) first_pts_ = time.pts;
    const AVRational from = to_av(options_.time_base);
    const AVRational to = video_time_base(options_);
    const bool convertible = from.num > 0 && !options_.variable_frame_rate;
    std::int64_t pts = time.pts - *first_pts_;
    if (convertible) pts = av_rescale_q(pts, from, to);
    if (last_pts_) pts = std::max(pts, *last_pts_ + 1);
    const AVRational frame = av_inv_q(to_av(options_.frame_rate));
    std::int64_t duration = 1;
    if (options_.variable_frame_rate)
      duration = time.duration > 0 ? time.duration
                 : options_.frame_rate.known()
                     ? std::max<std::int64_t>(av_rescale_q(1, frame, to), 1)
                     : 0;
    packet.pts = packet.dts = pts;
    packet.duration = duration;
    last_pts_ = pts;
    last_duration_ = duration;
  }

  /// Writes a packet to the muxer and to the index.
  Status put(const AVPacket& packet, AVRational time_base) {
    ZR_TRY(muxer_->write(packet, time_base));
    return index_ ? index_->add(packet, time_base) : Status::ok();
  }

  Status put_streams_before(double seconds) {
    if (!copied_) return Status::ok();
    for (;;) {
      ZR_LET(packet, copied_->next_before(seconds));
      if (packet == nullptr) return Status::ok();
      ZR_TRY(put(*packet, copied_->time_base(*packet)));
    }
  }

  Status end_frame() {
    if (is_mov()) return end_fragment();
    // AVI cannot flush. Without flush Matroska keeps a cluster in memory for seconds.
    return name_ == "matroska" ? muxer_->flush() : muxer_->drain();
  }

  Status end_fragment() {
    if (!movie_box_written_) {
      ZR_TRY(muxer_->flush());  // writes only ftyp and moov
      movie_box_written_ = true;
    }
    const std::int64_t position = file_->size();
    ZR_TRY(muxer_->flush());
    if (!index_) return Status::ok();
    ZR_LET(indexed, index_->end_fragment(position));
    if (!indexed) {
      index_.reset();
      add_notice("the file is left fragmented");
    }
    return Status::ok();
  }

  std::unique_ptr<OutputFile> file_;
  std::string name_;
  SinkOptions options_;
  std::unique_ptr<StreamCopy> copied_;
  std::unique_ptr<Muxer> muxer_;
  std::unique_ptr<MovIndex> index_;
  PacketPtr packet_;
  std::optional<std::int64_t> first_pts_, last_pts_;
  std::int64_t last_duration_ = 0;
  bool movie_box_written_ = false;
  std::string notice_;
};

}  // namespace
}  // namespace av

Result<PacketSinkPtr> open_container_sink(std::unique_ptr<OutputFile> file,
                                          const std::string& muxer, const SinkOptions& options) {
  ZR_TRY(av::load());
  return started<PacketSink>(std::make_unique<av::ContainerSink>(std::move(file), muxer, options));
}

}  // namespace zerorun::io
