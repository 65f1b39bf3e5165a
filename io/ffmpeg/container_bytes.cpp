// What zerorun reads from the bytes of an input itself.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/container_bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string_view>
#include <utility>

#include "io/base/location.hpp"
#include "io/ffmpeg/av.hpp"

namespace zerorun::io {
namespace {

constexpr std::string_view kEbmlId = "\x1A\x45\xDF\xA3";
constexpr std::string_view kSegmentId = "\x18\x53\x80\x67";
constexpr std::uint64_t kUnknownSize = UINT64_MAX;

/// Reads a header from front to back. A read beyond its end fails and consumes nothing.
class HeadReader {
 public:
  explicit HeadReader(std::span<const std::byte> head) : head_(head) {}

  bool starts_with(std::string_view text) {
    if (left() < text.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (std::to_integer<char>(head_[at_ + i]) != text[i]) return false;
    at_ += text.size();
    return true;
  }

  /// EBML's variable-size integer (RFC 8794, section 4). kUnknownSize if all its bits are ones.
  std::optional<std::uint64_t> variable_size() {
    const std::size_t bytes = length();
    const auto value = bytes <= 8 ? big_endian(bytes) : std::nullopt;
    if (!value) return std::nullopt;
    const std::uint64_t mask = (std::uint64_t{1} << (7 * bytes)) - 1;
    return (*value & mask) == mask ? kUnknownSize : *value & mask;
  }

  /// The same with the bit that marks its length, as identifiers of elements are written.
  std::optional<std::uint32_t> identifier() {
    const std::size_t bytes = length();
    const auto value = bytes <= 4 ? big_endian(bytes) : std::nullopt;
    if (!value) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
  }

  std::optional<std::uint64_t> big_endian(std::size_t bytes) {
    if (bytes > left() || bytes > 8) return std::nullopt;
    std::uint64_t number = 0;
    for (; bytes > 0; --bytes) number = number << 8 | std::to_integer<std::uint64_t>(head_[at_++]);
    return number;
  }

  bool skip(std::uint64_t bytes) {
    if (bytes > left()) return false;
    at_ += static_cast<std::size_t>(bytes);
    return true;
  }

  std::size_t at() const noexcept { return at_; }

 private:
  std::size_t left() const noexcept { return head_.size() - at_; }
  /// Length of a variable-size integer in bytes, by its first byte; 9 if that is 0 or missing.
  std::size_t length() const noexcept {
    if (left() == 0) return 9;
    return static_cast<std::size_t>(std::countl_zero(std::to_integer<std::uint8_t>(head_[at_]))) +
           1;
  }

  std::span<const std::byte> head_;
  std::size_t at_ = 0;
};

std::optional<std::int64_t> matroska_bytes(HeadReader reader) {
  const auto header = reader.variable_size();
  if (!header || !reader.skip(*header) || !reader.starts_with(kSegmentId)) return std::nullopt;
  const auto segment = reader.variable_size();
  if (!segment || *segment == kUnknownSize) return std::nullopt;
  return static_cast<std::int64_t>(reader.at() + *segment);
}

std::optional<std::int64_t> riff_bytes(HeadReader reader) {
  // Writers that cannot return to the header leave 0 or one of the largest numbers.
  constexpr std::uint32_t kLargest = 0xFFFFFF00;
  const auto swapped = reader.big_endian(4);
  const std::uint32_t size = __builtin_bswap32(static_cast<std::uint32_t>(swapped.value_or(0)));
  if (size == 0 || size >= kLargest || !reader.starts_with("AVI ")) return std::nullopt;
  return 8 + std::int64_t{size};
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

std::optional<std::int64_t> announced_bytes(const ByteReader& movie) {
  constexpr int kMostBoxes = 1 << 20;
  std::uint64_t at = 0;
  for (int i = 0; i < kMostBoxes; ++i) {
    std::array<std::byte, 16> bytes{};
    const std::span<std::byte> head(bytes);
    const auto is_there = movie.read_at(at, {&head, 1});
    if (!is_there || !*is_there) return std::nullopt;
    HeadReader reader(head);
    std::uint64_t size = *reader.big_endian(4);
    const bool is_known =
        reader.starts_with("mdat") || reader.starts_with("moof") || reader.starts_with("moov");
    if (!is_known) reader.skip(4);
    if (size == 1) size = *reader.big_endian(8);
    if (size < 8 || size > INT64_MAX - at) return std::nullopt;  // 0: up to the end of the file
    at += size;
    if (is_known && at > movie.size().value_or(0)) return static_cast<std::int64_t>(at);
  }
  return std::nullopt;
}

Status unknown_input(const std::string& name, std::span<const std::byte> head) {
  const std::string foreign =
      foreign_format({reinterpret_cast<const char*>(head.data()), head.size()}, name);
  if (!foreign.empty()) return Status(Errc::unknown_format, "'" + name + "': " + foreign);
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

namespace av {
namespace {

/// The header of a chunk of an AVI file: its identifier, and the size of its data.
struct AviChunk {
  std::array<char, 4> id{};
  std::uint64_t bytes = 0;

  /// "00dc" and "00db" are pictures of stream 0.
  bool is_picture_of(int stream) const noexcept {
    return id[0] - '0' == stream / 10 && id[1] - '0' == stream % 10 && id[2] == 'd' &&
           (id[3] == 'c' || id[3] == 'b');
  }
  bool is_named(std::string_view name) const noexcept {
    return std::string_view(id.data(), id.size()) == name;
  }
};
constexpr std::uint64_t kChunkHeadBytes = 8, kListHeadBytes = 12;

/// nullopt at the end of the file, or where it cannot be read.
std::optional<AviChunk> chunk_at(const ByteReader& file, std::uint64_t at) {
  std::array<std::byte, kChunkHeadBytes> head{};
  const std::span<std::byte> whole(head);
  const Result<bool> read = file.read_at(at, {&whole, 1});
  if (!read || !*read) return std::nullopt;
  AviChunk chunk;
  for (std::size_t i = 0; i < 4; ++i) {
    chunk.id[i] = std::to_integer<char>(head[i]);
    chunk.bytes |= std::to_integer<std::uint64_t>(head[4 + i]) << (8 * i);
  }
  return chunk;
}

/// The pictures with data from `at` on, by the headers of all chunks. 0 if there is no index behind
/// them: then the list that FFmpeg has is that of the chunks that it has read, which is true.
std::int64_t count_pictures(const ByteReader& file, std::uint64_t at, int stream) {
  std::int64_t count = 0;
  bool has_index = false;
  while (const auto chunk = chunk_at(file, at)) {
    if (chunk->id[0] == 0) break;  // zeros would be read 8 bytes at a time
    if (chunk->is_picture_of(stream) && chunk->bytes > 0) ++count;
    has_index |= chunk->is_named("idx1");
    const bool is_list = chunk->is_named("LIST") || chunk->is_named("RIFF");
    at += is_list ? kListHeadBytes : kChunkHeadBytes + chunk->bytes + chunk->bytes % 2;
  }
  return has_index ? count : 0;
}

// RFC 9559, with the marker bits of their lengths.
constexpr std::uint32_t kSegment = 0x18538067, kTracks = 0x1654AE6B, kTrackEntry = 0xAE,
                        kTrackNumber = 0xD7, kTrackType = 0x83, kCluster = 0x1F43B675,
                        kTimestamp = 0xE7, kBlockGroup = 0xA0, kBlock = 0xA1, kSimpleBlock = 0xA3;
constexpr std::uint64_t kVideoType = 1;
constexpr std::byte kLacing{0x06};
constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 60;
constexpr std::size_t kMostFrames = std::size_t{1} << 26;

class MatroskaWalk {
 public:
  explicit MatroskaWalk(const ByteReader& file) : file_(file), size_(file.size().value_or(0)) {}

  std::optional<std::vector<std::int64_t>> run() {
    std::uint64_t at = 0;
    while (at < size_) {
      const auto next = step(at);
      if (!next || *next <= at) return std::nullopt;
      at = *next;
    }
    const bool rises =
        std::adjacent_find(times_.begin(), times_.end(), std::greater_equal<>()) == times_.end();
    if (at != size_ || !rises || times_.empty()) return std::nullopt;
    return std::move(times_);
  }

 private:
  /// Takes the element at `at`. Returns where the next one is: in its body, if it holds others.
  std::optional<std::uint64_t> step(std::uint64_t at) {
    // The header of the element and the start of its body, as far as the file goes.
    std::array<std::byte, 32> bytes_there{};
    const std::span<std::byte> head = std::span(bytes_there)
                                          .first(static_cast<std::size_t>(std::min<std::uint64_t>(
                                              bytes_there.size(), size_ - at)));
    const auto read = file_.read_at(at, {&head, 1});
    if (!read || !*read) return std::nullopt;
    HeadReader reader(head);
    const auto id = reader.identifier();
    const auto bytes = id ? reader.variable_size() : std::nullopt;
    if (!bytes) return std::nullopt;
    const std::uint64_t body = at + reader.at();
    const bool is_unknown = *bytes == kUnknownSize;
    if (!is_unknown && *bytes > size_ - body) return std::nullopt;  // cut off
    if (holds_others(*id)) return body;
    if (is_unknown || !take(*id, *bytes, reader)) return std::nullopt;
    return body + *bytes;
  }

  bool holds_others(std::uint32_t id) {
    if (id == kTrackEntry) {
      track_ = 0;
      is_video_ = false;
    }
    return id == kSegment || id == kTracks || id == kTrackEntry || id == kCluster ||
           id == kBlockGroup;
  }

  /// False if it is more than this walk follows. Number and type come in either order.
  bool take(std::uint32_t id, std::uint64_t bytes, HeadReader& reader) {
    if (id == kSimpleBlock || id == kBlock) return take_block(bytes, reader);
    if (id != kTrackNumber && id != kTrackType && id != kTimestamp) return true;
    const auto value =
        reader.big_endian(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 9)));
    if (!value) return false;
    if (id == kTimestamp) {
      cluster_time_ = static_cast<std::int64_t>(std::min(*value, kMostTicks));
      return *value <= kMostTicks;
    }
    if (id == kTrackNumber) track_ = *value;
    if (id == kTrackType) is_video_ = *value == kVideoType;
    return take_track();
  }

  bool take_track() {
    if (!is_video_ || track_ == 0) return true;
    if (video_track_ != 0) return false;
    video_track_ = track_;
    is_video_ = false;
    return true;
  }

  bool take_block(std::uint64_t bytes, HeadReader& reader) {
    const auto track = reader.variable_size();
    const auto time = reader.big_endian(2);
    const auto flags = reader.big_endian(1);
    constexpr std::uint64_t kBlockHead = 4;
    if (!track || !time || !flags || video_track_ == 0) return false;
    if (*track != video_track_ || bytes <= kBlockHead) return true;  // an empty one is no frame
    if ((static_cast<std::byte>(*flags) & kLacing) != std::byte{} || times_.size() >= kMostFrames)
      return false;
    times_.push_back(cluster_time_ + static_cast<std::int16_t>(*time));
    return true;
  }

  const ByteReader& file_;
  std::uint64_t size_;
  std::uint64_t track_ = 0, video_track_ = 0;
  bool is_video_ = false;
  std::int64_t cluster_time_ = 0;
  std::vector<std::int64_t> times_;
};

}  // namespace

bool avi_index_lies(AVStream& stream, const ByteReader& file) {
  const int entries = avformat_index_get_entries_count(&stream);
  if (entries < 1 || !file.size()) return false;
  constexpr int kSamples = 64;
  const int step = std::max(1, entries / kSamples);
  std::uint64_t end = 0;
  for (int i = 0; i < entries; ++i) {
    const AVIndexEntry& entry = *avformat_index_get_entry(&stream, i);
    const auto at = static_cast<std::uint64_t>(entry.pos);
    if (entry.pos < 0 || entry.size < 0 || at < end || at >= *file.size()) return true;
    // What is cut off at the end of the file is reported as missing bytes.
    end = at + kChunkHeadBytes + static_cast<std::uint64_t>(entry.size);
    if (i % step != 0 && i != entries - 1) continue;
    const auto chunk = chunk_at(file, at);
    if (!chunk || !chunk->is_picture_of(stream.index)) return true;
  }
  // Time stamps count chunks without data, too, which repeat a picture and have no entry.
  if (stream.nb_frames <= avformat_index_get_entry(&stream, entries - 1)->timestamp + 1)
    return false;
  const auto first = static_cast<std::uint64_t>(avformat_index_get_entry(&stream, 0)->pos);
  return count_pictures(file, first, stream.index) > entries;
}

std::optional<std::vector<std::int64_t>> mkv_frame_times(const ByteReader& file) {
  if (!file.size()) return std::nullopt;
  return MatroskaWalk(file).run();
}

}  // namespace av
}  // namespace zerorun::io
