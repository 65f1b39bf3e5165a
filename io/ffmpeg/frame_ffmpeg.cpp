// Frames of any video that libavcodec decodes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "codec/base/try.hpp"
#include "io/base/pool.hpp"
#include "io/ffmpeg/colour.hpp"
#include "io/ffmpeg/demuxer.hpp"
#include "io/ffmpeg/nvdec.hpp"
#include "io/samples/frame_convert.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/ffmpeg.hpp"

namespace zerorun::io {
namespace av {
namespace {

using ffmpeg::detail::duration;

/// As FFmpeg chooses, which knows a process's affinity but not how much CPU time it may use: one
/// more than processors, at most 16.
int usual_threads() {
  const int processors = usable_processors();
  return processors > 1 ? std::min(processors + 1, 16) : 1;
}

/// Decodes in order; the samples are converted wherever they are loaded.
class DecodedVideo final : public DemuxerReader<FrameReader> {
 public:
  using DemuxerReader::DemuxerReader;

  Status start(const SourceOptions& options) {
    const AVCodecParameters& parameters = *demuxer_->stream().codecpar;
    ZR_TRY(check_pixels(parameters, demuxer_->name()));
    info_.format = closest_format(static_cast<AVPixelFormat>(parameters.format));
    if (!packet_ || !picture_) return Status(Errc::out_of_memory);
    rules_ = options.samples;
    if (!rules_.tonemap.empty() && is_high_range(parameters.color_trc)) {
      ZR_TRY(ToneMapper::load());
      mapped_transfer_ = parameters.color_trc;
      info_.content.transfer = info_.content.primaries = info_.content.matrix = "bt709";
      info_.content.range = "tv";
      return open_on_cpu(options);
    }
    // The encoder's kernels round the surfaces of NVDEC, so dithering needs the CPU's decoder.
    if (parameters.codec_id == AV_CODEC_ID_GIF) return open_gif(options);
    if (!options.hardware_video || rules_.dither) return open_on_cpu(options);
    const Status hardware = try_nvdec(options.device);
    info_.decoder = hardware ? "NVDEC" : "the CPU (" + hardware.detail() + ")";
    return hardware ? Status::ok() : open_on_cpu(options);
  }

  Result<bool> next(FrameWork& work) override {
    Result<bool> more = next_picture();
    if (!more || !*more) return more;
    if (picture_->flags & AV_FRAME_FLAG_CORRUPT || picture_->decode_error_flags != 0)
      return Status(Errc::bad_input, "'" + last_name() + "' is damaged");
    apply_rules(*picture_);
    std::shared_ptr<AVFrame> picture(av_frame_clone(picture_.get()), Release());
    if (!picture) return Status(Errc::out_of_memory);
    work.time = {time_of(*picture), duration(*picture)};
    next_time_ = work.time.pts + work.time.duration;
    work.name = last_name();
    work.concealed = 0;
    work.surface = is_on_device(*picture) ? surfaces_.hand_out(*picture) : nullptr;
    if (is_on_device(*picture) && !work.surface) {
      ZR_LET(host, download(*picture));
      picture = std::move(host);
    }
    // Holds the surface, if there is one, so that the pool counts its picture until then.
    work.loader = [this, picture, surface = work.surface](FrameWork& loaded, int) {
      return load(*picture, loaded);
    };
    return true;
  }

  /// Decodes from a key frame before it. Key frames are found by decoding time: if that one is too
  /// late, from an earlier one, and at last from the start.
  Result<std::int64_t> seek_time(std::int64_t pts) override {
    const FrameTimes& times = demuxer_->times();
    const auto second = static_cast<std::int64_t>(1.0 / info_.time_base.value());
    for (const std::int64_t from : {pts, pts - 2 * second, pts - 20 * second, times.first()}) {
      ZR_LET(found, decode_up_to(from, pts));
      if (!found || (*found > pts && from > times.first())) continue;
      index_ = times.index_at(*found);
      next_time_ = *found;
      return index_;
    }
    return times.index_at(pts);
  }

  Result<bool> skip() override {
    Result<bool> more = next_picture();
    if (more && *more && picture_->best_effort_timestamp != AV_NOPTS_VALUE)
      next_time_ = time_of(*picture_) + duration(*picture_);
    return more;
  }

 private:
  /// The rules of the caller replace what the file says.
  void apply_rules(AVFrame& picture) const {
    if (const int matrix = av_color_space_from_name(rules_.matrix.c_str()); matrix >= 0)
      picture.colorspace = static_cast<AVColorSpace>(matrix);
    if (const int range = av_color_range_from_name(rules_.range.c_str()); range >= 0)
      picture.color_range = static_cast<AVColorRange>(range);
  }

