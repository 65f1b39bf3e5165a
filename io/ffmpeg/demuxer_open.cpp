// Opens the video stream of a file or a pipe by libavformat; Motion JPEG packets out of it.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "codec/base/try.hpp"
#include "io/base/location.hpp"
#include "io/ffmpeg/container_bytes.hpp"
#include "io/ffmpeg/demuxer.hpp"
#include "io/mjpeg/frame_jpeg.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"

namespace zerorun::io::av {
namespace {

constexpr int kPipeBufferBytes = 1 << 16;
constexpr std::int64_t kMiscounted = 8;            // some writers of AVI include RIFF's own header
constexpr std::size_t kHeadBytes = kForeignBytes;  // for unknown_input()

/// libavdevice tells libavformat of its formats. It is opened for a camera alone.
Status register_devices() {
  static const bool is_there = [] {
    void (*add)() = nullptr;
    void* const library = open_library("avdevice", LIBAVFORMAT_VERSION_MAJOR);
    if (find_function(library, "avdevice_register_all", add)) add();
    return add != nullptr;
  }();
  if (is_there) return Status::ok();
  return Status(Errc::not_built, "FFmpeg's libavdevice, which reads cameras, is not installed");
}

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

Demuxer::~Demuxer() {
  avformat_close_input(&context_);  // does not free a custom I/O context
  if (pipe_context_ != nullptr) {
    av_freep(&pipe_context_->buffer);
    avio_context_free(&pipe_context_);
  }
  avio_closep(&connection_);
}

int Demuxer::read_pipe(void* self, std::uint8_t* out, int count) {
  ByteReader& reader = *static_cast<Demuxer*>(self)->pipe_;
  // Give what is there: a live pipe must not wait for a full buffer.
  const std::span<const std::byte> part = reader.buffered();
  if (part.empty()) return reader.error() ? AVERROR_EOF : AVERROR(EIO);
  const std::size_t take = std::min(part.size(), static_cast<std::size_t>(count));
  std::copy_n(reinterpret_cast<const std::uint8_t*>(part.data()), take, out);
  reader.consume(take);
  return static_cast<int>(take);
}

Result<std::unique_ptr<Demuxer>> Demuxer::open(ByteReader reader, const std::string& format) {
  keep_quiet();
  std::unique_ptr<Demuxer> demuxer(new Demuxer);
  demuxer->name_ = reader.name();
  ZR_TRY(demuxer->open_context(std::move(reader), format, true));
  ZR_TRY(demuxer->choose_stream());
  ZR_TRY(demuxer->distrust_index(format));
  ZR_TRY(demuxer->look_ahead());
  demuxer->describe();
  return demuxer;
}

Result<std::unique_ptr<Demuxer>> Demuxer::open_address(const std::string& address,
                                                       double timeout_seconds) {
  keep_quiet();
  std::unique_ptr<Demuxer> demuxer(new Demuxer);
  demuxer->name_ = address;
  demuxer->timeout_seconds_ = timeout_seconds;
  ZR_TRY(demuxer->open_live());
  ZR_TRY(demuxer->choose_stream());
  demuxer->describe();
  return demuxer;
}

Status Demuxer::failure_of_address(Errc code, int error) const {
  if (!reads_.is_late()) return failure(code, name_, error);
  return Status(code, "'" + name_ + "': nothing came for " +
                          std::to_string(std::lround(timeout_seconds_)) + " seconds");
}

/// Recognises what a connection gives. Lists of addresses are refused: following them would open
/// what INPUT does not name.
Status Demuxer::probe_address(const AVInputFormat** found) {
  constexpr std::array<std::string_view, 6> kLists{"hls", "dash", "concat",
                                                   "sdp", "imf",  "webm_dash_manifest"};
  constexpr unsigned kMostBytes = 1U << 20;
  const int error = av_probe_input_buffer2(connection_, found, "", nullptr, 0, kMostBytes);
  if (error < 0 || *found == nullptr)
    return reads_.is_late() || error != AVERROR_INVALIDDATA
               ? failure_of_address(Errc::read_failed, error)
               : unknown_input(name_, {});
  const std::string_view names = (*found)->name;
  const std::string_view name = names.substr(0, names.find(','));
  if (std::find(kLists.begin(), kLists.end(), name) == kLists.end()) return Status::ok();
  return Status(Errc::unknown_format, "'" + name_ + "' is a list of addresses (" +
                                          std::string(name) +
                                          "), which are not followed; name one of them");
}

/// A camera and RTSP have no bytes of their own. Everything else is read through a connection that
/// is opened here, and the demuxer may open nothing.
Status Demuxer::open_live() {
  context_ = avformat_alloc_context();
  if (context_ == nullptr) return Status(Errc::out_of_memory);
  context_->interrupt_callback = reads_.callback();
  reads_.end_within(timeout_seconds_);
  Dictionary options;
  set_input_limits(options);
  options.set("protocol_whitelist", "none");
  // The first frames are not held back to measure their rate.
  options.set("analyzeduration", "2000000");
  options.set("fpsprobesize", "2");
  const AVInputFormat* format = nullptr;
  std::string url;
  if (const std::string camera = "v4l2:"; name_.starts_with(camera)) {
    ZR_TRY(register_devices());
    format = av_find_input_format("v4l2");
    url = name_.substr(camera.size());
  } else if (name_.starts_with("rtsp:")) {
    format = av_find_input_format("rtsp");
    url = name_;
    options.set("protocol_whitelist", "tcp,udp,rtp");
    options.set("rtsp_flags", "prefer_tcp");  // UDP seldom comes through a router
  } else {
    Dictionary of_connection;
    of_connection.set("protocol_whitelist",
                      name_.starts_with("udp:") ? "udp" : "http,https,tcp,tls,httpproxy");
    of_connection.set("tls_verify", "1");
    const AVIOInterruptCB callback = reads_.callback();
    const int error =
        avio_open2(&connection_, name_.c_str(), AVIO_FLAG_READ, &callback, of_connection.out());
    if (error < 0) return failure_of_address(Errc::open_failed, error);
    ZR_TRY(probe_address(&format));
    context_->pb = connection_;
  }
  if (format == nullptr)
    return Status(Errc::not_built, "'" + name_ + "': this FFmpeg does not read it");
  reads_.end_within(timeout_seconds_);
  const int error = avformat_open_input(&context_, url.c_str(), format, options.out());
  if (error < 0) return failure_of_address(Errc::open_failed, error);
  if (is_guess(*context_)) return unknown_input(name_, {});
  reads_.end_within(timeout_seconds_);
  const Status status = find_streams(*context_, name_);
  return !status && reads_.is_late() ? failure_of_address(Errc::read_failed, 0) : status;
}

/// Opens an AVI file whose index lies again, to be read front to back without it.
Status Demuxer::distrust_index(const std::string& format) {
  if (pipe_ || std::string_view(context_->iformat->name) != "avi") return Status::ok();
  ZR_LET(reader, ByteReader::open(name_));
  if (!avi_index_lies(*stream_, reader)) return Status::ok();
  avformat_close_input(&context_);
  ZR_TRY(open_context(std::move(reader), format, false));
  return choose_stream();
}

Status Demuxer::open_context(ByteReader reader, const std::string& format, bool may_seek) {
  const AVInputFormat* forced = nullptr;
  if (!format.empty()) {
    forced = av_find_input_format(format == "mkv" ? "matroska" : format.c_str());
    if (forced == nullptr)
      return Status(Errc::unknown_format, "FFmpeg knows no format named '" + format + "'");
  }
  context_ = avformat_alloc_context();
  if (context_ == nullptr) return Status(Errc::out_of_memory);
  context_->interrupt_callback = reads_.callback();
  const bool is_file = reader.is_regular_file() && reader.offset() == 0;
  const auto there = static_cast<std::int64_t>(reader.size().value_or(0));
  const std::span<const std::byte> start = reader.peek(is_file ? kAnnouncingBytes : kHeadBytes);
  const std::vector<std::byte> head(start.begin(), start.end());
  std::int64_t announced = is_file ? announced_bytes(head).value_or(0) : 0;
  if (is_file && announced == 0) announced = announced_bytes(reader).value_or(0);
  std::string url;
  if (is_file && may_seek) {
    url = "file:" + name_;  // so that no name is taken for a protocol
  } else {
    pipe_ = std::make_unique<ByteReader>(std::move(reader));
    auto* buffer = static_cast<std::uint8_t*>(av_malloc(kPipeBufferBytes));
    if (buffer == nullptr) return Status(Errc::out_of_memory);
    pipe_context_ = avio_alloc_context(buffer, kPipeBufferBytes, 0, this, &Demuxer::read_pipe,
                                       nullptr, nullptr);
    if (pipe_context_ == nullptr) {
      av_free(buffer);
      return Status(Errc::out_of_memory);
    }
    context_->pb = pipe_context_;
  }
  Dictionary options;
  set_input_limits(options);
  options.set("pattern_type", "none");  // image2 must not read a name as a pattern
  int error = avformat_open_input(&context_, url.c_str(), forced, options.out());
  if (error == AVERROR_INVALIDDATA && forced == nullptr) return unknown_input(name_, head);
  // FFmpeg also reports ENOMEM for a file with more streams than max_streams.
  if (error == AVERROR(ENOMEM))
    return Status(
        Errc::bad_input,
        "'" + name_ + "': it has too many streams, or there is no memory for its headers");
  if (error < 0) return failure(Errc::bad_input, name_, error);
  if (forced == nullptr && is_guess(*context_)) return unknown_input(name_, head);
  has_index_ = false;
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    has_index_ |= context_->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
                  avformat_index_get_entries_count(context_->streams[i]) > 0;
  ZR_TRY(show_flv_streams(*context_, name_));
  ZR_TRY(find_streams(*context_, name_));
  if (announced > there + kMiscounted) missing_bytes_ = announced - there;
  return Status::ok();
}

Status Demuxer::choose_stream() {
  // Cover pictures are video streams, too, but nobody wants to encode them.
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    if (context_->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC)
      context_->streams[i]->discard = AVDISCARD_ALL;
  int best = av_find_best_stream(context_, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (best >= 0 && context_->streams[best]->disposition & AV_DISPOSITION_ATTACHED_PIC) best = -1;
  for (unsigned i = 0; best < 0 && i < context_->nb_streams; ++i)
    if (context_->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
        context_->streams[i]->discard != AVDISCARD_ALL)
      best = static_cast<int>(i);
  if (best < 0) return Status(Errc::unknown_format, "'" + name_ + "' has no video in it");
  stream_ = context_->streams[best];
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    if (context_->streams[i] != stream_) context_->streams[i]->discard = AVDISCARD_ALL;
  if (context_->start_time != AV_NOPTS_VALUE)
    start_ = av_rescale_q(context_->start_time, AV_TIME_BASE_Q, stream_->time_base);
  return Status::ok();
}

Result<PacketReaderPtr> open_container_packets(std::shared_ptr<Demuxer> demuxer) {
  return started<PacketReader>(std::make_unique<ContainerPackets>(std::move(demuxer)));
}

}  // namespace zerorun::io::av
