// Recognises the format of an input and opens its reader.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "io/base/location.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"
#include "io/pictures/image_file.hpp"
#include "io/base/opening.hpp"
#include "io/base/readers.hpp"
#include "io/output/sinks.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {
namespace {

/// Frames, packets, or image files, which can be opened as either.
using Input = std::variant<FrameReaderPtr, PacketReaderPtr, FileSequence>;

enum class Wanted { frames, packets };

constexpr std::size_t kMostHttpHead = 4096;
#ifdef ZERORUN_HAVE_FFMPEG
constexpr std::size_t kAnimationBytes = 4096;  // acTL comes before IDAT, and mostly at once

/// The chunk acTL before the first IDAT (PNG, third edition, 11.3.4.2).
bool is_animated_png(std::span<const std::byte> head) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.substr(0, text.find("IDAT")).find("acTL") != std::string_view::npos;
}
#endif

Status not_jpeg(const Location& location) {
  return Status(Errc::unknown_format, "'" + location.name + "' is not JPEG");
}

/// With a place for a file that several steps look at.
SourceOptions with_opened(const SourceOptions& options) {
  SourceOptions complete = options;
  if (!complete.opened) complete.opened = opened_file();
  complete.samples.max_pixels = options.limits.max_pixels;
  return complete;
}

#ifdef ZERORUN_HAVE_FFMPEG
Result<Input> as_input(Result<MediaInput> media) {
  if (!media) return media.status();
  if (media->packets) return Input(std::move(media->packets));
  return Input(std::move(media->frames));
}
#endif

template <typename Reader>
Result<Input> as_input(Result<Reader> reader) {
  if (!reader) return reader.status();
  return Input(*std::move(reader));
}

