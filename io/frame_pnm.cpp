// Reads PBM, PGM and PPM images, one after another, from files and pipes.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "codec/base/try.hpp"
#include "io/formats.hpp"
#include "io/frame_pnm.hpp"
#include "io/pixel_pack.hpp"
#include "io/pnm_header.hpp"

namespace zerorun::io {
namespace {

/// 0..max_value to 0..255, rounded; samples over the maximum are clipped to it.
class PnmScale {
 public:
  explicit PnmScale(int max_value) : max_(max_value) {}
  std::uint8_t operator()(int value) const noexcept {
    return static_cast<std::uint8_t>((std::min(value, max_) * 255 * 2 + max_) / (2 * max_));
  }

 private:
  int max_;
};

Status cut_short(const ByteReader& reader) {
  if (!reader.error()) return reader.error();
  return Status(Errc::bad_input, "'" + reader.name() + "': the PNM image is cut short");
}

/// 1 is black (pbm(5)).
constexpr std::uint8_t kBlackWhite[2] = {255, 0};

Status read_text(ByteReader& reader, const PnmHeader& header, Frame& frame) {
  const PnmScale scale(header.max_value);
  const int samples = header.width * header.channels();
  for (int row = 0; row < header.height; ++row) {
    std::uint8_t* to = row_of(frame.view(), 0, row);
    for (int x = 0; x < samples; ++x) {
      const int value = header.is_bitmap() ? read_pnm_bit(reader) : read_pnm_number(reader);
      if (value < 0) return cut_short(reader);
      to[x] = header.is_bitmap() ? kBlackWhite[value] : scale(value);
    }
  }
  return Status::ok();
}

void expand_row(const PnmHeader& header, const std::vector<std::byte>& from, std::uint8_t* to) {
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

Status read_binary(ByteReader& reader, const PnmHeader& header, Frame& frame) {
  const auto row_bytes = static_cast<std::size_t>(header.row_bytes());
  std::vector<std::byte> line(row_bytes);
  for (int row = 0; row < header.height; ++row) {
    std::uint8_t* to = row_of(frame.view(), 0, row);
    if (header.max_value == 255) {
      if (reader.read({reinterpret_cast<std::byte*>(to), row_bytes}) != row_bytes)
        return cut_short(reader);
    } else {
      if (reader.read(line) != row_bytes) return cut_short(reader);
      expand_row(header, line, to);
    }
  }
  return Status::ok();
}

class PnmStream final : public FrameReader {
 public:
  static Result<FrameReaderPtr> open(ByteReader reader) {
    auto stream = std::make_unique<PnmStream>();
    stream->reader_ = std::make_unique<ByteReader>(std::move(reader));
    ZR_TRY(read_pnm(*stream->reader_, stream->ahead_));
    stream->has_ahead_ = true;
    stream->info_.width = stream->ahead_.width();
    stream->info_.height = stream->ahead_.height();
    stream->info_.format = stream->ahead_.format();
    stream->info_.container = "pnm";
    stream->info_.codec = "pnm";
    return FrameReaderPtr(std::move(stream));
  }

  const SourceInfo& info() const override { return info_; }
  std::string last_name() const override {
    return reader_->name() + " image " + std::to_string(index_ - 1);
  }

  Result<bool> read(Frame& frame, FrameTime& time) override {
    if (has_ahead_) {
      std::swap(frame, ahead_);
      has_ahead_ = false;
    } else {
      skip_pnm_blanks(*reader_);
      if (reader_->peek(1).empty()) {
        if (!reader_->error()) return reader_->error();
        return false;
      }
      ZR_TRY(read_pnm(*reader_, frame));
    }
    time = {index_++, 1};
    return true;
  }

  bool can_seek() const override { return reader_->size().has_value(); }

  /// Images differ in size and none tells where the next begins: all before it are read.
  Result<std::int64_t> seek_index(std::int64_t index) override {
    if (!reader_->seek(0)) return Seekable::seek_index(index);
    has_ahead_ = false;
    index_ = 0;
    FrameTime unused;
    while (index_ <= index || index_ == 0) {
      Result<bool> more = read(ahead_, unused);
      if (!more) return more.status();
      if (!*more) break;
    }
    has_ahead_ = index_ > 0;  // at the end this is still the last image
    return index_ > 0 ? --index_ : 0;
  }

 private:
  std::unique_ptr<ByteReader> reader_;
  SourceInfo info_;
  Frame ahead_;
  bool has_ahead_ = false;
  std::int64_t index_ = 0;
};

}  // namespace

Status read_pnm(ByteReader& reader, Frame& frame) {
  Result<PnmHeader> header = read_pnm_header(reader);
  if (!header) return header.status();
  // A header may lie about its size: nothing is allocated for samples that a file cannot hold.
  const std::uint64_t need = header->is_text()
                                 ? std::uint64_t{1}
                                 : header->row_bytes() * static_cast<std::uint64_t>(header->height);
  if (need > reader.remaining()) return cut_short(reader);
  const PixelFormat format = header->channels() == 3 ? PixelFormat::rgb24 : PixelFormat::gray8;
  ZR_TRY(frame.reshape(format, header->width, header->height));
  return header->is_text() ? read_text(reader, *header, frame)
                           : read_binary(reader, *header, frame);
}

Result<FrameReaderPtr> open_pnm_stream(ByteReader reader) {
  return PnmStream::open(std::move(reader));
}

}  // namespace zerorun::io
