// A libavformat muxer that writes to an OutputFile, and the index of a plain MOV or MP4 file.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/muxer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun::io::av {
namespace {

constexpr int kBufferBytes = 1 << 16;
constexpr int kMovHeadBytes = 256;  // more than the boxes before the first sample of a MOV file

constexpr std::size_t kBoxHeader = 8, kTimecodeBytes = 4;

std::uint64_t big_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t value = 0;
  for (const std::byte b : bytes) value = value << 8 | static_cast<std::uint64_t>(b);
  return value;
}

void put_big_endian(std::span<std::byte> out, std::uint64_t value) noexcept {
  for (std::size_t i = out.size(); i-- > 0; value >>= 8) out[i] = static_cast<std::byte>(value);
}

/// Header of an ISO base media box (ISO/IEC 14496-12, 4.2).
struct BoxHeader {
  std::int64_t position = 0;
  std::int64_t size = 0;  // with the header
  int header_bytes = 8;
  std::string type;
};

/// Errors: those of reading the file, bad_input (no whole box).
Result<BoxHeader> read_box(OutputFile& file, std::int64_t position) {
  std::array<std::byte, 16> bytes{};
  ZR_LET(got, file.read_at(position, bytes));
  const std::span<const std::byte> all(bytes.data(), got);
  if (all.size() < 8) return Status(Errc::bad_input, "a box is cut short");
  BoxHeader box;
  box.position = position;
  box.type.assign(reinterpret_cast<const char*>(all.data()) + 4, 4);
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

}  // namespace

Muxer::~Muxer() {
  if (context_ != nullptr) context_->pb = nullptr;
  avformat_free_context(context_);
  if (io_ != nullptr) {
    av_freep(&io_->buffer);
    avio_context_free(&io_);
  }
}

int Muxer::write_file(void* self, WrittenByte* data, int count) {
  Muxer& muxer = *static_cast<Muxer*>(self);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  if (muxer.head_.size() < kMovHeadBytes &&
      muxer.position_ == static_cast<std::int64_t>(muxer.head_.size()))
    muxer.head_.insert(
        muxer.head_.end(), bytes,
        bytes + std::min(count, kMovHeadBytes - static_cast<int>(muxer.head_.size())));
  if (muxer.position_ >= muxer.keep_from_) {
    if (muxer.file_.is_seekable() && !muxer.file_.seek(muxer.position_)) return AVERROR(EIO);
    if (!muxer.file_.write({bytes, static_cast<std::size_t>(count)})) return AVERROR(EIO);
  }
  muxer.position_ += count;
  muxer.size_ = std::max(muxer.size_, muxer.position_);
  return count;
}

std::int64_t Muxer::seek_file(void* self, std::int64_t offset, int whence) {
  Muxer& muxer = *static_cast<Muxer*>(self);
  whence &= ~AVSEEK_FORCE;
  if (whence == AVSEEK_SIZE) return muxer.size_;
  if (whence == SEEK_CUR) offset += muxer.position_;
  if (whence == SEEK_END) offset += muxer.size_;
  if (offset < 0) return AVERROR(EINVAL);
  muxer.position_ = offset;
  muxer.size_ = std::max(muxer.size_, offset);
  return offset;
}

/// The file's error tells more than the muxer's.
Status Muxer::check(int error) {
  ZR_TRY(file_.error());
  if (error >= 0) return Status::ok();
  return failure(error == AVERROR(EIO) ? Errc::write_failed : Errc::unsupported_output,
                 context_->oformat->name, error);
}

Status Muxer::open_io() {
  auto* buffer = static_cast<std::uint8_t*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) return Status(Errc::out_of_memory);
  io_ = avio_alloc_context(buffer, kBufferBytes, 1, this, nullptr, &Muxer::write_file,
                           file_.is_seekable() ? &Muxer::seek_file : nullptr);
  if (io_ == nullptr) {
    av_free(buffer);
    return Status(Errc::out_of_memory);
  }
  io_->seekable = file_.is_seekable() ? AVIO_SEEKABLE_NORMAL : 0;
  context_->pb = io_;
  return Status::ok();
}

