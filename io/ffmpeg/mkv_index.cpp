// The time of every frame of a Matroska file, by the headers of its blocks.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/mkv_index.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>

namespace zerorun::io::av {
namespace {

// RFC 9559, with the marker bits of their lengths.
constexpr std::uint32_t kSegment = 0x18538067, kTracks = 0x1654AE6B, kTrackEntry = 0xAE,
                        kTrackNumber = 0xD7, kTrackType = 0x83, kCluster = 0x1F43B675,
                        kTimestamp = 0xE7, kBlockGroup = 0xA0, kBlock = 0xA1, kSimpleBlock = 0xA3;
constexpr std::uint64_t kVideoType = 1;
constexpr std::byte kLacing{0x06};
constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 60;
constexpr std::size_t kMostFrames = std::size_t{1} << 26;

/// The first bytes of an element, as far as the file goes: its header and the start of its body.
struct Head {
  std::array<std::byte, 32> bytes{};
  std::size_t size = 0;
};

/// Values with a length of their own (RFC 8794, section 4).
class HeadReader {
 public:
  explicit HeadReader(const Head& head) : rest_(std::span(head.bytes).first(head.size)) {}

  /// With the bit that marks the length, as identifiers are written. nullopt if it is cut short.
  std::optional<std::uint64_t> marked(std::size_t most_bytes, std::size_t& bytes) {
    bytes = 1;
    while (!rest_.empty() && bytes <= most_bytes &&
           (std::to_integer<unsigned>(rest_[0]) & (0x100u >> bytes)) == 0)
      ++bytes;
    if (bytes > most_bytes) return std::nullopt;
    return number(bytes);
  }

  /// Without that bit. All ones mean an unknown size, which is UINT64_MAX here.
  std::optional<std::uint64_t> value() {
    std::size_t bytes = 0;
    const auto with_mark = marked(8, bytes);
    if (!with_mark) return std::nullopt;
    const std::uint64_t mask = (std::uint64_t{1} << (7 * bytes)) - 1;
    return (*with_mark & mask) == mask ? UINT64_MAX : *with_mark & mask;
  }

  std::optional<std::uint64_t> number(std::size_t bytes) {
    if (bytes > rest_.size() || bytes > 8) return std::nullopt;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      number = number << 8 | std::to_integer<std::uint64_t>(rest_[i]);
    rest_ = rest_.subspan(bytes);
    return number;
  }

  std::size_t left() const noexcept { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

class Walk {
 public:
  explicit Walk(const ByteReader& file) : file_(file), size_(file.size().value_or(0)) {}

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
    Head head;
    head.size = static_cast<std::size_t>(std::min<std::uint64_t>(head.bytes.size(), size_ - at));
    const std::span<std::byte> part = std::span(head.bytes).first(head.size);
    const auto read = file_.read_at(at, {&part, 1});
    if (!read || !*read) return std::nullopt;
    HeadReader reader(head);
    std::size_t id_bytes = 0;
    const auto id = reader.marked(4, id_bytes);
    const auto bytes = id ? reader.value() : std::nullopt;
    if (!bytes) return std::nullopt;
    const std::uint64_t body = at + head.size - reader.left();
    const bool is_unknown = *bytes == UINT64_MAX;
    if (!is_unknown && *bytes > size_ - body) return std::nullopt;  // cut off
    if (holds_others(static_cast<std::uint32_t>(*id))) return body;
    if (is_unknown || !take(static_cast<std::uint32_t>(*id), *bytes, reader)) return std::nullopt;
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
    const auto value = reader.number(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 9)));
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
    const auto track = reader.value();
    const auto time = reader.number(2);
    const auto flags = reader.number(1);
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

std::optional<std::vector<std::int64_t>> mkv_frame_times(const ByteReader& file) {
  if (!file.size()) return std::nullopt;
  return Walk(file).run();
}

}  // namespace zerorun::io::av
