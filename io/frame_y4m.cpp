// Reads YUV4MPEG2 from files and pipes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "io/formats.hpp"
#include "io/pixel_pack.hpp"
#include "io/y4m_header.hpp"
#include "io/ycc_to_jfif.hpp"

namespace zerorun::io {
namespace {

/// Far more than any writer needs; a missing line feed is found before the buffer grows.
constexpr std::size_t kMaxHeaderLine = 4096;
constexpr std::size_t kMaxFrameLine = 256;

/// A line of at most `limit` bytes without its line feed; nullopt if there is none.
std::optional<std::string> read_line(ByteReader& reader, std::size_t limit) {
  std::string line;
  for (;;) {
    const int c = reader.get();
    if (c < 0) return std::nullopt;
    if (c == '\n') return line;
    if (line.size() == limit) return std::nullopt;
    line += static_cast<char>(c);
  }
}

class Y4mReader final : public FrameReader {
 public:
  Y4mReader(ByteReader reader, const Y4mHeader& header)
      : reader_(std::move(reader)),
        header_(header),
        to_jfif_({header.depth_bits, header.full_range, kBt601}),
        first_offset_(reader_.offset()) {
    info_.width = header.width;
    info_.height = header.height;
    info_.format = header.format;
    info_.frame_rate = header.frame_rate;
    if (header.frame_rate.known()) info_.time_base = {header.frame_rate.den, header.frame_rate.num};
    info_.sample_aspect = header.sample_aspect;
    info_.container = "y4m";
    info_.codec = "rawvideo";
    // True where no FRAME line has parameters. The selection relies on the count, so it has to
    // divide without a remainder.
    if (reader_.size() && reader_.remaining() % bytes_each() == 0)
      info_.frame_count = static_cast<std::int64_t>(reader_.remaining() / bytes_each());
  }

  std::string last_name() const override {
    return reader_.name() + " frame " + std::to_string(index_ - 1);
  }

  Result<bool> read(Frame& frame, FrameTime& time) override {
    Result<bool> more = read_frame_line();
    if (!more || !*more) return more;
    ZR_TRY(frame.reshape(header_.format, header_.width, header_.height));
    ZR_TRY(to_jfif_.is_identity() ? read_planes(frame) : read_and_convert(frame));
    time = {index_++, 1};
    return true;
  }

  Result<bool> skip() override {
    Result<bool> more = read_frame_line();
    if (!more || !*more) return more;
    if (!reader_.skip(header_.frame_bytes())) return cut_short();
    ++index_;
    return true;
  }

  bool can_seek() const override { return reader_.size().has_value(); }

  Result<std::int64_t> seek_index(std::int64_t index) override {
    index = std::max<std::int64_t>(index, 0);
    if (info_.frame_count > 0) {
      index = std::min(index, info_.frame_count - 1);
      index_ = index;
      if (reader_.seek(first_offset_ + static_cast<std::uint64_t>(index) * bytes_each()) &&
          is_frame_word(reader_.peek(kFrameWord.size())))
        return index;
    }
    return walk_to(index);
  }

 private:
  static constexpr std::string_view kFrameWord = "FRAME";

  static bool is_frame_word(std::span<const std::byte> bytes) noexcept {
    return bytes.size() == kFrameWord.size() &&
           std::memcmp(bytes.data(), kFrameWord.data(), bytes.size()) == 0;
  }

  /// Bytes of a frame whose line has no parameters.
  std::uint64_t bytes_each() const noexcept {
    return header_.frame_bytes() + kFrameWord.size() + 1;
  }

  /// Steps from frame to frame: their lines may have parameters.
  Result<std::int64_t> walk_to(std::int64_t index) {
    if (!reader_.seek(first_offset_)) return cannot_seek();
    for (index_ = 0; index_ < index;) {
      ZR_LET(more, skip());
      if (!more) break;
    }
    if (index_ > 0 && reader_.peek(1).empty()) return walk_to(index_ - 1);
    return index_;
  }

  Result<bool> read_frame_line() {
    if (reader_.buffered().empty()) {
      ZR_TRY(reader_.error());
      return false;
    }
    const std::optional<std::string> line = read_line(reader_, kMaxFrameLine);
    const bool is_frame = line && (*line == "FRAME" || line->starts_with("FRAME "));
    if (is_frame) return true;
    ZR_TRY(reader_.error());
    return Status(Errc::bad_input, where() + " does not start with the word FRAME");
  }

  /// The bytes are what a frame holds: they are read into its rows.
  Status read_planes(Frame& frame) {
    for (int plane = 0; plane < plane_count(header_.format); ++plane) {
      const std::size_t bytes = plane_row_bytes(header_.format, plane, header_.width);
      for (int row = 0; row < plane_rows(header_.format, plane, header_.height); ++row) {
        auto* to = reinterpret_cast<std::byte*>(row_of(frame.view(), plane, row));
        if (reader_.read({to, bytes}) != bytes) return cut_short();
      }
    }
    return read_over_alpha();
  }

  /// Samples over 8 bits are little-endian, as is every machine that this runs on.
  Status read_and_convert(Frame& frame) {
    YccPlanes planes;
    for (int plane = 0; plane < plane_count(header_.format); ++plane) {
      const auto p = static_cast<std::size_t>(plane);
      samples_[p].resize(static_cast<std::size_t>(header_.plane_bytes(plane)));
      if (reader_.read(samples_[p]) != samples_[p].size()) return cut_short();
      planes.data[p] = reinterpret_cast<const std::uint8_t*>(samples_[p].data());
      planes.stride_bytes[p] = static_cast<std::ptrdiff_t>(
          plane_row_bytes(header_.format, plane, header_.width) * (header_.depth_bits > 8 ? 2 : 1));
    }
    ZR_TRY(read_over_alpha());
    to_jfif_.convert(planes, frame.view());
    return Status::ok();
  }

  Status read_over_alpha() {
    if (header_.has_alpha && !reader_.skip(header_.plane_bytes(3))) return cut_short();
    return Status::ok();
  }

  std::string where() const { return "'" + reader_.name() + "': frame " + std::to_string(index_); }

  Status cut_short() const {
    ZR_TRY(reader_.error());
    return Status(Errc::bad_input, where() + " is cut short");
  }

  ByteReader reader_;
  Y4mHeader header_;
  YccToJfif to_jfif_;
  std::uint64_t first_offset_;
  std::array<std::vector<std::byte>, 3> samples_;
};

}  // namespace

Result<FrameReaderPtr> open_y4m(ByteReader reader) {
  const std::optional<std::string> line = read_line(reader, kMaxHeaderLine);
  if (!line) {
    ZR_TRY(reader.error());
    return Status(Errc::bad_input, "'" + reader.name() + "': the YUV4MPEG2 header has no end");
  }
  Result<Y4mHeader> header = parse_y4m_header(*line);
  if (!header)
    return Status(header.status().code(), "'" + reader.name() + "': " + header.status().detail());
  return FrameReaderPtr(std::make_unique<Y4mReader>(std::move(reader), *header));
}

}  // namespace zerorun::io
