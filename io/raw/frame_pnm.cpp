// Reads PNM images (P1 to P6): one, or a stream of them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "codec/base/try.hpp"
#include "io/base/byte_reader.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/base/frame_parts.hpp"
#include "io/samples/pixel_pack.hpp"
#include "io/base/readers.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io {
namespace {

struct PnmHeader {
  int kind = 6;  // the digit after P: 1 and 4 bits, 2 and 5 grey, 3 and 6 RGB; 1 to 3 are text
  int width = 0, height = 0;
  int max_value = 255;  // 1 to 65535

  bool is_text() const noexcept { return kind <= 3; }
  bool is_bitmap() const noexcept { return kind == 1 || kind == 4; }
  int channels() const noexcept { return kind == 3 || kind == 6 ? 3 : 1; }
  /// Of the binary kinds.
  std::uint64_t row_bytes() const noexcept {
    const auto samples = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(channels());
    if (is_bitmap()) return (samples + 7) / 8;
    return samples * (max_value > 255 ? 2 : 1);
  }
  std::uint64_t sample_bytes() const noexcept {
    return row_bytes() * static_cast<std::uint64_t>(height);
  }
  PixelFormat format() const noexcept {
    return channels() == 3 ? PixelFormat::rgb24 : PixelFormat::gray8;
  }
};

constexpr int kMaxValue = 65535;

bool is_blank(int c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

Status malformed(const ByteReader& reader, const std::string& what) {
  if (!reader.error()) return reader.error();
  return Status(Errc::bad_input, "'" + reader.name() + "': the PNM header " + what);
}

int peek_byte(ByteReader& reader) {
  const std::span<const std::byte> one = reader.peek(1);
  return one.empty() ? -1 : static_cast<int>(one[0]);
}

/// Leaves the reader at the next byte that is neither a blank nor part of a comment.
void skip_blanks(ByteReader& reader) {
  for (;;) {
    int c = peek_byte(reader);
    if (c == '#') {
      do c = reader.get();
      while (c >= 0 && c != '\n');
    } else if (is_blank(c)) {
      reader.consume(1);
    } else {
      return;
    }
  }
}

/// The next number of a header or text image; -1 if there is none or it is over 65535.
int read_number(ByteReader& reader) {
  skip_blanks(reader);
  int value = -1;
  for (int c = peek_byte(reader); c >= '0' && c <= '9'; c = peek_byte(reader)) {
    value = (value < 0 ? 0 : value) * 10 + (c - '0');
    if (value > kMaxValue) return -1;
    reader.consume(1);
  }
  return value;
}

/// The next 0 or 1 of a text bitmap, where blanks between digits are optional; else -1.
int read_bit(ByteReader& reader) {
  skip_blanks(reader);
  const int c = peek_byte(reader);
  if (c != '0' && c != '1') return -1;
  reader.consume(1);
  return c - '0';
}

Result<PnmHeader> read_header(ByteReader& reader, std::int64_t max_pixels) {
  const int p = reader.get(), digit = reader.get();
  if (p != 'P' || digit < '1' || digit > '6')
    return malformed(reader, "does not start with P1 to P6");
  PnmHeader header;
  header.kind = digit - '0';
  if (!is_blank(peek_byte(reader)) && peek_byte(reader) != '#')
    return malformed(reader, "does not start with P1 to P6");
  header.width = read_number(reader);
  header.height = read_number(reader);
  if (header.width < 1 || header.height < 1)
    return malformed(reader, "has no usable size; JPEG holds 1x1 to 65535x65535");
  header.max_value = header.is_bitmap() ? 1 : read_number(reader);
  if (header.max_value < 1) return malformed(reader, "has no maximum from 1 to 65535");
  if (std::int64_t{header.width} * header.height > max_pixels)
    return Status(Errc::too_many_pixels, "'" + reader.name() + "' says " +
                                             std::to_string(header.width) + "x" +
                                             std::to_string(header.height));
  // Exactly one blank: the first sample of a binary image may look like another one.
  if (!header.is_text() && !is_blank(reader.get()))
    return malformed(reader, "does not end in a blank");
  return header;
}

/// The error of an image whose samples end too early.
Status pnm_cut_short(const ByteReader& reader) {
  if (!reader.error()) return reader.error();
  return Status(Errc::bad_input, "'" + reader.name() + "': the PNM image is cut short");
}

/// Reads up to the first sample. A header may lie about its size: it is an error if the file cannot
/// hold the samples, so that nothing is allocated for them.
/// Errors: bad_input, too_many_pixels, read_failed.
Result<PnmHeader> read_pnm_header(ByteReader& reader, std::int64_t max_pixels) {
  ZR_LET(header, read_header(reader, max_pixels));
  const std::uint64_t need = header.is_text() ? std::uint64_t{1} : header.sample_bytes();
  if (need > reader.remaining()) return pnm_cut_short(reader);
  return header;
}

/// Scales 0..max_value to 0..255, rounded; larger samples are clipped.
class PnmScale {
 public:
  explicit PnmScale(int max_value) : max_(max_value) {}
  std::uint8_t operator()(int value) const noexcept {
    return static_cast<std::uint8_t>((std::min(value, max_) * 255 * 2 + max_) / (2 * max_));
  }

 private:
  int max_;
};

/// 1 is black (pbm(5)).
constexpr std::uint8_t kBlackWhite[2] = {255, 0};

Status read_text(ByteReader& reader, const PnmHeader& header, Frame& frame) {
  const PnmScale scale(header.max_value);
  const int samples = header.width * header.channels();
  for (int row = 0; row < header.height; ++row) {
    std::uint8_t* to = row_of(frame.view(), 0, row);
    for (int x = 0; x < samples; ++x) {
      const int value = header.is_bitmap() ? read_bit(reader) : read_number(reader);
      if (value < 0) return pnm_cut_short(reader);
      to[x] = header.is_bitmap() ? kBlackWhite[value] : scale(value);
    }
  }
  return Status::ok();
}

void expand_row(const PnmHeader& header, std::span<const std::byte> from, std::uint8_t* to) {
  const PnmScale scale(header.max_value);
  const auto samples = static_cast<std::size_t>(header.width * header.channels());
  for (std::size_t x = 0; x < samples; ++x) {
    if (header.is_bitmap()) {
      to[x] = kBlackWhite[(static_cast<unsigned>(from[x / 8]) >> (7 - x % 8)) & 1];
    } else if (header.max_value > 255) {  // big-endian (pgm(5))
      to[x] = scale(static_cast<int>(from[2 * x]) << 8 | static_cast<int>(from[2 * x + 1]));
    } else {
      to[x] = scale(static_cast<int>(from[x]));
    }
  }
}

/// Gives room for the samples as the file has them: the rows of the frame, or `bytes` if they have
/// to be expanded.
Status make_room(const PnmHeader& header, Frame& frame, std::vector<std::byte>& bytes,
                 std::vector<std::span<std::byte>>& parts) {
  ZR_TRY(frame.reshape(header.format(), header.width, header.height));
  if (header.max_value == 255) {
    add_frame(frame.view(), parts);
  } else {
    bytes.resize(static_cast<std::size_t>(header.sample_bytes()));
    parts.emplace_back(bytes);
  }
  return Status::ok();
}

/// Expands samples that are not bytes from 0 to 255.
void expand(const PnmHeader& header, std::span<const std::byte> bytes, Frame& frame) {
  if (header.max_value == 255) return;
  const ConvertTimer timer;
  const auto row_bytes = static_cast<std::size_t>(header.row_bytes());
  for (int row = 0; row < header.height; ++row)
    expand_row(header, bytes.subspan(static_cast<std::size_t>(row) * row_bytes, row_bytes),
               row_of(frame.view(), 0, row));
}

Status read_binary(ByteReader& reader, const PnmHeader& header, Frame& frame,
                   std::vector<std::byte>& bytes) {
  std::vector<std::span<std::byte>> parts;
  ZR_TRY(make_room(header, frame, bytes, parts));
  for (const std::span<std::byte> part : parts)
    if (reader.read(part) != part.size()) return pnm_cut_short(reader);
  return Status::ok();
}

/// Binary samples that are not bytes from 0 to 255 are left in `bytes` for expand().
Status read_samples(ByteReader& reader, const PnmHeader& header, Frame& frame,
                    std::vector<std::byte>& bytes) {
  if (!header.is_text()) return read_binary(reader, header, frame, bytes);
  ZR_TRY(frame.reshape(header.format(), header.width, header.height));
  return read_text(reader, header, frame);
}

class PnmStream final : public AheadReader<FrameReader, Frame> {
 public:
  PnmStream(ByteReader reader, std::int64_t max_pixels, int threads)
      : reader_(std::move(reader)), max_pixels_(max_pixels), threads_(threads) {}

  Status start() {
    // Not by next(): an empty stream is an error here, not the end.
    ZR_TRY(begin_image(ahead_));
    ahead_.time = {0, 1};
    has_ahead_ = true;
    ZR_TRY(ahead_.load(0));
    info_.width = ahead_.item.width();
    info_.height = ahead_.item.height();
    info_.format = ahead_.item.format();
    info_.container = info_.codec = "pnm";
    if (reader_.size()) {
      skip_blanks(reader_);
      if (reader_.remaining() == 0) info_.frame_count = 1;
    }
    return Status::ok();
  }

  std::string last_name() const override {
    return reader_.name() + " image " + std::to_string(index_ - 1);
  }

  bool can_seek() const override { return reader_.size().has_value(); }

  /// Images differ in size and none tells where the next begins, so all before it are read.
  Result<std::int64_t> seek_index(std::int64_t index) override {
    if (!reader_.seek(0)) return cannot_seek();
    index = std::max<std::int64_t>(index, 0);
    for (index_ = 0; index_ <= index; ++index_) {
      ZR_LET(more, look_ahead());
      if (!more) break;  // ahead_ is still the last image
    }
    has_ahead_ = index_ > 0;
    if (has_ahead_) --index_;
    ahead_.time = {index_, 1};
    return index_;
  }

 private:
  Result<bool> next_item(FrameWork& work) override {
    skip_blanks(reader_);
    if (reader_.peek(1).empty()) {
      ZR_TRY(reader_.error());
      return false;
    }
    ZR_TRY(begin_image(work));
    return true;
  }

  /// Text has to be read to find its end. The samples of a binary image in a file are left to the
  /// loader; those of a pipe are read here and expanded there.
  Status begin_image(FrameWork& work) {
    ZR_LET(header, read_pnm_header(reader_, max_pixels_));
    work.loader = nullptr;
    if (header.is_text()) return read_samples(reader_, header, work.item, work.bytes);
    if (!reader_.size()) {
      ZR_TRY(read_binary(reader_, header, work.item, work.bytes));
      if (header.max_value == 255) return Status::ok();
      work.loader = [header](FrameWork& loaded, int) {
        expand(header, loaded.bytes, loaded.item);
        return Status::ok();
      };
      return Status::ok();
    }
    const std::uint64_t offset = reader_.offset();
    if (!reader_.skip(header.sample_bytes())) return pnm_cut_short(reader_);
    work.loader = [this, header, offset](FrameWork& loaded, int threads) {
      return load(header, offset, loaded, threads > 0 ? threads : threads_);
    };
    return Status::ok();
  }

  Status load(const PnmHeader& header, std::uint64_t offset, FrameWork& work, int threads) const {
    std::vector<std::span<std::byte>> parts;
    ZR_TRY(make_room(header, work.item, work.bytes, parts));
    ZR_LET(whole, reader_.read_at(offset, parts, threads));
    if (!whole) return pnm_cut_short(reader_);
    expand(header, work.bytes, work.item);
    return Status::ok();
  }

  ByteReader reader_;
  std::int64_t max_pixels_;
  int threads_;  // of one image that may use all; 0 = one for each core
};

}  // namespace

Status read_pnm(ByteReader& reader, const SampleRules& rules, Frame& frame,
                std::vector<std::byte>& bytes) {
  ZR_LET(header, read_pnm_header(reader, rules.max_pixels));
  ZR_TRY(read_samples(reader, header, frame, bytes));
  if (!header.is_text()) expand(header, bytes, frame);
  return Status::ok();
}

Result<FrameReaderPtr> open_pnm_stream(ByteReader reader, const SampleRules& rules, int threads) {
  return started<FrameReader>(
      std::make_unique<PnmStream>(std::move(reader), rules.max_pixels, threads));
}

}  // namespace zerorun::io
