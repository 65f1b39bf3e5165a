// A libavformat muxer that writes to an OutputFile.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/muxer.hpp"

#include <algorithm>

#include "codec/base/try.hpp"

namespace zerorun::io::av {
namespace {

constexpr int kBufferBytes = 1 << 16;
constexpr int kMovHeadBytes = 256;  // more than the boxes before the first sample of a MOV file

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

}  // namespace zerorun::io::av
