// Turns a fragmented MOV or MP4 into a plain one without moving a byte of its media.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/mov_index.hpp"

#include <algorithm>
#include <array>

#include "codec/base/try.hpp"

namespace zerorun::io::av {
namespace {

std::uint64_t big_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t value = 0;
  for (const std::byte b : bytes) value = value << 8 | static_cast<std::uint64_t>(b);
  return value;
}

void put_big_endian(std::span<std::byte> out, std::uint64_t value) noexcept {
  for (std::size_t i = out.size(); i-- > 0; value >>= 8) out[i] = static_cast<std::byte>(value);
}

}  // namespace

Result<BoxHeader> read_box(OutputFile& file, std::int64_t position) {
  std::array<std::byte, 16> bytes{};
  Result<std::size_t> got = file.read_at(position, bytes);
  if (!got) return got.status();
  const std::span<const std::byte> all(bytes.data(), *got);
  if (all.size() < 8) return Status(Errc::bad_input, "a box is cut short");
  BoxHeader box;
  box.position = position;
  box.type = static_cast<std::uint32_t>(big_endian(all.subspan(4, 4)));
  std::uint64_t size = big_endian(all.first(4));
  if (size == 1 && all.size() == 16) {
    size = big_endian(all.subspan(8, 8));
    box.header_bytes = 16;
  }
  if (size < static_cast<std::uint64_t>(box.header_bytes) ||
      size > static_cast<std::uint64_t>(file.size() - position))
    return Status(Errc::bad_input, "a box has an impossible size");
  box.size = static_cast<std::int64_t>(size);
  return box;
}

bool MovIndex::Target::write(std::span<const std::byte> data) {
  if (position_ >= keep_from_) {
    if (!file_.seek(position_) || !file_.write(data)) return false;
  }
  position_ += static_cast<std::int64_t>(data.size());
  size_ = std::max(size_, position_);
  return true;
}

bool MovIndex::Target::seek(std::int64_t position) {
  if (position < 0) return false;
  position_ = position;
  size_ = std::max(size_, position);
  return true;
}

Result<std::unique_ptr<MovIndex>> MovIndex::create(
    const std::string& muxer, OutputFile& file,
    const std::function<Status(AVFormatContext&)>& add_streams) {
  std::unique_ptr<MovIndex> index(new MovIndex(file));
  Dictionary options;
  Result<std::unique_ptr<Muxer>> made = Muxer::create(muxer, index->target_, options, add_streams);
  if (!made) return made.status();
  index->muxer_ = *std::move(made);
  return index;
}

Status MovIndex::add(const AVPacket& packet, AVRational time_base, std::int64_t position) {
  ZR_TRY(muxer_->seek(position));
  return muxer_->write(packet, time_base);
}

Status MovIndex::finish() {
  const std::int64_t media_end = file_.size();
  // The movie box of the fragmented file becomes the first bytes of the media data.
  std::int64_t media_begin = 0;
  for (;;) {
    Result<BoxHeader> box = read_box(file_, media_begin);
    if (!box) return box.status();
    if (box->type == box_type("moov")) break;
    media_begin += box->size;
  }
  ZR_TRY(muxer_->seek(media_end));
  target_.keep_from(media_end);
  ZR_TRY(muxer_->finish());
  // Last of all, so that the file is whole at every moment: fragments before, plain after.
  const auto size = static_cast<std::uint64_t>(media_end - media_begin);
  std::array<std::byte, 16> header{};
  const bool large = size > UINT32_MAX;
  put_big_endian(std::span(header).first(4), large ? 1 : size);
  put_big_endian(std::span(header).subspan(4, 4), box_type("mdat"));
  put_big_endian(std::span(header).subspan(8, 8), size);
  ZR_TRY(file_.seek(media_begin));
  return file_.write(std::span(header).first(large ? 16 : 8));
}

}  // namespace zerorun::io::av
