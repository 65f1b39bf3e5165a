// Recognises the format of an input or output and opens its reader or sink.
// SPDX-License-Identifier: MIT
#include <array>
#include <exception>
#include <new>
#include <utility>
#include <variant>

#include "io/formats.hpp"
#include "io/image_file.hpp"
#include "zerorun/audio.hpp"
#include "zerorun/frame_count.hpp"

namespace zerorun::io {
namespace {

struct Container {
  std::string_view format;  // the extension or word
  std::string_view muxer;   // libavformat's name
};
constexpr std::array kContainers{
    Container{"mov", "mov"},           Container{"qt", "mov"},  Container{"mkv", "matroska"},
    Container{"matroska", "matroska"}, Container{"avi", "avi"}, Container{"mp4", "mp4"},
    Container{"m4v", "mp4"},
};

bool is_raw_mjpeg(const std::string& format) {
  return format == "mjpeg" || format == "mjpg" || format == "mjpe";
}

bool is_jpeg_file(const std::string& format) {
  return format == "jpg" || format == "jpeg" || format == "jpe" || format == "jfif";
}

/// The muxer of a container that zerorun writes, or "".
std::string container_muxer(const std::string& format) {
  for (const Container& container : kContainers)
    if (container.format == format) return std::string(container.muxer);
  return {};
}

/// AVI needs no FFmpeg, which reads and writes more of it: sound, and other video.
bool has_ffmpeg() noexcept {
#ifdef ZERORUN_HAVE_FFMPEG
  return has_ffmpeg_libraries();
#else
  return false;
#endif
}

/// guarded() that also catches what std::filesystem and the containers throw.
template <typename Open>
auto guarded_open(const Open& open) -> decltype(open()) {
  try {
    return guarded(open);
  } catch (const std::exception& error) {
    return Status(Errc::open_failed, error.what());
  }
}

/// Frames, packets, or image files, which can be opened as either.
using Input = std::variant<FrameReaderPtr, PacketReaderPtr, FileSequence>;

template <typename Reader>
Result<Input> as_input(Result<Reader> reader) {
  if (!reader) return reader.status();
  return Input(*std::move(reader));
}

/// Opens a stream. Its content, its name or the caller tells the format.
Result<Input> open_bytes(ByteReader reader, std::string format, const SourceOptions& options) {
  const ContentKind kind = sniff(reader.peek(kSniffBytes));
  if (!reader.error()) return reader.error();
  if (reader.peek(1).empty())
    return Status(Errc::bad_input, "'" + reader.name() + "': it is empty");
  // Content first: a name may lie. The name helps if there is junk before the first JPEG image.
  if (kind == ContentKind::y4m || format == "y4m")
    return as_input(open_y4m(std::move(reader), options.samples, options.threads));
  if (kind == ContentKind::pnm || is_pnm_output(format) || format == "pbm")
    return as_input(open_pnm_stream(std::move(reader), options.threads));
  if (kind == ContentKind::jpeg || is_raw_mjpeg(format))
    return as_input(open_raw_mjpeg(std::move(reader)));
  if (kind == ContentKind::avi && !has_ffmpeg()) return as_input(open_avi(std::move(reader)));
#ifdef ZERORUN_HAVE_FFMPEG
  ZR_LET(media, open_media(std::move(reader), format, options));
  if (media.packets) return Input(std::move(media.packets));
  return Input(std::move(media.frames));
#else
  static_cast<void>(options);
  const bool container =
      !container_muxer(format).empty() || !container_muxer(extension_of(reader.name())).empty();
  if (container || kind != ContentKind::unknown)
    return Status(Errc::not_built, "'" + reader.name() + "'");
  return Status(Errc::unknown_format, "'" + reader.name() + "' (this build has no FFmpeg)");
#endif
}

/// A file is an image, which is a sequence of one, or a stream.
Result<Input> open_file(const ParsedLocation& parsed, const Location& location,
                        const SourceOptions& options) {
  ZR_LET(reader, ByteReader::open(parsed.path));
  const ContentKind kind = sniff(reader.peek(kSniffBytes));
  const std::string format = format_of(location);
  const bool image = kind == ContentKind::png || kind == ContentKind::tiff ||
                     kind == ContentKind::bmp || kind == ContentKind::webp ||
                     (kind == ContentKind::jpeg && !is_raw_mjpeg(format) &&
                      (format.empty() || is_image_extension(format)));
  if (image) return as_input(FileSequence::open(parsed, std::nullopt, options.missing));
  // An extension that FFmpeg does not know must not keep it from looking inside the file.
  return open_bytes(std::move(reader),
                    location.format.empty() && !is_raw_mjpeg(format) ? "" : format, options);
}

Result<Input> open_input(const Location& location, const SourceOptions& options) {
  ZR_LET(parsed, parse_input(location));
  if (location.format == "raw" &&
      (parsed.kind == LocationKind::stream || parsed.kind == LocationKind::file)) {
    ZR_LET(reader, ByteReader::open(parsed.path));
    return as_input(
        open_raw_video(std::move(reader), options.raw, options.samples, options.threads));
  }
  if (parsed.kind == LocationKind::stream) {
    ZR_LET(reader, ByteReader::open("-"));
    return open_bytes(std::move(reader), format_of({"", location.format, {}}), options);
  }
  if (parsed.kind == LocationKind::file) return open_file(parsed, location, options);
  return as_input(
      FileSequence::open(parsed, location.start_number, options.missing, options.file_numbers));
}

Result<FrameReaderPtr> open_frame_reader(const Location& location, const SourceOptions& options) {
  ZR_LET(input, open_input(location, options));
  if (auto* frames = std::get_if<FrameReaderPtr>(&input)) return std::move(*frames);
  if (auto* packets = std::get_if<PacketReaderPtr>(&input))
    return decode_packets(std::move(*packets), options);
  return open_image_frames(std::get<FileSequence>(std::move(input)), options);
}

Result<PacketReaderPtr> open_packet_reader(const Location& location, const SourceOptions& options) {
  ZR_LET(input, open_input(location, options));
  if (auto* packets = std::get_if<PacketReaderPtr>(&input)) return std::move(*packets);
  if (auto* images = std::get_if<FileSequence>(&input)) return open_jpeg_files(std::move(*images));
  return Status(Errc::unknown_format, "'" + location.name + "' is not JPEG");
}

Status refuse_variable_rate(const SinkOptions& options, const std::string& what) {
  if (!options.variable_frame_rate) return Status::ok();
  return Status(Errc::unsupported_output,
                what +
                    " holds a constant frame rate only; give one (--fps), or write .mov, .mkv "
                    "or .mp4, which keep the time of every frame");
}

Result<std::unique_ptr<OutputFile>> open_output(const ParsedLocation& parsed, bool overwrite) {
  if (parsed.kind == LocationKind::stream)
    return Result<std::unique_ptr<OutputFile>>(OutputFile::standard_output());
  return OutputFile::create(parsed.path, overwrite);
}

/// Files numbered from 1 on by default, as in FFmpeg.
Result<ImageOutput> open_numbered(const ParsedLocation& parsed, const Location& output,
                                  const SinkOptions& options) {
  return ImageOutput::numbered(*parsed.pattern, output.start_number.value_or(1), options.overwrite);
}

constexpr std::string_view kNull = "null:", kMd5 = "md5:";

Result<std::unique_ptr<OutputFile>> open_md5(const Location& output, bool overwrite) {
  const std::string path = output.name.substr(kMd5.size());
  if (path.empty()) return Result<std::unique_ptr<OutputFile>>(OutputFile::standard_output());
  return OutputFile::create(path, overwrite);
}

Result<PacketSinkPtr> open_packet_output(const Location& output, const SinkOptions& options) {
  if (output.name == kNull) return make_null_packet_sink();
  if (is_measuring_output(output)) {
    ZR_LET(text, open_md5(output, options.overwrite));
    return make_md5_packet_sink(std::move(text), options);
  }
  ZR_LET(parsed, parse_output(output));
  std::string format = format_of(output);
  if (parsed.kind == LocationKind::stream && format.empty()) format = "mjpeg";
  const std::string muxer = container_muxer(format);
  const bool known = is_raw_mjpeg(format) || is_jpeg_file(format) || !muxer.empty();
  if (!known)
    return Status(Errc::unknown_format, "'" + output.name +
                                            "' is not a JPEG output; write .mov, .mkv, .avi, .mp4, "
                                            ".mjpeg or .jpg");
  if (parsed.kind == LocationKind::pattern) {
    if (!is_jpeg_file(format))
      return Status(Errc::invalid_argument,
                    "'" + output.name + "': a numbered sequence is written as .jpg only");
    ZR_LET(files, open_numbered(parsed, output, options));
    return make_jpeg_sink(std::move(files));
  }
  if (is_raw_mjpeg(format) || muxer == "avi")
    ZR_TRY(refuse_variable_rate(options, muxer.empty() ? "raw Motion JPEG" : "AVI"));
  const bool is_own_avi = muxer == "avi" && !has_ffmpeg();
#ifndef ZERORUN_HAVE_FFMPEG
  if (!muxer.empty() && !is_own_avi) return Status(Errc::not_built, "'" + output.name + "'");
#endif
  ZR_LET(file, open_output(parsed, options.overwrite));
  if (is_raw_mjpeg(format)) return make_jpeg_sink(ImageOutput::stream(std::move(file), true));
  if (is_jpeg_file(format))
    return make_jpeg_sink(
        ImageOutput::single(std::move(file), "a pattern such as %05d.jpg or a video such as .mov"));
  if (is_own_avi) return make_avi_sink(std::move(file), options);
#ifdef ZERORUN_HAVE_FFMPEG
  return open_container_sink(std::move(file), muxer, options);
#else
  return Status(Errc::not_built, "'" + output.name + "'");
#endif
}

Result<FrameSinkPtr> open_frame_output(const Location& output, const SinkOptions& options) {
  if (output.name == kNull) return make_null_frame_sink();
  if (is_measuring_output(output)) {
    ZR_LET(text, open_md5(output, options.overwrite));
    return make_md5_frame_sink(std::move(text), options);
  }
  ZR_LET(parsed, parse_output(output));
  const std::string format = format_of(output);
  if (is_raw_video(format) && parsed.kind != LocationKind::pattern) {
    ZR_TRY(refuse_variable_rate(options, "raw video"));
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
  if (parsed.kind == LocationKind::pattern) {
    if (format == "y4m")
      return Status(Errc::invalid_argument,
                    "'" + output.name + "': a y4m file holds all frames; name it without a number");
    ZR_LET(files, open_numbered(parsed, output, options));
    return make_image_sink(std::move(files), format);
  }
  if (format == "y4m") ZR_TRY(refuse_variable_rate(options, "y4m"));
  ZR_LET(file, open_output(parsed, options.overwrite));
  if (format == "y4m") return make_y4m_sink(std::move(file), options);
  return make_image_sink(needs_opencv(format)
                             ? ImageOutput::single(std::move(file), "a pattern such as %05d.png")
                             : ImageOutput::stream(std::move(file), false),
                         format);
}

}  // namespace

Result<std::unique_ptr<FrameSource>> open_frames(const Location& input,
                                                 const SourceOptions& options) {
  return guarded_open([&]() -> Result<std::unique_ptr<FrameSource>> {
    ZR_LET(reader, open_frame_reader(input, options));
    return select_frames(std::move(reader), options);
  });
}

Result<std::unique_ptr<PacketSource>> open_packets(const Location& input,
                                                   const SourceOptions& options) {
  return guarded_open([&]() -> Result<std::unique_ptr<PacketSource>> {
    ZR_LET(reader, open_packet_reader(input, options));
    return select_packets(std::move(reader), options);
  });
}

Result<std::int64_t> count_listed_frames(const Location& input, const SourceOptions& options) {
  return guarded_open([&]() -> Result<std::int64_t> {
    ZR_LET(reader, open_packet_reader(input, options));
    const std::int64_t count = reader->listed_frames();
    if (count < 0) return count;
    const std::int64_t end = options.last_frame < 0 ? count : std::min(count, options.last_frame);
    return std::max<std::int64_t>(end - options.first_frame, 0);
  });
}

Result<SourceInfo> probe(const Location& input, const SourceOptions& options) {
  ZR_LET(source, open_frames(input, options));
  return source->info();
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
  if (!pattern || !*pattern) return std::nullopt;
  return (*pattern)->path(number);
}

bool is_measuring_output(const Location& output) {
  return output.name == kNull || output.name.starts_with(kMd5);
}

bool is_packet_output(const Location& output) {
  if (is_measuring_output(output)) return true;
  const std::string format = format_of(output);
  if (output.name == "-" && format.empty()) return true;
  return is_raw_mjpeg(format) || is_jpeg_file(format) || !container_muxer(format).empty();
}

#ifndef ZERORUN_HAVE_FFMPEG
Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path, const AudioFormat&) {
  return Status(Errc::not_built, "'" + path + "'");
}
#endif

Features features() noexcept {
  Features have;
#ifdef ZERORUN_HAVE_FFMPEG
  have.ffmpeg = true;
#endif
#ifdef ZERORUN_HAVE_OPENCV
  have.opencv = true;
#endif
  return have;
}

}  // namespace zerorun::io