  Status open_on_cpu(const SourceOptions& options) {
    const AVCodecParameters& parameters = *demuxer_->stream().codecpar;
    const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
    if (codec == nullptr)
      return Status(
          Errc::unknown_format,
          "'" + demuxer_->name() + "': FFmpeg has no decoder for its video (" + info_.codec + ")");
    codec_.reset(avcodec_alloc_context3(codec));
    if (!codec_) return Status(Errc::out_of_memory);
    int error = avcodec_parameters_to_context(codec_.get(), &parameters);
    codec_->max_pixels = StreamLimits{}.max_pixels;  // the size may change in the middle
    codec_->thread_count = options.threads > 0 ? options.threads : usual_threads();
    codec_->thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE;
    codec_->pkt_timebase = demuxer_->stream().time_base;
    if (error >= 0) error = avcodec_open2(codec_.get(), codec, nullptr);
    if (error < 0) return failure(Errc::bad_input, demuxer_->name(), error);
    return Status::ok();
  }

  /// Every GIF has alpha for FFmpeg. The first picture, which is kept for next(), tells whether
  /// something is transparent.
  Status open_gif(const SourceOptions& options) {
    ZR_TRY(open_on_cpu(options));
    ZR_LET(more, next_picture());
    if (!more) return Status::ok();
    bool is_opaque = picture_->format == AV_PIX_FMT_BGRA;
    for (int y = 0; is_opaque && y < picture_->height; ++y)
      for (int x = 0; x < picture_->width; ++x)
        is_opaque &= picture_->data[0][y * picture_->linesize[0] + 4 * x + 3] == 255;
    if (is_opaque) info_.content.has_alpha = false;
    waiting_.emplace_front(av_frame_clone(picture_.get()));
    return waiting_.front() ? Status::ok() : Status(Errc::out_of_memory);
  }

  /// NVDEC is the decoder if it decodes the first picture, which is kept for next(). Otherwise all
  /// packets are put back.
  Status try_nvdec(int device) {
    ZR_LET(codec, open_nvdec(demuxer_->stream(), device));
    codec_ = std::move(codec);
    std::vector<PacketPtr> packets;
    Status decoded = decode_first(packets);
    if (decoded) {
      FramePtr first(av_frame_clone(picture_.get()));
      if (first) {
        waiting_.push_front(std::move(first));
        return Status::ok();
      }
      decoded = Status(Errc::out_of_memory);
    }
    codec_.reset();
    for (; !packets.empty(); packets.pop_back()) demuxer_->unread(std::move(packets.back()));
    return decoded;
  }

  Status decode_first(std::vector<PacketPtr>& packets) {
    const auto cannot = [](const std::string& why) { return Status(Errc::device_unsuitable, why); };
    for (;;) {
      int error = avcodec_receive_frame(codec_.get(), picture_.get());
      if (error >= 0) break;
      if (error != AVERROR(EAGAIN)) return cannot("NVDEC: " + reason(error));
      const Result<bool> more = demuxer_->read(*packet_);
      if (!more) return more.status();
      if (*more) {
        packets.emplace_back(av_packet_clone(packet_.get()));
        if (!packets.back()) return Status(Errc::out_of_memory);
      }
      error = avcodec_send_packet(codec_.get(), *more ? packet_.get() : nullptr);
      if (error < 0) return cannot("NVDEC: " + reason(error));
    }
    if (!is_on_device(*picture_))
      return cannot("NVDEC does not decode this profile or size of " + info_.codec);
    if (info_.format != PixelFormat::yuv420p) return cannot("from NVDEC zerorun takes 4:2:0 alone");
    if (!surfaces_.hand_out(*picture_))
      return cannot("zerorun has no kernel for this depth or colour matrix");
    return Status::ok();
  }

  Status load(const AVFrame& picture, FrameWork& work) {
    FramePtr host;
    if (is_on_device(picture)) {
      ZR_LET(downloaded, download(picture));
      host = std::move(downloaded);
    }
    if (mapped_transfer_ != AVCOL_TRC_UNSPECIFIED) {
      FramePtr tagged(av_frame_clone(&picture)), mapped;
      if (!tagged) return Status(Errc::out_of_memory);
      if (!is_high_range(tagged->color_trc)) tagged->color_trc = mapped_transfer_;
      ZR_TRY(mappers_.borrow()->map(*tagged, rules_.tonemap, mapped));
      host = std::move(mapped);
    }
    const ConvertTimer timer;
    const auto colour = colours_.borrow();
    const Status status = colour->convert(host ? *host : picture, rules_, work.item);
    return status ? status : Status(status.code(), "'" + work.name + "': " + status.detail());
  }

  std::int64_t time_of(const AVFrame& picture) const noexcept {
    const std::int64_t pts = picture.best_effort_timestamp;
    return pts != AV_NOPTS_VALUE ? demuxer_->from_start(pts) : next_time_;
  }

