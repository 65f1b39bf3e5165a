// Reads one image file of any kind to a frame; writes JPEG packets, or frames as other images.
// SPDX-License-Identifier: MIT
#include "io/pictures/image_file.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "codec/base/try.hpp"
#include "io/base/frame_parts.hpp"
#include "io/base/location.hpp"
#include "io/base/readers.hpp"
#include "io/metadata/metadata.hpp"
#include "io/metadata/tiff_directory.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"
#include "io/output/sinks.hpp"
#include "zerorun/convert.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io {
namespace {

/// FFmpeg's name of the codec.
const char* name_of(ContentKind kind) noexcept {
  constexpr const char* kNames[] = {"", "", "pnm", "mjpeg", "png", "tiff", "bmp", "webp"};
  return kNames[static_cast<std::size_t>(kind)];
}

struct Size {
  std::uint64_t width = 0, height = 0;
};

Status check(const std::string& name, const char* what, std::int64_t max_pixels, const Size& size) {
  if (size.width == 0 || size.height <= static_cast<std::uint64_t>(max_pixels) / size.width)
    return Status::ok();
  return Status(Errc::too_many_pixels, "'" + name + "': " + what + std::to_string(size.width) +
                                           "x" + std::to_string(size.height) + ", limit " +
                                           std::to_string(max_pixels));
}

/// The largest value of a tag, which may come more than once: the value that libtiff takes is not
/// larger. Sizes are BYTE, SHORT or LONG; nullopt: the tag has another type, which libtiff might
/// read.
std::optional<std::uint64_t> largest(ByteSpan file, const tiff::Header& header, std::uint16_t tag) {
  constexpr std::uint64_t kEntryBytes = 12;
  const auto count = number(file, header.first_directory, 2, header.little);
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; count && i < *count; ++i) {
    const std::uint64_t at = std::uint64_t{header.first_directory} + 2 + i * kEntryBytes;
    if (number(file, at, 2, header.little) != tag) continue;
    const std::uint32_t type = number(file, at + 2, 2, header.little).value_or(0);
    const int bytes = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;
    if (bytes == 0) return std::nullopt;
    most = std::max<std::uint64_t>(most, number(file, at + 8, bytes, header.little).value_or(0));
  }
  return most;
}

Status check_tiff(const std::string& name, std::int64_t max_pixels, ByteSpan file) {
  constexpr std::uint16_t kWidth = 256, kHeight = 257, kTileWidth = 322, kTileHeight = 323;
  const auto header = tiff::read_header(file);
  if (!header) return Status::ok();
  if (tiff::is_camera_raw(file))
    return Status(Errc::unknown_format, "'" + name + "': " + camera_raw(name));
  const auto width = largest(file, *header, kWidth), height = largest(file, *header, kHeight);
  const auto tile_width = largest(file, *header, kTileWidth);
  const auto tile_height = largest(file, *header, kTileHeight);
  if (!width || !height || !tile_width || !tile_height)
    return Status(Errc::bad_input, "'" + name + "': its size is not a number of 8, 16 or 32 bits");
  ZR_TRY(check(name, "", max_pixels, {*width, *height}));
  return check(name, "tiles of ", max_pixels, {*tile_width, *tile_height});
}

/// The first chunk tells: VP8X a canvas, VP8L and VP8 the picture.
Size webp_size(ByteSpan file) {
  constexpr std::uint64_t kKind = 15, kPayload = 20;
  const auto at = [&](std::uint64_t offset, int bytes) -> std::uint64_t {
    return number(file, kPayload + offset, bytes, true).value_or(0);
  };
  constexpr std::uint64_t kMost = 0x3FFF;
  switch (number(file, kKind, 1, true).value_or(0)) {
    case 'X':
      return {at(4, 3) + 1, at(7, 3) + 1};
    case 'L':
      return {(at(1, 4) & kMost) + 1, (at(1, 4) >> 14 & kMost) + 1};
    default:
      return {at(6, 2) & kMost, at(8, 2) & kMost};
  }
}

}  // namespace

#ifndef ZERORUN_HAVE_OPENCV
Status decode_by_opencv(const std::string& name, ContentKind kind, const SampleRules&,
                        std::vector<std::byte>&, Frame&) {
  return Status(Errc::not_built, "'" + name + "' is " +
                                     (kind == ContentKind::jpeg ? "a JPEG of a kind that only "
                                                                  "OpenCV decodes"
                                                                : name_of(kind)));
}

Status encode_by_opencv(const ConstFrameView&, const std::string& extension,
                        std::vector<std::byte>&) {
  return Status(Errc::not_built, extension);
}
#endif

void describe_picture(std::shared_ptr<const PictureContent> content, SourceInfo& info) {
  info.rotation_degrees = rotation_of(content->orientation);
  info.mirrored = is_mirrored(content->orientation);
  info.density = content->density;
  if (const Rational shape = pixel_shape(info.density); shape.known()) info.sample_aspect = shape;
  describe_cicp(*content, info.content);
  info.picture = std::move(content);
}

