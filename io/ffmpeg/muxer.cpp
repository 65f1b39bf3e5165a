// One libavformat muxer that writes through our own I/O.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/muxer.hpp"

#include "codec/base/try.hpp"

namespace zerorun::io::av {
namespace {

constexpr int kBufferBytes = 1 << 16;

#if LIBAVFORMAT_VERSION_MAJOR >= 61
using WriteByte = const std::uint8_t;
#else
using WriteByte = std::uint8_t;
#endif

int write_target(void* target, WriteByte* data, int count) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const bool ok = static_cast<ByteTarget*>(target)->write({bytes, static_cast<std::size_t>(count)});
  return ok ? count : AVERROR(EIO);
}

std::int64_t seek_target(void* opaque, std::int64_t offset, int whence) {
  auto& target = *static_cast<ByteTarget*>(opaque);
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
      return target.size();
    case SEEK_SET:
      break;
    case SEEK_CUR:
      offset += target.position();
      break;
    case SEEK_END:
      offset += target.size();
      break;
    default:
      return AVERROR(EINVAL);
  }
  return target.seek(offset) ? offset : AVERROR(EIO);
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

/// The target's reason is better than the muxer's.
Status Muxer::check(int error) {
  ZR_TRY(target_.error());
  if (error >= 0) return Status::ok();
  return failure(error == AVERROR(EIO) ? Errc::write_failed : Errc::unsupported_output,
                 context_->oformat->name, error);
}

Status Muxer::open_io() {
  auto* buffer = static_cast<std::uint8_t*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) return Status(Errc::out_of_memory);
  io_ = avio_alloc_context(buffer, kBufferBytes, 1, &target_, nullptr, write_target,
                           target_.is_seekable() ? seek_target : nullptr);
  if (io_ == nullptr) {
    av_free(buffer);
    return Status(Errc::out_of_memory);
  }
  io_->seekable = target_.is_seekable() ? AVIO_SEEKABLE_NORMAL : 0;
  context_->pb = io_;
  return Status::ok();
}

Result<std::unique_ptr<Muxer>> Muxer::create(
    const std::string& name, ByteTarget& target, Dictionary& options,
    const std::function<Status(AVFormatContext&)>& add_streams) {
  keep_quiet();
  std::unique_ptr<Muxer> muxer(new Muxer(target));
  muxer->scratch_.reset(av_packet_alloc());
  int error = avformat_alloc_output_context2(&muxer->context_, nullptr, name.c_str(), nullptr);
  if (error == AVERROR(ENOMEM) || !muxer->scratch_) return Status(Errc::out_of_memory);
  if (error < 0) return Status(Errc::unsupported_output, "this FFmpeg cannot write " + name);
  // The same input has to give the same bytes: no version and no random identifiers.
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
  // Data without an owner (the caller's JPEG) is not copied: the muxer is done with it when
  // av_write_frame() returns.
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
