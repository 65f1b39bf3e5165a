// Recognises the format of an output and opens its sink.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/base/location.hpp"
#include "io/base/opening.hpp"
#include "io/output/sinks.hpp"
#include "zerorun/io.hpp"

namespace zerorun::io {
namespace {

Status refuse_variable_rate(const SinkOptions& options, const std::string& what,
                            const char* keeper = "write") {
  if (!options.variable_frame_rate) return Status::ok();
  return Status(Errc::unsupported_output,
                what + " holds a constant frame rate only; give one (--fps), or " + keeper +
                    " .mov, .mkv or .mp4, which keep the time of every frame");
}

Result<std::unique_ptr<OutputFile>> open_output(const ParsedLocation& parsed, bool overwrite) {
  if (parsed.kind == LocationKind::stream)
    return Result<std::unique_ptr<OutputFile>>(OutputFile::standard_output());
  return OutputFile::create(parsed.path, overwrite);
}

/// Files numbered from 1 on by default, as in FFmpeg, or named as those of the input.
Result<ImageOutput> open_several(const ParsedLocation& parsed, const Location& output,
                                 const SinkOptions& options) {
  if (has_name_word(output)) return ImageOutput::named(output, options);
  return ImageOutput::numbered(*parsed.pattern, output.start_number.value_or(1), options.overwrite);
}

Result<PacketSinkPtr> open_packet_output(const Location& output, const SinkOptions& options) {
  if (is_measuring_output(output)) return open_measuring_sink<PacketSink>(output, options);
  ZR_LET(parsed, parse_output(output));
  std::string format = format_of(output);
  if (parsed.kind == LocationKind::stream && format.empty()) format = "mjpeg";
  const std::string muxer = container_muxer(format);
  const bool known = is_raw_mjpeg(format) || is_jpeg_file(format) || !muxer.empty();
  if (!known)
    return Status(Errc::unknown_format, "'" + output.name +
                                            "' is not a JPEG output; write .mov, .mkv, .avi, .mp4, "
                                            ".mjpeg or .jpg");
  if (parsed.kind == LocationKind::pattern || has_name_word(output)) {
    if (!is_jpeg_file(format))
      return Status(Errc::invalid_argument,
                    "'" + output.name + "': a sequence of files is written as .jpg only");
    ZR_LET(files, open_several(parsed, output, options));
    return make_jpeg_sink(std::move(files));
  }
  if (is_raw_mjpeg(format) || muxer == "avi")
    ZR_TRY(refuse_variable_rate(options, muxer.empty() ? "raw Motion JPEG" : "AVI"));
#ifndef ZERORUN_HAVE_FFMPEG
  if (!muxer.empty()) return Status(Errc::not_built, "'" + output.name + "'");
#endif
  if (!output.names.empty()) ZR_TRY(make_folder_of(parsed.path));
  ZR_LET(file, open_output(parsed, options.overwrite));
  if (is_raw_mjpeg(format)) return make_jpeg_sink(ImageOutput(std::move(file), {}, true));
  if (is_jpeg_file(format))
    return make_jpeg_sink(
        ImageOutput(std::move(file), "a pattern such as {name}_%05d.jpg or a video such as .mov"));
#ifdef ZERORUN_HAVE_FFMPEG
  return open_container_sink(std::move(file), muxer, options);
#else
  return Status(Errc::not_built, "'" + output.name + "'");
#endif
}

Result<FrameSinkPtr> open_frame_output(const Location& output, const SinkOptions& options) {
  if (is_measuring_output(output)) return open_measuring_sink<FrameSink>(output, options);
  ZR_LET(parsed, parse_output(output));
  const std::string format = format_of(output);
  if (is_raw_video(format) && parsed.kind != LocationKind::pattern && !has_name_word(output)) {
    ZR_TRY(refuse_variable_rate(options, "raw video", "`zerorun encode` to"));
    ZR_LET(raw, open_output(parsed, options.overwrite));
    return make_raw_sink(std::move(raw), options);
  }
  if (format != "y4m" && !is_pnm_output(format) && !needs_opencv(format))
    return Status(Errc::unknown_format,
                  "'" + output.name + "' is not a frame output" +
                      (parsed.kind == LocationKind::stream ? "; name y4m, pnm or raw as its format"
                                                           : "; write .y4m, .png, .tiff, .bmp, "
                                                             ".webp, .pgm or .ppm"));
#ifdef ZERORUN_HAVE_PNG
  const bool by_opencv = needs_opencv(format) && format != "png";
#else
  const bool by_opencv = needs_opencv(format);
#endif
  if (by_opencv && !features().opencv) return Status(Errc::not_built, "'" + output.name + "'");
  if (parsed.kind == LocationKind::pattern || has_name_word(output)) {
    if (format == "y4m")
      return Status(Errc::invalid_argument,
                    "'" + output.name + "': a y4m file holds all frames; name it without a number");
    ZR_LET(files, open_several(parsed, output, options));
    return make_image_sink(std::move(files), format);
  }
  if (format == "y4m") ZR_TRY(refuse_variable_rate(options, "y4m", "`zerorun encode` to"));
  if (!output.names.empty()) ZR_TRY(make_folder_of(parsed.path));
  ZR_LET(file, open_output(parsed, options.overwrite));
  if (format == "y4m") return make_y4m_sink(std::move(file), options);
  const char* const for_more = needs_opencv(format) ? "a pattern such as {name}_%05d.png" : "";
  return make_image_sink(ImageOutput(std::move(file), for_more), format);
}

}  // namespace

bool is_turned(const SinkOptions& options) noexcept {
  return options.mirrored || options.rotation_degrees % 360 != 0;
}

std::string rotation_notice(const SinkOptions& options, const std::string& container) {
  const std::string degrees = std::to_string(options.rotation_degrees) + " degrees";
  const std::string what = !options.mirrored               ? "the rotation of " + degrees
                           : options.rotation_degrees == 0 ? "mirroring"
                                                           : "mirroring and rotation of " + degrees;
  return container + " has no place for " + what +
         "; players will show the video as it is stored (.mov and .mp4 keep it)";
}

Result<std::unique_ptr<PacketSink>> open_packet_sink(const Location& output,
                                                     const SinkOptions& options) {
  return guarded_open([&] { return open_packet_output(output, options); });
}

Result<std::unique_ptr<FrameSink>> open_frame_sink(const Location& output,
                                                   const SinkOptions& options) {
  return guarded_open([&] { return open_frame_output(output, options); });
}

std::optional<std::string> numbered_path(const Location& output, std::int64_t number) {
  const auto pattern = NumberPattern::parse(output.name);
  if (!pattern || !*pattern || has_name_word(output)) return std::nullopt;
  return (*pattern)->path(number);
}

bool is_packet_output(const Location& output) {
  if (is_measuring_output(output)) return true;
  const std::string format = format_of(output);
  if (output.name == "-" && format.empty()) return true;
  return is_raw_mjpeg(format) || is_jpeg_file(format) || !container_muxer(format).empty();
}

}  // namespace zerorun::io
