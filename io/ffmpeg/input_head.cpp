// What the first bytes of an input tell, and which inputs libavformat only guesses at.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/input_head.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "io/ffmpeg/av.hpp"

namespace zerorun::io {
namespace {

constexpr std::string_view kEbmlId = "\x1A\x45\xDF\xA3";
constexpr std::string_view kSegmentId = "\x18\x53\x80\x67";

/// Reads a header from front to back. A read beyond its end fails and consumes nothing.
class HeadReader {
 public:
  explicit HeadReader(std::span<const std::byte> head) : head_(head) {}

  bool starts_with(std::string_view text) {
    if (head_.size() - at_ < text.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (std::to_integer<char>(head_[at_ + i]) != text[i]) return false;
    at_ += text.size();
    return true;
  }

  /// EBML's variable-size integer (RFC 8794, section 4). nullopt also if all its bits are ones: an
  /// unknown size.
  std::optional<std::int64_t> variable_size() {
    if (at_ == head_.size()) return std::nullopt;
    const auto first = std::to_integer<std::uint8_t>(head_[at_]);
    const auto length = static_cast<std::size_t>(std::countl_zero(first)) + 1;
    if (length > 8 || head_.size() - at_ < length) return std::nullopt;
    std::uint64_t value = first & (0xFFu >> length);
    for (std::size_t i = 1; i < length; ++i)
      value = value << 8 | std::to_integer<std::uint64_t>(head_[at_ + i]);
    at_ += length;
    const std::uint64_t unknown = (std::uint64_t{1} << (7 * length)) - 1;
    if (value == unknown) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }

  bool skip(std::int64_t bytes) {
    if (bytes > static_cast<std::int64_t>(head_.size() - at_)) return false;
    at_ += static_cast<std::size_t>(bytes);
    return true;
  }

  std::optional<std::uint32_t> little_endian() {
    if (head_.size() - at_ < 4) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value |= std::to_integer<std::uint32_t>(head_[at_ + i]) << (8 * i);
    at_ += 4;
    return value;
  }

  std::int64_t at() const { return static_cast<std::int64_t>(at_); }

 private:
  std::span<const std::byte> head_;
  std::size_t at_ = 0;
};

std::optional<std::int64_t> matroska_bytes(HeadReader reader) {
  const auto header = reader.variable_size();
  if (!header || !reader.skip(*header) || !reader.starts_with(kSegmentId)) return std::nullopt;
  const auto segment = reader.variable_size();
  if (!segment) return std::nullopt;
  return reader.at() + *segment;
}

std::optional<std::int64_t> riff_bytes(HeadReader reader) {
  // Writers that cannot return to the header leave 0 or one of the largest numbers.
  constexpr std::uint32_t kLargest = 0xFFFFFF00;
  const auto size = reader.little_endian();
  if (!size || *size == 0 || *size >= kLargest || !reader.starts_with("AVI ")) return std::nullopt;
  return 8 + std::int64_t{*size};
}

/// Demuxers that make a picture of any text or noise, or without a file.
constexpr std::array<std::string_view, 7> kNoVideo{"tty", "bin",   "xbin", "adf",
                                                   "idf", "lavfi", "sbg"};

/// Pictures that are recognised by their first bytes. The demuxer "image2" goes by the file name.
constexpr std::array kToldByContent{AV_CODEC_ID_MJPEG, AV_CODEC_ID_PNG, AV_CODEC_ID_TIFF,
                                    AV_CODEC_ID_BMP, AV_CODEC_ID_WEBP};

/// The box that a MOV or MP4 file begins with (ISO/IEC 14496-12, 4.2).
bool is_movie_file(std::span<const std::byte> head) noexcept {
  constexpr std::size_t kSizeBytes = 4, kTypeBytes = 4;
  if (head.size() < kSizeBytes + kTypeBytes) return false;
  const std::string_view type(reinterpret_cast<const char*>(head.data()) + kSizeBytes, kTypeBytes);
  return type == "ftyp" || type == "moov" || type == "mdat" || type == "wide";
}

}  // namespace

std::optional<std::int64_t> announced_bytes(std::span<const std::byte> head) {
  HeadReader reader(head);
  if (reader.starts_with(kEbmlId)) return matroska_bytes(reader);
  if (reader.starts_with("RIFF")) return riff_bytes(reader);
  return std::nullopt;
}

Status unknown_input(const std::string& name, std::span<const std::byte> head) {
  if (is_movie_file(head))
    return Status(Errc::bad_input,
                  "'" + name + "': MOV or MP4 without an index; it may be cut short");
  return Status(Errc::unknown_format, "'" + name + "': it is neither an image nor a video");
}

bool is_guess(const AVFormatContext& context) noexcept {
  const std::string_view demuxer = context.iformat->name;
  if (demuxer == "image2")
    return context.nb_streams > 0 &&
           std::find(kToldByContent.begin(), kToldByContent.end(),
                     context.streams[0]->codecpar->codec_id) != kToldByContent.end();
  return std::find(kNoVideo.begin(), kNoVideo.end(), demuxer) != kNoVideo.end();
}

}  // namespace zerorun::io
