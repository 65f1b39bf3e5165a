// SPDX-License-Identifier: MIT
#include "io/ffmpeg/announced_size.hpp"

#include <bit>
#include <string_view>

namespace zerorun::io {
namespace {

constexpr std::string_view kEbmlId = "\x1A\x45\xDF\xA3";
constexpr std::string_view kSegmentId = "\x18\x53\x80\x67";

/// Reads a header from its front; what is not there reads as nothing from then on.
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

  /// EBML's variable-size integer (RFC 8794, section 4); nothing too where all its bits are ones,
  /// which stands for a size that is not known.
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
  // 0 and the largest numbers are written by who cannot go back to the header.
  constexpr std::uint32_t kLargest = 0xFFFFFF00;
  const auto size = reader.little_endian();
  if (!size || *size == 0 || *size >= kLargest || !reader.starts_with("AVI ")) return std::nullopt;
  return 8 + std::int64_t{*size};
}

}  // namespace

std::optional<std::int64_t> announced_bytes(std::span<const std::byte> head) {
  HeadReader reader(head);
  if (reader.starts_with(kEbmlId)) return matroska_bytes(reader);
  if (reader.starts_with("RIFF")) return riff_bytes(reader);
  return std::nullopt;
}

}  // namespace zerorun::io
