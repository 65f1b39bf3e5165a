// Motion JPEG packets out of containers.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/demuxer.hpp"

#include <atomic>
#include <optional>
#include <span>
#include <utility>

#include "io/mjpeg/frame_jpeg.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"

namespace zerorun::io::av {
namespace {

class ContainerPackets final : public DemuxerReader<AheadReader<PacketReader, Packet>> {
 public:
  using DemuxerReader::DemuxerReader;

  Status start() {
    if (!packet_) return Status(Errc::out_of_memory);
    info_.is_jpeg = true;
    ZR_LET(more, look_ahead());
    if (!more) return Status::ok();
    ZR_TRY(ahead_.load());
    describe_video_packet(ahead_.item, picture_height(), info_);
    return Status::ok();
  }

  std::int64_t skipped_bytes() const override { return skipped_; }
  int picture_height() const override { return demuxer_->info().height; }

  /// As in FFmpeg's decoder: if the container does not tell, the bottom field is first in files
  /// with the MJPG tag.
  bool is_bottom_field_first() const override {
    const AVCodecParameters& codec = *demuxer_->stream().codecpar;
    if (codec.field_order == AV_FIELD_BB || codec.field_order == AV_FIELD_BT) return true;
    return codec.field_order == AV_FIELD_UNKNOWN && codec.codec_tag == MKTAG('M', 'J', 'P', 'G');
  }

  Result<std::int64_t> seek_time(std::int64_t pts) override {
    const FrameTimes& times = demuxer_->times();
    has_ahead_ = false;
    // If the container's own search ends too late, search from the start.
    for (const std::int64_t from : {pts, times.first()}) {
      ZR_TRY(demuxer_->seek(from));
      ZR_LET(found, read_up_to(pts));
      if (found && (*found <= pts || from == times.first())) {
        index_ = times.index_at(*found);
        next_time_ = *found;
        return index_;
      }
    }
    index_ = 0;
    return index_;
  }

 private:
  Result<bool> next_item(PacketWork& work) override {
    ZR_LET(more, next_shown(*packet_));
    if (!more) return false;
    work.time = {time_of(*packet_), packet_->duration};
    next_time_ = work.time.pts + work.time.duration;
    const std::shared_ptr<AVPacket> kept(av_packet_alloc(),
                                         [](AVPacket* packet) { av_packet_free(&packet); });
    if (!kept) return Status(Errc::out_of_memory);
    av_packet_move_ref(kept.get(), packet_.get());
    work.loader = [this, kept](PacketWork& loaded, int) {
      const std::span<const std::byte> packet(reinterpret_cast<const std::byte*>(kept->data),
                                              static_cast<std::size_t>(kept->size));
      const std::size_t junk = bytes_before_image(packet);
      loaded.item.assign(packet.begin() + static_cast<std::ptrdiff_t>(junk), packet.end());
      skipped_ += static_cast<std::int64_t>(junk);
      return Status::ok();
    };
    return true;
  }

  /// Skips packets before the start of an edit list, which players do not show, and one that the
  /// end of the file cuts off before its scan.
  Result<bool> next_shown(AVPacket& packet) {
    for (;;) {
      Result<bool> more = demuxer_->read(packet);
      if (!more || !*more) return more;
      const auto bytes =
          std::as_bytes(std::span(packet.data, static_cast<std::size_t>(packet.size)));
      const bool is_cut =
          info_.missing_bytes > 0 && (packet.flags & AV_PKT_FLAG_CORRUPT) != 0 &&
          group(inspect(bytes, StreamLimits::any_size()).status().code()) == ErrorGroup::corrupt;
      if (!is_cut && (packet.flags & AV_PKT_FLAG_DISCARD) == 0) return more;
    }
  }

  /// Reads to the last packet whose time is not after `pts`, or to the first one if all are later,
  /// and leaves it to be read next. Returns its time; nullopt at the end of the file.
  Result<std::optional<std::int64_t>> read_up_to(std::int64_t pts) {
    PacketPtr last;
    for (;;) {
      PacketPtr packet(av_packet_alloc());
      if (!packet) return Status(Errc::out_of_memory);
      ZR_LET(more, next_shown(*packet));
      if (!more) break;
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

  std::atomic<std::int64_t> skipped_{0};

  std::int64_t time_of(const AVPacket& packet) const noexcept {
    const std::int64_t pts = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    return pts != AV_NOPTS_VALUE ? demuxer_->from_start(pts) : next_time_;
  }
};

}  // namespace

Result<PacketReaderPtr> open_container_packets(std::shared_ptr<Demuxer> demuxer) {
  return started<PacketReader>(std::make_unique<ContainerPackets>(std::move(demuxer)));
}

}  // namespace zerorun::io::av
