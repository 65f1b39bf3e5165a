// Guesses how many pixels an input has, before anything is decoded.
// SPDX-License-Identifier: MIT
#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "io/base/byte_reader.hpp"
#include "io/pictures/image_file.hpp"
#include "io/base/location.hpp"
#include "io/base/sequence.hpp"
#include "io/raw/y4m_header.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {
namespace {

/// Pixels for each byte of a file whose header does not tell its size. Measured: samples/media's
/// raccoon.jpg has 3.1, and pans over its photos at 1280x720 have 5.0 as JPEG at quality 90 and 55
/// as H.264 (x264, crf 23), at 3840x2160 47. TIFF, BMP and PNM have 24 bits
/// a pixel.
constexpr double kJpegPixelsPerByte = 4.0;
constexpr double kVideoPixelsPerByte = 50.0;
constexpr double kImagePixelsPerByte = 1.0 / 3.0;

/// The first bytes of a file, and its length.
struct Head {
  std::string bytes;
  double file_bytes = 0;
};

/// False for everything but a regular file: a read could block, or consume the bytes of a pipe.
bool read_head(const std::string& path, OpenedFile* opened, Head& head) {
  constexpr std::size_t kHeadBytes = 1024;  // the header line of YUV4MPEG2 has less
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || error) return false;
  // Not by std::ifstream, which repeats a read that EINTR ends for ever.
  auto file = opened != nullptr ? opened->open(path) : ByteReader::open(path);
  if (!file) return false;
  const std::span<const std::byte> first = file->peek(kHeadBytes);
  head.bytes.assign(reinterpret_cast<const char*>(first.data()), first.size());
  head.file_bytes = static_cast<double>(file->size().value_or(0));
  if (opened != nullptr) opened->keep(*std::move(file));
  return true;
}

double in_range(double frames, const SourceOptions& options) {
  const auto first = static_cast<double>(std::max<std::int64_t>(options.first_frame, 0));
  if (options.last_frame >= 0) frames = std::min(frames, static_cast<double>(options.last_frame));
  return std::max(0.0, frames - first);
}

/// IHDR is always the first chunk of a PNG; its numbers are big-endian.
double png_pixels(const Head& head) {
  std::uint32_t size[2];
  if (head.bytes.size() < 16 + sizeof size) return 0.0;
  std::memcpy(size, head.bytes.data() + 16, sizeof size);
  return static_cast<double>(ntohl(size[0])) * ntohl(size[1]);
}

double y4m_pixels(const Head& head, const SourceOptions& options) {
  const auto header = parse_y4m_header(head.bytes.substr(0, head.bytes.find('\n')));
  if (!header) return 0.0;
  const double frames = head.file_bytes / static_cast<double>(header->frame_bytes());
  return static_cast<double>(header->width) * header->height * in_range(frames, options);
}

double pixels_of(const Head& head, const SourceOptions& options) {
  switch (sniff(std::as_bytes(std::span(head.bytes)))) {
    case ContentKind::y4m:
      return y4m_pixels(head, options);
    case ContentKind::png:
      return png_pixels(head);
    case ContentKind::jpeg:
    case ContentKind::webp:
      return head.file_bytes * kJpegPixelsPerByte;
    case ContentKind::pnm:
    case ContentKind::tiff:
    case ContentKind::bmp:
      return head.file_bytes * kImagePixelsPerByte;
    default:
      return head.file_bytes * kVideoPixelsPerByte;
  }
}

std::optional<double> estimate(const Location& input, const SourceOptions& options) {
  const auto parsed = parse_input(input);
  if (!parsed || parsed->kind == LocationKind::stream || parsed->kind == LocationKind::address)
    return std::nullopt;
  Head head;
  if (parsed->kind == LocationKind::file) {
    if (!read_head(parsed->path, options.opened.get(), head)) return std::nullopt;
    if (input.format == "raw")
      return head.file_bytes / 1.5;  // 4:2:0; a frame of any format is as long within a factor of 3
    return pixels_of(head, options);
  }
  auto files = FileSequence::open(*parsed, input.start_number, options.missing,
                                  options.file_numbers, options.subfolders);
  if (!files) return std::nullopt;
  const auto first = files->next();
  if (!first || !*first || !read_head((*first)->path, options.opened.get(), head))
    return std::nullopt;
  SourceOptions whole = options;  // the range counts files here
  whole.first_frame = 0;
  whole.last_frame = -1;
  return pixels_of(head, whole) * in_range(static_cast<double>(files->count()), options);
}

}  // namespace

std::optional<double> estimate_pixels(const Location& input, const SourceOptions& options) {
  try {
    return estimate(input, options);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace zerorun::io
