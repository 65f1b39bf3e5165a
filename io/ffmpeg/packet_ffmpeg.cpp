// Motion JPEG packets out of containers.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/packet_ffmpeg.hpp"

#include <cstdlib>
#include <optional>
#include <utility>

#include "codec/base/try.hpp"
#include "io/ffmpeg/frame_times.hpp"
#include "io/frame_jpeg.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io::av {
namespace {

class ContainerPackets final : public PacketReader {
 public:
  explicit ContainerPackets(std::unique_ptr<Demuxer> demuxer)
      : demuxer_(std::move(demuxer)), packet_(av_packet_alloc()), info_(demuxer_->describe()) {
    picture_height_ = info_.height;
    info_.is_jpeg = true;
  }

  /// Reads ahead to the first packet, whose headers are truer than the container's.
  Status start() {
    if (!packet_) return Status(Errc::out_of_memory);
    Result<bool> more = read(ahead_, ahead_time_);
    if (!more) return more.status();
    has_ahead_ = *more;
    index_ = 0;
    if (!has_ahead_) return Status::ok();
    const Result<StreamInfo> stream = inspect(ahead_, StreamLimits::any_size());
    if (!stream) return Status::ok();
    const bool fields =
        stream->height < picture_height_ && std::abs(2 * stream->height - picture_height_) <= 1;
    info_.width = stream->width;
    info_.height = fields ? 2 * stream->height : stream->height;
    info_.format = closest_format(*stream);
    return Status::ok();
  }

  const SourceInfo& info() const override { return info_; }
  int picture_height() const override { return picture_height_; }
  std::string last_name() const override {
    return demuxer_->name() + " frame " + std::to_string(index_ - 1);
  }

  /// As FFmpeg's decoder: where the container is silent, files with the MJPG tag have the bottom
  /// field first.
  bool is_bottom_field_first() const override {
    const AVCodecParameters& codec = *demuxer_->stream().codecpar;
    if (codec.field_order == AV_FIELD_BB || codec.field_order == AV_FIELD_BT) return true;
    return codec.field_order == AV_FIELD_UNKNOWN && codec.codec_tag == MKTAG('M', 'J', 'P', 'G');
  }

  Result<bool> read(std::vector<std::byte>& jpeg, FrameTime& time) override {
    if (has_ahead_) {
      jpeg.swap(ahead_);
      ahead_ = {};
      time = ahead_time_;
      has_ahead_ = false;
      ++index_;
      return true;
    }
    Result<bool> more = next_shown(*packet_);
    if (!more || !*more) return more;
    const auto* data = reinterpret_cast<const std::byte*>(packet_->data);
    jpeg.assign(data, data + packet_->size);
    std::int64_t pts = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
    if (pts == AV_NOPTS_VALUE) pts = next_pts_;
    time = {demuxer_->from_start(pts), packet_->duration};
    next_pts_ = pts + packet_->duration;
    ++index_;
    return true;
  }

  bool can_seek() const override { return demuxer_->can_seek(); }

  Result<std::int64_t> seek_index(std::int64_t index) override {
    if (!can_seek()) return Seekable::seek_index(index);
    return seek_time(times().time_of(index));
  }

  Result<std::int64_t> seek_time(std::int64_t pts) override {
    if (!can_seek()) return Seekable::seek_time(pts);
    has_ahead_ = false;
    // Where the container's own search ends too late, from the start again.
    for (const std::int64_t from : {pts, times().first()}) {
      ZR_TRY(demuxer_->seek(from));
      Result<std::optional<std::int64_t>> found = read_up_to(pts);
      if (!found) return found.status();
      if (*found && (**found <= pts || from == times().first())) {
        index_ = times().index_at(**found);
        next_pts_ = **found + demuxer_->start();
        return index_;
      }
    }
    index_ = 0;
    return index_;
  }

 private:
  FrameTimes& times() {
    if (!times_) times_.emplace(*demuxer_, info_);
    return *times_;
  }

  /// Packets before an edit list's start are there for decoders, not for the eye.
  Result<bool> next_shown(AVPacket& packet) {
    for (;;) {
      Result<bool> more = demuxer_->read(packet);
      if (!more || !*more || !(packet.flags & AV_PKT_FLAG_DISCARD)) return more;
    }
  }

  /// Reads to the last packet whose time is not after `pts` and leaves it to be read next; the
  /// first packet where all are later. Returns its time; nothing at the end of the file.
  Result<std::optional<std::int64_t>> read_up_to(std::int64_t pts) {
    PacketPtr last;
    for (;;) {
      PacketPtr packet(av_packet_alloc());
      if (!packet) return Status(Errc::out_of_memory);
      Result<bool> more = next_shown(*packet);
      if (!more) return more.status();
      if (!*more) break;
      if (last && time_of(*packet) > pts) {
        demuxer_->unread(std::move(packet));
        break;
      }
      last = std::move(packet);
      if (time_of(*last) > pts) break;
    }
    if (!last) return std::optional<std::int64_t>();
    const std::int64_t found = time_of(*last);
    demuxer_->unread(std::move(last));
    return std::optional(found);
  }

  std::int64_t time_of(const AVPacket& packet) const noexcept {
    return demuxer_->from_start(packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts);
  }

  std::unique_ptr<Demuxer> demuxer_;
  PacketPtr packet_;
  SourceInfo info_;
  int picture_height_ = 0;
  std::int64_t next_pts_ = 0;
  std::vector<std::byte> ahead_;
  FrameTime ahead_time_;
  std::optional<FrameTimes> times_;
  bool has_ahead_ = false;
  std::int64_t index_ = 0;
};

}  // namespace

Result<PacketReaderPtr> open_container_packets(std::unique_ptr<Demuxer> demuxer) {
  auto packets = std::make_unique<ContainerPackets>(std::move(demuxer));
  ZR_TRY(packets->start());
  return PacketReaderPtr(std::move(packets));
}

}  // namespace zerorun::io::av