Result<std::unique_ptr<Muxer>> Muxer::create(const std::string& name, OutputFile& file,
                                             Dictionary& options, const AddStreams& add_streams,
                                             std::int64_t keep_from) {
  keep_quiet();
  std::unique_ptr<Muxer> muxer(new Muxer(file));
  muxer->keep_from_ = keep_from;
  muxer->scratch_.reset(av_packet_alloc());
  int error = avformat_alloc_output_context2(&muxer->context_, nullptr, name.c_str(), nullptr);
  if (error == AVERROR(ENOMEM) || !muxer->scratch_) return Status(Errc::out_of_memory);
  if (error < 0) return Status(Errc::unsupported_output, "this FFmpeg cannot write " + name);
  // The same input has to give the same bytes: no version, no random identifiers.
  muxer->context_->flags |= AVFMT_FLAG_BITEXACT;
  muxer->context_->avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED;
  ZR_TRY(add_streams(*muxer->context_));
  ZR_TRY(muxer->open_io());
  error = avformat_write_header(muxer->context_, options.out());
  ZR_TRY(muxer->check(error));
  return muxer;
}

Status Muxer::write(const AVPacket& packet, AVRational time_base) {
  AVPacket& own = *scratch_;
  // Data without an owner (the caller's JPEG) is not copied: the muxer does not use it after
  // av_write_frame().
  if (packet.buf != nullptr) {
    if (av_packet_ref(&own, &packet) < 0) return Status(Errc::out_of_memory);
  } else {
    if (av_packet_copy_props(&own, &packet) < 0) return Status(Errc::out_of_memory);
    own.data = packet.data;
    own.size = packet.size;
  }
  av_packet_rescale_ts(&own, time_base, context_->streams[packet.stream_index]->time_base);
  const int error = av_write_frame(context_, &own);
  av_packet_unref(&own);
  return check(error);
}

Status Muxer::flush() {
  const int error = av_write_frame(context_, nullptr);
  avio_flush(io_);
  return check(error);
}

Status Muxer::drain() {
  avio_flush(io_);
  return check(io_->error);
}

Status Muxer::finish() {
  const int error = av_write_trailer(context_);
  avio_flush(io_);
  return check(error);
}

Status Muxer::seek(std::int64_t position) {
  const std::int64_t at = avio_seek(io_, position, SEEK_SET);
  return check(at < 0 ? static_cast<int>(at) : 0);
}

Result<std::unique_ptr<MovIndex>> MovIndex::create(const std::string& muxer, OutputFile& file,
                                                   Dictionary& options,
                                                   const Muxer::AddStreams& add_streams) {
  std::unique_ptr<MovIndex> index(new MovIndex(file));
  ZR_LET(made, Muxer::create(muxer, file, options, add_streams, INT64_MAX));
  index->muxer_ = std::move(made);
  return index;
}

Status MovIndex::add(const AVPacket& packet, AVRational time_base) {
  Pending entry{PacketPtr(av_packet_alloc()), time_base};
  if (!entry.packet) return Status(Errc::out_of_memory);
  const int error = packet.buf != nullptr ? av_packet_ref(entry.packet.get(), &packet)
                                          : av_packet_copy_props(entry.packet.get(), &packet);
  if (error < 0) return Status(Errc::out_of_memory);
  entry.packet->data = packet.data;
  entry.packet->size = packet.size;
  entry.packet->stream_index = packet.stream_index;
  pending_.push_back(std::move(entry));
  return Status::ok();
}

/// A fragment is one moof box and one mdat box, which holds the packets stream by stream.
Result<bool> MovIndex::end_fragment(std::int64_t position) {
  std::vector<Pending> packets = std::exchange(pending_, {});
  if (packets.empty()) return true;
  Result<BoxHeader> box = read_box(file_, position);
  while (box && box->type != "mdat") box = read_box(file_, box->position + box->size);
  std::int64_t bytes = 0;
  for (const Pending& entry : packets) bytes += entry.packet->size;
  ZR_TRY(file_.error());
  if (!box || box->size - box->header_bytes != bytes || box->position + box->size != file_.size())
    return false;
  std::stable_sort(packets.begin(), packets.end(), [](const Pending& a, const Pending& b) {
    return a.packet->stream_index < b.packet->stream_index;
  });
  position = box->position + box->header_bytes;
  for (const Pending& entry : packets) {
    ZR_TRY(muxer_->seek(position));
    ZR_TRY(muxer_->write(*entry.packet, entry.time_base));
    position += entry.packet->size;
  }
  return true;
}

