// Reads YUV4MPEG2 from files and pipes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <utility>

#include "io/samples/samples.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/base/readers.hpp"
#include "io/base/frame_parts.hpp"
#include "io/raw/y4m_header.hpp"
#include "io/samples/ycc_to_jfif.hpp"

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
  Y4mReader(ByteReader reader, const Y4mHeader& header, const SampleRules& rules, int threads)
      : reader_(std::move(reader)),
        header_(header),
        rules_(rules),
        to_jfif_(coding_of(header, rules)),
        first_offset_(reader_.offset()),
        threads_(threads) {
    info_.width = header.width;
    info_.height = header.height;
    info_.format = header.format;
    info_.frame_rate = header.frame_rate;
    if (header.frame_rate.known()) info_.time_base = {header.frame_rate.den, header.frame_rate.num};
    info_.sample_aspect = header.sample_aspect;
    info_.container = "y4m";
    info_.codec = "rawvideo";
    info_.content.field_order = header.interlace == 't'   ? FieldOrder::top_first
                                : header.interlace == 'b' ? FieldOrder::bottom_first
                                : header.interlace == 'p' ? FieldOrder::progressive
                                                          : FieldOrder::unknown;
    info_.content.range = to_jfif_.coding().full_range ? "pc" : "tv";
    info_.content.bits = header.depth_bits;
    info_.content.has_alpha = header.has_alpha;
    // True where no FRAME line has parameters. The selection relies on the count, so it has to
    // divide without a remainder.
    if (reader_.size() && reader_.remaining() % bytes_each() == 0)
      info_.frame_count = static_cast<std::int64_t>(reader_.remaining() / bytes_each());
  }

  std::string last_name() const override {
    return reader_.name() + " frame " + std::to_string(index_ - 1);
  }

  Result<bool> next(FrameWork& work) override {
    Result<bool> more = read_frame_line();
    if (!more || !*more) return more;
    ZR_TRY(reader_.size() ? leave_to_loader(work) : read_pipe(work));
    work.time = {index_++, 1};
    work.name = last_name();
    work.concealed = 0;
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
  bool finds_index() override { return can_seek(); }

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

  /// The header has no word for the matrix: BT.601, unless the caller says another.
  static YccCoding coding_of(const Y4mHeader& header, const SampleRules& rules) {
    const bool is_gray = header.format == PixelFormat::gray8;
    return {header.depth_bits, is_full_range(rules.range, header.full_range),
            is_gray ? kBt601 : weights_named(rules.matrix)};
  }

  bool blends() const noexcept { return header_.has_alpha && rules_.alpha != Alpha::ignore; }
  bool is_as_it_is() const noexcept { return to_jfif_.is_identity() && !blends(); }

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
    return Status(Errc::bad_input, where(index_) + " does not start with the word FRAME");
  }

  /// A file: threads read frames at their offsets.
  Status leave_to_loader(FrameWork& work) {
    const std::uint64_t offset = reader_.offset();
    if (!reader_.skip(header_.frame_bytes())) return cut_short();
    work.loader = [this, offset, index = index_](FrameWork& loaded, int threads) {
      return load(offset, index, loaded, threads > 0 ? threads : threads_);
    };
    return Status::ok();
  }

  /// A pipe: bytes that have to be converted are left to the loader.
  Status read_pipe(FrameWork& work) {
    std::vector<std::span<std::byte>> parts;
    ZR_TRY(make_room(work, parts));
    for (const std::span<std::byte> part : parts)
      if (reader_.read(part) != part.size()) return cut_short();
    if (header_.has_alpha && !blends() && !reader_.skip(header_.plane_bytes(3))) return cut_short();
    work.loader = nullptr;
    if (is_as_it_is()) return Status::ok();
    work.loader = [this](FrameWork& loaded, int) { return convert(loaded); };
    return Status::ok();
  }

  Status load(std::uint64_t offset, std::int64_t index, FrameWork& work, int threads) const {
    std::vector<std::span<std::byte>> parts;
    ZR_TRY(make_room(work, parts));
    ZR_LET(whole, reader_.read_at(offset, parts, threads));
    if (!whole) return Status(Errc::bad_input, where(index) + " is cut short");
    return is_as_it_is() ? Status::ok() : convert(work);
  }

  /// Samples that are what a frame holds go into its rows, all others to `work.bytes`.
  Status make_room(FrameWork& work, std::vector<std::span<std::byte>>& parts) const {
    if (is_as_it_is()) {
      ZR_TRY(work.item.reshape(header_.format, header_.width, header_.height));
      add_frame(work.item.view(), parts);
      return Status::ok();
    }
    const std::uint64_t alpha = header_.has_alpha && !blends() ? header_.plane_bytes(3) : 0;
    work.bytes.resize(static_cast<std::size_t>(header_.frame_bytes() - alpha));
    parts.emplace_back(work.bytes);
    return Status::ok();
  }

  /// Samples over 8 bits are little-endian, as is every machine that this runs on.
  Status convert(FrameWork& work) const {
    const ConvertTimer timer;
    ZR_TRY(work.item.reshape(header_.format, header_.width, header_.height));
    YccPlanes planes;
    const int bytes = header_.depth_bits > 8 ? 2 : 1;
    const auto* data = reinterpret_cast<const std::uint8_t*>(work.bytes.data());
    for (int plane = 0; plane < plane_count(header_.format); ++plane) {
      const auto p = static_cast<std::size_t>(plane);
      planes.data[p] = data;
      planes.stride_bytes[p] = static_cast<std::ptrdiff_t>(
          plane_row_bytes(header_.format, plane, header_.width) * static_cast<std::size_t>(bytes));
      data += header_.plane_bytes(plane);
    }
    to_jfif_.convert(planes, work.item.view(), rules_.dither);
    if (blends())
      blend({data, static_cast<std::ptrdiff_t>(header_.plane_bytes(3)) / header_.height, bytes,
             header_.depth_bits},
            rules_.alpha, work.item.view());
    return Status::ok();
  }

  std::string where(std::int64_t index) const {
    return "'" + reader_.name() + "': frame " + std::to_string(index);
  }

  Status cut_short() const {
    ZR_TRY(reader_.error());
    return Status(Errc::bad_input, where(index_) + " is cut short");
  }

  ByteReader reader_;
  Y4mHeader header_;
  SampleRules rules_;
  YccToJfif to_jfif_;
  std::uint64_t first_offset_;
  int threads_;  // of one frame that may use all; 0 = one for each core
};

}  // namespace

Result<FrameReaderPtr> open_y4m(ByteReader reader, const SampleRules& rules, int threads) {
  const std::optional<std::string> line = read_line(reader, kMaxHeaderLine);
  if (!line) {
    ZR_TRY(reader.error());
    return Status(Errc::bad_input, "'" + reader.name() + "': the YUV4MPEG2 header has no end");
  }
  Result<Y4mHeader> header = parse_y4m_header(*line);
  if (!header)
    return Status(header.status().code(), "'" + reader.name() + "': " + header.status().detail());
  return FrameReaderPtr(std::make_unique<Y4mReader>(std::move(reader), *header, rules, threads));
}

}  // namespace zerorun::io