  /// Decodes from a key frame at or before `from` to the last picture that is not after `pts`, and
  /// keeps it and the one after it to be read next. Returns its time; nullopt if none came.
  Result<std::optional<std::int64_t>> decode_up_to(std::int64_t from, std::int64_t pts) {
    ZR_TRY(demuxer_->seek(from));
    avcodec_flush_buffers(codec_.get());
    waiting_.clear();
    input_ended_ = false;
    last_pts_ = AV_NOPTS_VALUE;
    FramePtr last;
    for (;;) {
      Result<bool> more = next_picture();
      if (!more) {
        if (more.status().code() != Errc::bad_input) return more.status();
        continue;  // skip a damaged packet
      }
      if (!*more) break;
      FramePtr picture(av_frame_clone(picture_.get()));
      if (!picture) return Status(Errc::out_of_memory);
      const bool is_later = time_of(*picture) > pts;
      if (last && is_later) {
        waiting_.push_back(std::move(picture));
        break;
      }
      last = std::move(picture);
      if (is_later) break;
    }
    if (!last) return std::optional<std::int64_t>();
    const std::int64_t found = time_of(*last);
    waiting_.push_front(std::move(last));
    return std::optional(found);
  }

  /// Feeds packets until a picture comes out. An undecodable packet is an error about one frame;
  /// the next call goes on behind it.
  Result<bool> next_picture() {
    if (!waiting_.empty()) {
      av_frame_unref(picture_.get());
      av_frame_move_ref(picture_.get(), waiting_.front().get());
      waiting_.pop_front();
      ++index_;
      return true;
    }
    for (;;) {
      int error = avcodec_receive_frame(codec_.get(), picture_.get());
      if (error >= 0) {
        // After a seek the threads of FFmpeg 7's MPEG-4 decoder may give the last picture twice.
        if (is_repeated(picture_->best_effort_timestamp)) continue;
        ++index_;
        return true;
      }
      if (error == AVERROR_EOF) return false;
      if (error != AVERROR(EAGAIN)) return undecodable(error);
      Result<bool> more = demuxer_->read(*packet_);
      if (!more) return more;
      input_ended_ = !*more;
      error = avcodec_send_packet(codec_.get(), *more ? packet_.get() : nullptr);
      if (error < 0 && error != AVERROR_EOF) return undecodable(error);
    }
  }

  bool is_repeated(std::int64_t pts) noexcept {
    const std::int64_t before = std::exchange(last_pts_, pts);
    return input_ended_ && pts == before && pts != AV_NOPTS_VALUE;
  }

  Status undecodable(int error) {
    ++index_;
    if (codec_->width > 0 || error != AVERROR(EINVAL))
      return failure(Errc::bad_input, last_name(), error);
    return Status(Errc::too_many_pixels, "'" + last_name() +
                                             "' has no size, or one above the limit of " +
                                             std::to_string(codec_->max_pixels) + " pixels");
  }

  SampleRules rules_;
  CodecPtr codec_;
  FramePtr picture_{av_frame_alloc()};
  std::deque<FramePtr> waiting_;            // decoded by a seek
  bool input_ended_ = false;                // the decoder has all packets
  std::int64_t last_pts_ = AV_NOPTS_VALUE;  // of the picture before in the decoder
  SurfacePool surfaces_;
  AVColorTransferCharacteristic mapped_transfer_ = AVCOL_TRC_UNSPECIFIED;  // of tone mapping
  Pool<ToneMapper> mappers_;
  Pool<ColourConverter> colours_;  // one for each thread that loads
};

}  // namespace
}  // namespace av

Result<MediaInput> resume_media(std::shared_ptr<void> held, const SourceOptions& options) {
  auto demuxer = std::static_pointer_cast<av::Demuxer>(std::move(held));
  if (options.repeats_dropped) demuxer->repeat_dropped();
  MediaInput media;
  if (demuxer->is_motion_jpeg()) {
    ZR_LET(packets, av::open_container_packets(std::move(demuxer)));
    media.packets = std::move(packets);
    return media;
  }
  auto frames = std::make_unique<av::DecodedVideo>(std::move(demuxer));
  ZR_TRY(frames->start(options));
  media.frames = std::move(frames);
  return media;
}

namespace {

Result<MediaInput> take(std::unique_ptr<av::Demuxer> made, bool wants_packets,
                        const SourceOptions& options) {
  std::shared_ptr<av::Demuxer> demuxer(std::move(made));
  if (!wants_packets || demuxer->is_motion_jpeg()) return resume_media(std::move(demuxer), options);
  const std::string name = demuxer->name();
  if (options.opened) options.opened->keep_media(name, std::move(demuxer));
  return Status(Errc::unknown_format, "'" + name + "' is not JPEG");
}

}  // namespace

Result<MediaInput> open_media(ByteReader reader, const std::string& format, bool wants_packets,
                              const SourceOptions& options) {
  ZR_TRY(av::load());
  ZR_LET(demuxer, av::Demuxer::open(std::move(reader), format));
  return take(std::move(demuxer), wants_packets, options);
}

Result<MediaInput> open_address(const std::string& address, bool wants_packets,
                                const SourceOptions& options) {
  ZR_TRY(av::load());
  ZR_LET(demuxer, av::Demuxer::open_address(address, options.timeout_seconds));
  return take(std::move(demuxer), wants_packets, options);
}

}  // namespace zerorun::io