ContentKind sniff(std::span<const std::byte> bytes) noexcept {
  using namespace std::string_view_literals;
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kSniffBytes));
  if (head.starts_with("YUV4MPEG2")) return ContentKind::y4m;
  // T.81 B.2.1 wants FF next. A file without it is still a JPEG, which the decoder tolerates or
  // refuses with its reason.
  if (head.starts_with("\xFF\xD8")) return ContentKind::jpeg;
  if (head.starts_with("\x89PNG\r\n\x1A\n")) return ContentKind::png;
  if (head.starts_with("II*\0"sv) || head.starts_with("MM\0*"sv)) return ContentKind::tiff;
  // The 4 reserved bytes of a BMP are zero; many texts start with "BM".
  if (head.starts_with("BM") && head.find("\0\0\0\0"sv, 6) == 6) return ContentKind::bmp;
  if (head.starts_with("RIFF") && head.find("WEBP", 8) == 8) return ContentKind::webp;
  const bool is_pnm = head.size() >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6' &&
                      " #\t\n\v\f\r"sv.find(head[2]) != std::string_view::npos;
  return is_pnm ? ContentKind::pnm : ContentKind::unknown;
}

Status ImageFileReader::read_jpeg(ByteReader& file, FrameWork& work, SourceInfo& facts,
                                  int threads) {
  ZR_TRY(read_whole_file(file, kMaxImageFileBytes, work.bytes));
  const std::span<const std::byte> data = work.bytes;
  Result<StreamInfo> info = inspect(data, options_.limits);
  // OpenCV decodes the kinds that zerorun names and refuses (CMYK, arithmetic coding). It never
  // gets a damaged stream: one can make OpenCV before 4.12 write outside its memory
  // (CVE-2025-53644).
  if (!info && group(info.status().code()) == ErrorGroup::unsupported) {
    const auto kind = jpeg_kind(data);  // its frame header was not parsed
    if (!kind) return Status(Errc::bad_input, "'" + file.name() + "' has no frame header");
    ZR_TRY(
        check(file.name(), "", options_.limits.max_pixels,
              {static_cast<std::uint64_t>(kind->width), static_cast<std::uint64_t>(kind->height)}));
    return decode_by_opencv(file.name(), ContentKind::jpeg, options_.samples, work.bytes,
                            work.item);
  }
  Status status = info ? jpeg_.decode(data, *info, work, threads) : info.status();
  if (!status) {
    const std::string what = status.detail().empty() ? "" : ": " + status.detail();
    return Status(status.code(), "'" + file.name() + "'" + what).at_byte(status.byte_offset());
  }
  describe_jpeg(*info, facts);
  return Status::ok();
}

/// Reads the first picture that libavcodec finds: DPX, EXR, TGA and others.
Status ImageFileReader::read_by_media(ByteReader file, [[maybe_unused]] FrameWork& work,
                                      [[maybe_unused]] SourceInfo& facts,
                                      [[maybe_unused]] int threads) {
  const std::string name = file.name();
#ifdef ZERORUN_HAVE_FFMPEG
  SourceOptions options = options_;
  if (threads != 0) options.threads = threads;
  ZR_LET(media, open_media(std::move(file), "", false, options));
  if (!media.frames) return Status(Errc::unknown_format, "'" + name + "' is a video, not an image");
  FrameWork picture;
  std::swap(picture.item, work.item);
  Result<bool> more = media.frames->next(picture);
  Status status = !more ? more.status() : *more ? picture.load() : Status::ok();
  std::swap(picture.item, work.item);
  ZR_TRY(status);
  if (!*more) return Status(Errc::bad_input, "'" + name + "' holds no picture");
  facts.codec = media.frames->info().codec;
  return Status::ok();
#else
  return Status(Errc::unknown_format, "'" + name + "'");
#endif
}

Status ImageFileReader::read(ByteReader& file, FrameWork& work, SourceInfo& facts, int threads) {
  const ContentKind kind = sniff(file.peek(kSniffBytes));
  if (!file.error()) return file.error();
  if (file.peek(1).empty()) return Status(Errc::bad_input, "'" + file.name() + "': it is empty");
  facts = {};
  facts.codec = name_of(kind);
  facts.is_jpeg = kind == ContentKind::jpeg;
  ZR_TRY(read_kind(file, kind, work, facts, threads));
  const bool has_content = kind == ContentKind::jpeg || kind == ContentKind::png ||
                           kind == ContentKind::tiff || kind == ContentKind::webp;
  work.content = nullptr;
  if (!has_content) return Status::ok();
  work.content = std::make_shared<PictureContent>(picture_content(work.bytes));
  describe_picture(work.content, facts);
  return Status::ok();
}