/// The place of the sample of a time code track, which the muxer wrote with the header, before any
/// packet; 0 if there is no such track.
std::int64_t MovIndex::timecode_place() const {
  const std::span<const std::byte> head(muxer_->head());
  std::size_t at = 0;
  while (at + kBoxHeader <= head.size()) {
    const bool is_media = std::memcmp(head.data() + at + 4, "mdat", 4) == 0;
    const std::uint64_t size = big_endian(head.subspan(at, 4));
    if (is_media && at + kBoxHeader + kTimecodeBytes <= head.size())
      return static_cast<std::int64_t>(at + kBoxHeader);
    if (is_media || size < kBoxHeader || size > head.size()) break;
    at += static_cast<std::size_t>(size);
  }
  return 0;
}

/// Returns the header of the media data that begin at `media_begin`, and the sample of a time code
/// track behind it. The sample lies in the movie box of the fragmented file, which is not read any
/// more when the file is plain.
Result<std::vector<std::byte>> MovIndex::media_header(std::int64_t media_begin,
                                                      std::int64_t media_end) {
  const auto size = static_cast<std::uint64_t>(media_end - media_begin);
  const bool large = size > UINT32_MAX;
  std::vector<std::byte> header(large ? 16 : 8);
  put_big_endian(std::span(header).first(4), large ? 1 : size);
  std::memcpy(header.data() + 4, "mdat", 4);
  if (large) put_big_endian(std::span(header).subspan(8, 8), size);
  const std::int64_t place = timecode_place() - media_begin;
  if (place < static_cast<std::int64_t>(header.size()) ||
      media_begin + place + std::int64_t{kTimecodeBytes} > media_end)
    return header;
  std::vector<std::byte> whole(static_cast<std::size_t>(place) + kTimecodeBytes);
  ZR_LET(got, file_.read_at(media_begin, whole));
  if (got != whole.size()) return header;
  std::copy(header.begin(), header.end(), whole.begin());
  std::memcpy(whole.data() + place, muxer_->head().data() + timecode_place(), kTimecodeBytes);
  return whole;
}

/// Where the movie box begins, with which the file ends. The titles of chapters lie before it.
Result<std::int64_t> MovIndex::movie_box(std::int64_t from) {
  std::vector<std::byte> tail(static_cast<std::size_t>(file_.size() - from));
  ZR_LET(got, file_.read_at(from, tail));
  for (std::size_t at = 0; at + kBoxHeader <= got; ++at)
    if (std::memcmp(tail.data() + at + 4, "moov", 4) == 0 &&
        big_endian(std::span(tail).subspan(at, 4)) == got - at)
      return from + static_cast<std::int64_t>(at);
  return from;
}

Status MovIndex::finish(const Muxer::AddStreams& add_chapters) {
  std::int64_t media_end = file_.size();
  // The movie box of the fragmented file becomes the first bytes of the media data.
  std::int64_t media_begin = 0;
  for (;;) {
    ZR_LET(box, read_box(file_, media_begin));
    if (box.type == "moov") break;
    media_begin += box.size;
  }
  ZR_TRY(muxer_->seek(media_end));
  muxer_->keep_from(media_end);
  ZR_TRY(muxer_->add(add_chapters));
  ZR_TRY(muxer_->finish());
  if (muxer_->has_chapters()) {
    ZR_LET(end, movie_box(media_end));
    media_end = end;
  }
  // This header comes last, and with one write, so that the file is whole at every moment:
  // fragments before, plain after.
  ZR_LET(header, media_header(media_begin, media_end));
  ZR_TRY(file_.seek(media_begin));
  return file_.write(header);
}

}  // namespace zerorun::io::av
