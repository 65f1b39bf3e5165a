// Motion JPEG packets out of containers.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/packet_ffmpeg.hpp"

#include <cstdlib>
#include <utility>

#include "io/frame_jpeg.hpp"
#include "zerorun/stream_info.hpp"

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
    const Result<StreamInfo> stream = inspect(ahead_);
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
    // Packets before an edit list's start are there for decoders, not for the eye.
    do {
      Result<bool> more = demuxer_->read(*packet_);
      if (!more || !*more) return more;
    } while (packet_->flags & AV_PKT_FLAG_DISCARD);
    const auto* data = reinterpret_cast<const std::byte*>(packet_->data);
    jpeg.assign(data, data + packet_->size);
    std::int64_t pts = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
    if (pts == AV_NOPTS_VALUE) pts = next_pts_;
    time = {demuxer_->from_start(pts), packet_->duration};
    next_pts_ = pts + packet_->duration;
    ++index_;
    return true;
  }

 private:
  std::unique_ptr<Demuxer> demuxer_;
  PacketPtr packet_;
  SourceInfo info_;
  int picture_height_ = 0;
  std::int64_t next_pts_ = 0;
  std::vector<std::byte> ahead_;
  FrameTime ahead_time_;
  bool has_ahead_ = false;
  std::int64_t index_ = 0;
};

}  // namespace

Result<PacketReaderPtr> open_container_packets(std::unique_ptr<Demuxer> demuxer) {
  auto packets = std::make_unique<ContainerPackets>(std::move(demuxer));
  if (Status status = packets->start(); !status) return status;
  return PacketReaderPtr(std::move(packets));
}

}  // namespace zerorun::io::av
