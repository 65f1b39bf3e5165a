// The video stream of an output container.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/video_params.hpp"

#include "zerorun/ffmpeg.hpp"

namespace zerorun::io::av {
namespace {

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
  ffmpeg::describe_stream(codec, options.width, options.height,
                          native_subsampling(options.coded_format));
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