Status ImageFileReader::read_kind(ByteReader& file, ContentKind kind, FrameWork& work,
                                  SourceInfo& facts, int threads) {
  const std::string& name = file.name();
  switch (kind) {
    case ContentKind::jpeg:
      return read_jpeg(file, work, facts, threads);
    case ContentKind::pnm:
      return read_pnm(file, options_.samples, work.item, work.bytes);
    case ContentKind::y4m:
      return Status(Errc::unknown_format, "'" + name + "' is a video, not an image");
    case ContentKind::unknown:
      return read_by_media(std::move(file), work, facts, threads);
    default:
      break;
  }
  const std::span<const std::byte> head = file.peek(kForeignBytes);
  const std::string foreign =
      foreign_format({reinterpret_cast<const char*>(head.data()), head.size()}, name);
  if (!foreign.empty()) return Status(Errc::unknown_format, "'" + name + "': " + foreign);
  ZR_TRY(read_whole_file(file, kMaxImageFileBytes, work.bytes));
#ifdef ZERORUN_HAVE_PNG
  if (kind == ContentKind::png) return decode_png(name, options_.samples, work.bytes, work.item);
#endif
  return decode_by_opencv(name, kind, options_.samples, work.bytes, work.item);
}

Status check_stored_size(const std::string& name, ContentKind kind, std::int64_t max_pixels,
                         std::span<const std::byte> data) {
  if (kind == ContentKind::tiff) return check_tiff(name, max_pixels, as_u8(data));
  if (kind == ContentKind::png)  // PNG 11.2.2: IHDR comes first
    return check(name, "", max_pixels,
                 {number(as_u8(data), 16, 4, false).value_or(0),
                  number(as_u8(data), 20, 4, false).value_or(0)});
  if (kind == ContentKind::webp) return check(name, "", max_pixels, webp_size(as_u8(data)));
  return Status::ok();
}

namespace {

/// `Base` is HalvedPacketSink or HalvedFrameSink.
template <typename Base>
class SinkOfImages : public Base {
 public:
  explicit SinkOfImages(ImageOutput output) : output_(std::move(output)) {}
  Status finish() final { return output_.finish(); }
  std::int64_t bytes_written() const final { return output_.bytes_written(); }

 protected:
  ImageOutput output_;

 private:
  Status place(Outgoing& out) final { return output_.commit(out); }
};

class JpegSink final : public SinkOfImages<HalvedPacketSink> {
 public:
  using SinkOfImages::SinkOfImages;

  Status prepare(std::span<const std::byte> jpeg, Outgoing& out) override {
    if (!is_jpeg(jpeg)) return Status(Errc::invalid_argument, "the packet is not a JPEG stream");
    out.parts.assign(1, jpeg);
    return output_.prepare(out);
  }
};

/// P5 or P6 (pgm(5), ppm(5)): the header, and the rows where they are.
void encode_pnm(const ConstFrameView& frame, Outgoing& out) {
  const std::string header = std::string(frame.format == PixelFormat::gray8 ? "P5" : "P6") + "\n" +
                             std::to_string(frame.width) + " " + std::to_string(frame.height) +
                             "\n255\n";
  const auto bytes = std::as_bytes(std::span(header));
  out.bytes.assign(bytes.begin(), bytes.end());
  out.parts.assign(1, out.bytes);
  add_frame(frame, out.parts);
}

class ImageSink final : public SinkOfImages<HalvedFrameSink> {
 public:
  ImageSink(ImageOutput output, std::string format)
      : SinkOfImages(std::move(output)), format_(std::move(format)) {}

  /// pgm is always grey and ppm always RGB; the other formats follow the frame.
  PixelFormat wanted_format(PixelFormat native) const override {
    const bool gray = format_ == "pgm" || (format_ != "ppm" && native == PixelFormat::gray8);
    return gray ? PixelFormat::gray8 : PixelFormat::rgb24;
  }

  Status prepare(const ConstFrameView& frame, Outgoing& out) override {
    ZR_TRY(validate(frame));
    ZR_LET(wanted, frames_.in_format(wanted_format(frame.format), frame, out));
    if (is_pnm_output(format_)) {
      encode_pnm(wanted, out);
    } else {
      ZR_TRY(encode(wanted, out.bytes));
      if (out.content) embed_content(*out.content, format_, out.bytes);
      out.parts.assign(1, out.bytes);
    }
    return output_.prepare(out);
  }

 private:
  Status encode(const ConstFrameView& frame, std::vector<std::byte>& bytes) const {
#ifdef ZERORUN_HAVE_PNG
    if (format_ == "png") return encode_png(frame, bytes);
#endif
    return encode_by_opencv(frame, format_, bytes);
  }

  std::string format_;
  WantedFrames frames_;
};

}  // namespace

bool is_pnm_output(const std::string& format) {
  return format == "pgm" || format == "ppm" || format == "pnm";
}

bool needs_opencv(const std::string& format) {
  return format == "png" || format == "tif" || format == "tiff" || format == "bmp" ||
         format == "webp";
}

PacketSinkPtr make_jpeg_sink(ImageOutput output) {
  return std::make_unique<JpegSink>(std::move(output));
}

FrameSinkPtr make_image_sink(ImageOutput output, const std::string& format) {
  return std::make_unique<ImageSink>(std::move(output), format);
}

}  // namespace zerorun::io
