// JPEG packets into MOV, MKV, AVI and MP4, with copied audio beside them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "codec/base/try.hpp"
#include "io/ffmpeg/audio_copy.hpp"
#include "io/ffmpeg/mov_index.hpp"
#include "io/ffmpeg/muxer.hpp"
#include "io/ffmpeg/video_params.hpp"
#include "io/formats.hpp"

namespace zerorun::io {
namespace av {
namespace {

class FileTarget final : public ByteTarget {
 public:
  explicit FileTarget(OutputFile& file) noexcept : file_(file) {}
  bool write(std::span<const std::byte> data) override { return file_.write(data).is_ok(); }
  bool seek(std::int64_t position) override { return file_.seek(position).is_ok(); }
  std::int64_t position() const override { return file_.position(); }
  std::int64_t size() const override { return file_.size(); }
  bool is_seekable() const override { return file_.is_seekable(); }
  Status error() const override { return file_.error(); }

 private:
  OutputFile& file_;
};

/// After every frame the file plays to that frame, whatever happens to the process: AVI by its
/// chunks alone, Matroska by a cluster a frame, MOV and MP4 by a fragment a frame (which finish()
/// turns into a plain file, see MovIndex; on a pipe they stay fragments).
class ContainerSink final : public PacketSink {
 public:
  ContainerSink(std::unique_ptr<OutputFile> file, std::string muxer, const SinkOptions& options)
      : file_(std::move(file)), target_(*file_), name_(std::move(muxer)), options_(options) {}

  Status start();
  Status write(std::span<const std::byte> jpeg, const FrameTime& time) override;
  Status finish() override;
  std::int64_t bytes_written() const override { return file_->size(); }
  std::string notice() const override { return notice_; }

 private:
  /// A packet of the fragment that is being gathered.
  struct Pending {
    PacketPtr packet;
    AVRational time_base;
  };

  bool is_mov() const { return name_ == "mov" || name_ == "mp4"; }
  Status open_audio();
  Status open_muxers();
  Status add_streams(AVFormatContext& context) const;
  void stamp(const FrameTime& time, AVPacket& packet);
  Status put(const AVPacket& packet, AVRational time_base);
  Status put_audio_before(double seconds);
  Status end_frame();
  Status end_fragment();
  Status index_fragment(std::int64_t from);
  void add_notice(const std::string& text);