/// Skips the head of an HTTP answer, which a camera's stream begins with if it was saved or piped
/// by `curl -i` or `nc`, and the empty line before the first part of a multipart stream.
void skip_http_head(ByteReader& reader) {
  const auto text = [&](std::size_t count) {
    const std::span<const std::byte> bytes = reader.peek(count);
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  if (text(5) == "HTTP/") {
    std::string_view head;
    std::size_t end = std::string_view::npos;
    // A live stream gives its head at once, and may not have 4096 bytes for long.
    for (std::size_t count = 64; count <= kMostHttpHead && end == std::string_view::npos;
         count += 64) {
      head = text(count);
      end = head.find("\r\n\r\n");
      if (head.size() < count) break;
    }
    if (end != std::string_view::npos) reader.consume(end + 4);
  }
  if (text(4) == "\r\n--") reader.consume(2);
}

/// Opens a stream. Its content, its name or the caller tells the format. Looking for packets it is
/// not taken from, so that it can be opened for frames.
Result<Input> open_bytes(ByteReader reader, std::string format, const SourceOptions& options,
                         Wanted wanted) {
  skip_http_head(reader);
  const ContentKind kind = sniff(reader.peek(kSniffBytes));
  if (!reader.error()) return reader.error();
  if (reader.peek(1).empty())
    return Status(Errc::bad_input, "'" + reader.name() + "': it is empty");
  const bool is_pnm = kind == ContentKind::pnm || is_pnm_output(format) || format == "pbm";
  if (wanted == Wanted::packets && (kind == ContentKind::y4m || format == "y4m" || is_pnm)) {
    const Status status(Errc::unknown_format, "'" + reader.name() + "' is not JPEG");
    options.opened->keep(std::move(reader));
    return status;
  }
  // Content first: a name may lie. The name helps if there is junk before the first JPEG image.
  if (kind == ContentKind::y4m || format == "y4m")
    return as_input(open_y4m(std::move(reader), options.samples, options.threads));
  if (is_pnm) return as_input(open_pnm_stream(std::move(reader), options.samples, options.threads));
  if (kind == ContentKind::jpeg || is_raw_mjpeg(format))
    return as_input(open_raw_mjpeg(std::move(reader)));
#ifdef ZERORUN_HAVE_FFMPEG
  return as_input(open_media(std::move(reader), format, wanted == Wanted::packets, options));
#else
  static_cast<void>(options);
  const bool container =
      !container_muxer(format).empty() || !container_muxer(extension_of(reader.name())).empty();
  if (container || kind != ContentKind::unknown)
    return Status(Errc::not_built, "'" + reader.name() + "'");
  return Status(Errc::unknown_format, "'" + reader.name() + "' (this build has no FFmpeg)");
#endif
}

/// Whether an input of this kind has JPEG packets; what is not known may be a container.
bool may_be_jpeg(ContentKind kind) noexcept {
  return kind == ContentKind::jpeg || kind == ContentKind::unknown;
}

/// True for a capture: JPEG images one after another in a file without an extension.
bool holds_several(const std::string& path) {
  auto reader = ByteReader::open(path);
  if (!reader) return false;
  JpegSplitter splitter(*std::move(reader));
  std::uint64_t bytes = 0;
  for (int images = 0; images < 2; ++images) {
    const Result<bool> more = splitter.next(bytes);
    if (!more || !*more) return false;
  }
  return true;
}

/// A file is an image, which is a sequence of one, or a stream.
Result<Input> open_file(ByteReader reader, const ParsedLocation& parsed, const Location& location,
                        const SourceOptions& options, Wanted wanted) {
  const ContentKind kind = sniff(reader.peek(kSniffBytes));
  const bool is_stream = may_be_jpeg(kind) || kind == ContentKind::y4m || kind == ContentKind::pnm;
  if (!reader.is_regular_file() && is_stream)  // a named pipe behaves as stdin does
    return open_bytes(std::move(reader), location.format, options, wanted);
  if (wanted == Wanted::packets && !may_be_jpeg(kind)) {
    options.opened->keep(std::move(reader));
    return not_jpeg(location);
  }
  const std::string format = format_of(location);
#ifdef ZERORUN_HAVE_FFMPEG
  if (kind == ContentKind::png && is_animated_png(reader.peek(kAnimationBytes)))
    return open_bytes(std::move(reader), "apng", options, wanted);
#endif
  const bool image = kind == ContentKind::png || kind == ContentKind::tiff ||
                     kind == ContentKind::bmp || kind == ContentKind::webp ||
                     (kind == ContentKind::jpeg && !is_raw_mjpeg(format) &&
                      (format.empty() ? !holds_several(parsed.path) : is_image_extension(format)));
  if (kind == ContentKind::tiff && wanted == Wanted::frames && options.all_pages) {
    ZR_LET(pages, open_tiff_pages(reader, options));
    if (pages) return Input(std::move(pages));
  }
  if (image) {
    options.opened->keep(std::move(reader));
    return as_input(FileSequence::open(parsed, std::nullopt, options.missing));
  }
  // An extension that FFmpeg does not know must not keep it from looking inside the file.
  return open_bytes(std::move(reader),
                    location.format.empty() && !is_raw_mjpeg(format) ? "" : format, options,
                    wanted);
}

Result<Input> open_input(const Location& location, const SourceOptions& options, Wanted wanted) {
  ZR_LET(parsed, parse_input(location));
#ifdef ZERORUN_HAVE_FFMPEG
  if (auto demuxer = options.opened->take_media(parsed.path == "-" ? "stdin" : parsed.path))
    return as_input(resume_media(std::move(demuxer), options));
  if (parsed.kind == LocationKind::address)
    return as_input(open_address(parsed.path, wanted == Wanted::packets, options));
#else
  if (parsed.kind == LocationKind::address)
    return Status(Errc::not_built, "'" + location.name + "'");
#endif
  if (location.format == "raw" &&
      (parsed.kind == LocationKind::stream || parsed.kind == LocationKind::file)) {
    ZR_LET(reader, ByteReader::open(parsed.path));
    return as_input(
        open_raw_video(std::move(reader), options.raw, options.samples, options.threads));
  }
  if (parsed.kind == LocationKind::stream) {
    ZR_LET(reader, options.opened->open("-"));
    // FFmpeg does not know where a TIFF file ends in a pipe.
    if (sniff(reader.peek(kSniffBytes)) == ContentKind::tiff)
      return open_file(std::move(reader), parsed, location, options, wanted);
    return open_bytes(std::move(reader), format_of({"", location.format, {}}), options, wanted);
  }
  if (parsed.kind == LocationKind::file) {
    ZR_LET(reader, options.opened->open(parsed.path));
    return open_file(std::move(reader), parsed, location, options, wanted);
  }
  return as_input(FileSequence::open(parsed, location.start_number, options.missing,
                                     options.file_numbers, options.subfolders));
}

Result<FrameReaderPtr> open_frame_reader(const Location& location, const SourceOptions& options) {
  ZR_LET(input, open_input(location, options, Wanted::frames));
  if (auto* frames = std::get_if<FrameReaderPtr>(&input)) return std::move(*frames);
  if (auto* packets = std::get_if<PacketReaderPtr>(&input))
    return decode_packets(std::move(*packets), options);
  return open_image_frames(std::get<FileSequence>(std::move(input)), options);
}

Result<PacketReaderPtr> open_packet_reader(const Location& location, const SourceOptions& options) {
  ZR_LET(input, open_input(location, options, Wanted::packets));
  if (auto* packets = std::get_if<PacketReaderPtr>(&input)) return std::move(*packets);
  if (auto* images = std::get_if<FileSequence>(&input))
    return open_jpeg_files(std::move(*images), options);
  return not_jpeg(location);
}

}  // namespace

Result<std::unique_ptr<FrameSource>> open_frames(const Location& input,
                                                 const SourceOptions& options) {
  return guarded_open([&]() -> Result<std::unique_ptr<FrameSource>> {
    ZR_LET(reader, open_frame_reader(input, with_opened(options)));
    return select_frames(std::move(reader), options);
  });
}

Result<std::unique_ptr<PacketSource>> open_packets(const Location& input,
                                                   const SourceOptions& options) {
  return guarded_open([&]() -> Result<std::unique_ptr<PacketSource>> {
    ZR_LET(reader, open_packet_reader(input, with_opened(options)));
    return select_packets(std::move(reader), options);
  });
}

Result<std::int64_t> count_listed_frames(const Location& input, const SourceOptions& options) {
  return guarded_open([&]() -> Result<std::int64_t> {
    ZR_LET(reader, open_packet_reader(input, with_opened(options)));
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

#ifndef ZERORUN_HAVE_FFMPEG
Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path, const AudioFormat&) {
  return Status(Errc::not_built, "'" + path + "'");
}
#endif

}  // namespace zerorun::io
