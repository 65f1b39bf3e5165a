// The video stream of an output container.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/video_params.hpp"

namespace zerorun::io::av {
namespace {

/// The yuvj formats say "full range" to muxers and players that look at nothing else.
AVPixelFormat tagged_format(PixelFormat format) noexcept {
  switch (native_subsampling(format)) {
    case Subsampling::s444:
      return AV_PIX_FMT_YUVJ444P;
    case Subsampling::s422:
      return AV_PIX_FMT_YUVJ422P;
    case Subsampling::s440:
      return AV_PIX_FMT_YUVJ440P;
    case Subsampling::s411:
      return AV_PIX_FMT_YUVJ411P;
    case Subsampling::gray:
      return AV_PIX_FMT_GRAY8;
    case Subsampling::s420:
      break;
  }
  return AV_PIX_FMT_YUVJ420P;
}

bool holds_rotation(const std::string& muxer) { return muxer == "mov" || muxer == "mp4"; }

}  // namespace

AVRational video_time_base(const SinkOptions& options) {
  if (options.variable_frame_rate) return to_av(options.time_base);
  return av_inv_q(to_av(options.frame_rate));
}

Status describe_video(const SinkOptions& options, AVStream& stream) {
  if (options.width < 1 || options.height < 1 || options.width > kMaxDimension ||
      options.height > kMaxDimension)
    return Status(Errc::invalid_argument, "the size of the video has to be 1x1 to 65535x65535");
  if (!options.variable_frame_rate && !options.frame_rate.known())
    return Status(Errc::invalid_argument, "the video needs a frame rate (--fps)");
  if (options.variable_frame_rate && !options.time_base.known())
    return Status(Errc::invalid_argument, "the time base is no positive fraction");
  AVCodecParameters& codec = *stream.codecpar;
  codec.codec_type = AVMEDIA_TYPE_VIDEO;
  codec.codec_id = AV_CODEC_ID_MJPEG;
  codec.width = options.width;
  codec.height = options.height;
  codec.format = tagged_format(options.coded_format);
  codec.color_range = AVCOL_RANGE_JPEG;
  codec.color_space = AVCOL_SPC_BT470BG;  // the BT.601 matrix; JFIF leaves the primaries open
  codec.chroma_location = AVCHROMA_LOC_CENTER;
  codec.field_order = AV_FIELD_PROGRESSIVE;
  if (options.sample_aspect.known())
    stream.sample_aspect_ratio = codec.sample_aspect_ratio = to_av(options.sample_aspect);
  stream.time_base = video_time_base(options);
  // Not at a variable rate: Matroska would make a default duration of it.
  if (options.frame_rate.known() && !options.variable_frame_rate)
    stream.avg_frame_rate = stream.r_frame_rate = to_av(options.frame_rate);
  if (options.rotation_degrees % 360 != 0) {
    constexpr std::size_t kMatrixBytes = 9 * sizeof(std::int32_t);
    auto* matrix = reinterpret_cast<std::int32_t*>(
        av_stream_new_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, kMatrixBytes));
    if (matrix == nullptr) return Status(Errc::out_of_memory);
    av_display_rotation_set(matrix, options.rotation_degrees);
  }
  return Status::ok();
}

std::string video_notice(const SinkOptions& options, const std::string& muxer) {
  if (options.rotation_degrees % 360 == 0 || holds_rotation(muxer)) return {};
  return muxer + " has no place for the rotation of " + std::to_string(options.rotation_degrees) +
         " degrees; players will show the video unturned (.mov and .mp4 keep it)";
}

}  // namespace zerorun::io::av