  std::unique_ptr<OutputFile> file_;
  FileTarget target_;
  std::string name_;
  SinkOptions options_;
  std::unique_ptr<AudioCopy> audio_;
  std::unique_ptr<Muxer> muxer_;
  std::unique_ptr<MovIndex> index_;
  std::vector<Pending> pending_;
  PacketPtr packet_;
  std::optional<std::int64_t> first_pts_, last_pts_;
  std::int64_t last_duration_ = 0;
  bool movie_box_written_ = false;
  std::string notice_;
};

void ContainerSink::add_notice(const std::string& text) {
  if (text.empty()) return;
  notice_ += (notice_.empty() ? "" : "; ") + text;
}

Status ContainerSink::start() {
  packet_.reset(av_packet_alloc());
  if (!packet_) return Status(Errc::out_of_memory);
  add_notice(video_notice(options_, name_));
  if (!options_.audio_from.empty()) {
    ZR_TRY(open_audio());
  }
  Status status = open_muxers();
  if (!status && status.code() == Errc::unsupported_output && audio_) {
    // Some codecs show only in the header that a container cannot hold them as they are.
    add_notice("the audio is left out: " + status.detail());
    audio_.reset();
    ZR_TRY(file_->truncate());
    status = open_muxers();
  }
  return status;
}

Status ContainerSink::open_audio() {
  const AVOutputFormat* container = av_guess_format(name_.c_str(), nullptr, nullptr);
  if (container == nullptr)
    return Status(Errc::unsupported_output, "this FFmpeg cannot write " + name_);
  Result<std::unique_ptr<AudioCopy>> audio = AudioCopy::open(options_, *container);
  if (!audio) return audio.status();
  add_notice((*audio)->notice());
  if ((*audio)->has_streams()) audio_ = *std::move(audio);
  return Status::ok();
}

Status ContainerSink::add_streams(AVFormatContext& context) const {
  AVStream* stream = avformat_new_stream(&context, nullptr);
  if (stream == nullptr) return Status(Errc::out_of_memory);
  ZR_TRY(describe_video(options_, *stream));
  return audio_ ? audio_->add_streams(context) : Status::ok();
}

Status ContainerSink::open_muxers() {
  const auto add = [this](AVFormatContext& context) { return add_streams(context); };
  Dictionary options;
  // delay_moov: the movie box waits for the first packets, without which AC-3 and others cannot be
  // described. skip_trailer: no random access table, which would grow with every frame.
  if (is_mov())
    options.set("movflags", "frag_custom+empty_moov+delay_moov+default_base_moof+skip_trailer");
  Result<std::unique_ptr<Muxer>> muxer = Muxer::create(name_, target_, options, add);
  if (!muxer) return muxer.status();
  muxer_ = *std::move(muxer);
  if (!is_mov() || !file_->is_seekable()) return Status::ok();
  Result<std::unique_ptr<MovIndex>> index = MovIndex::create(name_, *file_, add);
  if (!index) return index.status();
  index_ = *std::move(index);
  return Status::ok();
}

/// In ticks of video_time_base(), from the first frame on and always rising.
void ContainerSink::stamp(const FrameTime& time, AVPacket& packet) {
  if (!first_pts_) first_pts_ = time.pts;
  const AVRational from = to_av(options_.time_base);
  const AVRational to = video_time_base(options_);
  const bool convertible = from.num > 0 && !options_.variable_frame_rate;
  std::int64_t pts = time.pts - *first_pts_;
  if (convertible) pts = av_rescale_q(pts, from, to);
  if (last_pts_) pts = std::max(pts, *last_pts_ + 1);
  const AVRational frame = av_inv_q(to_av(options_.frame_rate));
  std::int64_t duration = 1;
  if (options_.variable_frame_rate)
    duration = time.duration > 0             ? time.duration
               : options_.frame_rate.known() ? std::max<std::int64_t>(av_rescale_q(1, frame, to), 1)
                                             : 0;
  packet.pts = packet.dts = pts;
  packet.duration = duration;
  last_pts_ = pts;
  last_duration_ = duration;
}

/// Into the muxer, and into the list of what the fragment holds.
Status ContainerSink::put(const AVPacket& packet, AVRational time_base) {
  ZR_TRY(muxer_->write(packet, time_base));
  if (!index_) return Status::ok();
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

Status ContainerSink::put_audio_before(double seconds) {
  if (!audio_) return Status::ok();
  for (;;) {
    Result<const AVPacket*> packet = audio_->next_before(seconds);
    if (!packet) return packet.status();
    if (*packet == nullptr) return Status::ok();
    ZR_TRY(put(**packet, audio_->time_base(**packet)));
  }
}

Status ContainerSink::write(std::span<const std::byte> jpeg, const FrameTime& time) {
  if (jpeg.size() < 2 || jpeg.size() > INT32_MAX || jpeg[0] != std::byte{0xFF} ||
      jpeg[1] != std::byte{0xD8})
    return Status(Errc::invalid_argument, "the packet is no JPEG stream");
  AVPacket& packet = *packet_;
  packet.stream_index = 0;
  packet.flags = AV_PKT_FLAG_KEY;
  packet.data = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(jpeg.data()));
  packet.size = static_cast<int>(jpeg.size());
  stamp(time, packet);
  const AVRational clock = video_time_base(options_);
  // Sound up to the end of this frame, so that a player never waits for it.
  const double end = static_cast<double>(packet.pts + packet.duration) * av_q2d(clock);
  Status status = put_audio_before(end);
  if (status) status = put(packet, clock);
  if (status) status = end_frame();
  packet.data = nullptr;
  packet.size = 0;
  return status;
}

Status ContainerSink::end_frame() {
  if (is_mov()) return end_fragment();
  // AVI knows no flush; a cluster of Matroska is otherwise kept in memory for seconds.
  return name_ == "matroska" ? muxer_->flush() : muxer_->drain();
}

Status ContainerSink::end_fragment() {
  if (!movie_box_written_) {
    ZR_TRY(muxer_->flush());  // ftyp and moov alone
    movie_box_written_ = true;
  }
  const std::int64_t from = file_->size();
  ZR_TRY(muxer_->flush());
  Status status = index_ ? index_fragment(from) : Status::ok();
  pending_.clear();
  return status;
}

/// Finds the packets in the fragment that was just written: one moof, and one mdat in which the
/// packets of each stream follow one another, stream by stream.
Status ContainerSink::index_fragment(std::int64_t from) {
  if (pending_.empty()) return Status::ok();
  Result<BoxHeader> box = read_box(*file_, from);
  while (box && box->type != box_type("mdat")) box = read_box(*file_, box->position + box->size);
  std::int64_t bytes = 0;
  for (const Pending& entry : pending_) bytes += entry.packet->size;
  if (!box || box->size - box->header_bytes != bytes ||
      box->position + box->size != file_->size()) {
    if (!file_->error()) return file_->error();
    index_.reset();  // not the layout that we know: the file stays fragmented, which plays too
    add_notice("the file is left fragmented");
    return Status::ok();
  }
  std::stable_sort(pending_.begin(), pending_.end(), [](const Pending& a, const Pending& b) {
    return a.packet->stream_index < b.packet->stream_index;
  });
  std::int64_t position = box->position + box->header_bytes;
  for (const Pending& entry : pending_) {
    ZR_TRY(index_->add(*entry.packet, entry.time_base, position));
    position += entry.packet->size;
  }
  return Status::ok();
}

Status ContainerSink::finish() {
  if (!last_pts_)
    return Status(Errc::unsupported_output, "'" + file_->path() + "': there is no frame for it");
  if (!file_->error()) return file_->error();
  const double end =
      static_cast<double>(*last_pts_ + last_duration_) * av_q2d(video_time_base(options_));
  ZR_TRY(put_audio_before(end));
  Status status = !is_mov() ? muxer_->finish() : end_fragment();
  if (status && index_) status = index_->finish();
  if (!status) return status;
  return file_->commit();
}

}  // namespace
}  // namespace av

Result<PacketSinkPtr> open_container_sink(std::unique_ptr<OutputFile> file,
                                          const std::string& muxer, const SinkOptions& options) {
  auto sink = std::make_unique<av::ContainerSink>(std::move(file), muxer, options);
  ZR_TRY(sink->start());
  return PacketSinkPtr(std::move(sink));
}

}  // namespace zerorun::io
