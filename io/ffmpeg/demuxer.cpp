// The video stream of any file that libavformat opens.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/demuxer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "codec/base/try.hpp"
#include "io/ffmpeg/avi_index.hpp"
#include "io/ffmpeg/container_content.hpp"
#include "io/ffmpeg/input_head.hpp"
#include "io/ffmpeg/mkv_index.hpp"

namespace zerorun::io::av {
namespace {

constexpr int kPipeBufferBytes = 1 << 16;
constexpr std::int64_t kMiscounted = 8;  // some writers of AVI include RIFF's own header
constexpr std::size_t kHeadBytes = 8;    // for unknown_input(); a pipe is not read further

/// "mov,mp4,m4a,3gp,3g2,mj2" is one demuxer; the major brand tells which of them it is.
std::string container_name(AVFormatContext& context) {
  const std::string_view names = context.iformat->name;
  if (names.starts_with("mov,")) {
    const AVDictionaryEntry* brand = av_dict_get(context.metadata, "major_brand", nullptr, 0);
    return brand == nullptr || std::string_view(brand->value) == "qt  " ? "mov" : "mp4";
  }
  return std::string(names.substr(0, names.find(',')));
}

/// Clockwise degrees, to the nearest quarter turn, after mirroring left to right.
void read_display_matrix(const AVStream& stream, SourceInfo& info) {
  constexpr std::size_t kEntries = 9;
  std::size_t bytes = 0;
  const std::uint8_t* data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
  std::array<std::int32_t, kEntries> matrix{};
  if (data == nullptr || bytes < sizeof(matrix)) return;
  std::memcpy(matrix.data(), data, sizeof(matrix));
  // x' = m[0] x + m[3] y, y' = m[1] x + m[4] y: a negative determinant mirrors. To mirror before
  // turning negates what is multiplied by x.
  const bool mirrored = std::int64_t{matrix[0]} * matrix[4] < std::int64_t{matrix[1]} * matrix[3];
  if (mirrored)
    for (const std::size_t i : {0, 1})
      matrix[i] = static_cast<std::int32_t>(-std::int64_t{matrix[i]});
  const double counter_clockwise = av_display_rotation_get(matrix.data());
  if (std::isnan(counter_clockwise)) return;
  const long quarters = std::lround(-counter_clockwise / 90.0);
  info.rotation_degrees = static_cast<int>(((quarters % 4) + 4) % 4) * 90;
  info.mirrored = mirrored;
}

}  // namespace

Demuxer::~Demuxer() {
  avformat_close_input(&context_);  // does not free a custom I/O context
  if (pipe_context_ != nullptr) {
    av_freep(&pipe_context_->buffer);
    avio_context_free(&pipe_context_);
  }
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
  const bool is_file = reader.is_regular_file();
  const auto there = static_cast<std::int64_t>(reader.size().value_or(0));
  const std::span<const std::byte> start = reader.peek(is_file ? kAnnouncingBytes : kHeadBytes);
  const std::vector<std::byte> head(start.begin(), start.end());
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
  // FFmpeg says so also where there are more streams than it may make.
  if (error == AVERROR(ENOMEM))
    return Status(
        Errc::bad_input,
        "'" + name_ + "': it has too many streams, or there is no memory for its headers");
  if (error < 0) return failure(Errc::bad_input, name_, error);
  if (forced == nullptr && is_guess(*context_)) return unknown_input(name_, head);
  ZR_TRY(show_flv_streams(*context_, name_));
  ZR_TRY(find_streams(*context_, name_));
  const std::optional<std::int64_t> announced = is_file ? announced_bytes(head) : std::nullopt;
  if (announced && *announced > there + kMiscounted) missing_bytes_ = *announced - there;
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

Result<bool> Demuxer::read(AVPacket& packet) {
  if (!ahead_.empty()) {
    av_packet_unref(&packet);
    av_packet_move_ref(&packet, ahead_.front().get());
    ahead_.pop_front();
    return true;
  }
  if (!ahead_error_) return std::exchange(ahead_error_, Status::ok());
  return next_packet(packet);
}

bool Demuxer::can_seek() const noexcept {
  return !pipe_ && context_->pb != nullptr && (context_->pb->seekable & AVIO_SEEKABLE_NORMAL) != 0;
}

Status Demuxer::seek(std::int64_t pts) {
  ahead_.clear();
  ahead_error_ = Status::ok();
  // Clip far ends so that adding the start cannot overflow.
  constexpr std::int64_t kFar = std::int64_t{1} << 61;
  const std::int64_t wanted = std::clamp(pts, -kFar, kFar) + start_;
  int error = av_seek_frame(context_, stream_->index, wanted, AVSEEK_FLAG_BACKWARD);
  if (error < 0) {
    const std::int64_t first = stream_->start_time != AV_NOPTS_VALUE ? stream_->start_time : 0;
    error = av_seek_frame(context_, stream_->index, first, AVSEEK_FLAG_BACKWARD);
  }
  if (error < 0) error = avformat_seek_file(context_, -1, INT64_MIN, 0, INT64_MAX, 0);
  return error < 0 ? failure(Errc::read_failed, name_, error) : Status::ok();
}

/// Of a Matroska file whose frames are all key frames. The walk has to agree with the packets that
/// were read at the start.
std::optional<FrameTimes> Demuxer::walked_times() {
  if (!std::string_view(context_->iformat->name).starts_with("matroska") || !can_seek() ||
      missing_bytes_ > 0 || !is_intra_only(stream_))
    return std::nullopt;
  const auto file = ByteReader::open(name_);
  if (!file) return std::nullopt;
  auto times = mkv_frame_times(*file);
  if (!times || times->size() < first_times_.size() ||
      !std::equal(first_times_.begin(), first_times_.end(), times->begin()))
    return std::nullopt;
  for (std::int64_t& time : *times) time -= start_;
  return FrameTimes(*std::move(times));
}

std::int64_t Demuxer::listed_frames() {
  const bool is_known = info_.frame_count >= 0 || !finds_index() || !times().lists_all();
  return is_known ? -1 : times().count();
}

const FrameTimes& Demuxer::times() {
  if (!times_) times_ = walked_times();
  if (!times_) {
    // MOV, MP4 and AVI files have an index of all frames, if they are whole. Its times are decoding
    // times, which are presentation times too if all frames are key frames.
    const bool is_avi = std::string_view(context_->iformat->name) == "avi";
    const bool lists_all_frames =
        is_intra_only(stream_) &&
        (has_whole_index(stream_) || (is_avi && avformat_index_get_entries_count(stream_) > 1));
    times_.emplace(stream_, start_, lists_all_frames, info_);
  }
  return *times_;
}

bool Demuxer::finds_index() {
  if (!can_seek() || missing_bytes_ > 0) return false;
  return times().lists_all() || (has_whole_index(stream_) && !info_.variable_frame_rate);
}

/// Reads some packets if the container has no index with the time of every frame.
Status Demuxer::look_ahead() {
  if (has_whole_index(stream_)) return Status::ok();
  constexpr std::size_t kPackets = 32;  // enough for a rate, few enough to keep
  constexpr std::int64_t kBytes = std::int64_t{8} << 20;
  std::int64_t bytes = 0;
  while (ahead_.size() < kPackets && bytes < kBytes) {
    PacketPtr packet(av_packet_alloc());
    if (!packet) return Status(Errc::out_of_memory);
    Result<bool> more = next_packet(*packet);
    if (!more) ahead_error_ = more.status();
    if (!more || !*more) break;
    bytes += packet->size;
    first_times_.push_back(packet->pts);
    ahead_.push_back(std::move(packet));
  }
  return Status::ok();
}

Result<bool> Demuxer::next_packet(AVPacket& packet) {
  for (;;) {
    av_packet_unref(&packet);
    const int error = av_read_frame(context_, &packet);
    if (error == AVERROR_EOF || error == AVERROR_INVALIDDATA) {
      // A demuxer may report the end of a damaged file as invalid; what came before is good.
      if (pipe_ && !pipe_->error()) return pipe_->error();
      const int io_error = context_->pb != nullptr ? context_->pb->error : 0;
      if (io_error < 0 && io_error != AVERROR_EOF)
        return failure(Errc::read_failed, name_, io_error);
      if (delivered_ == 0 && error == AVERROR_INVALIDDATA)
        return Status(Errc::bad_input,
                      "'" + name_ + "': no picture can be read from it" +
                          (pipe_ ? "; this format may need a file instead of a pipe" : ""));
      return false;
    }
    if (error < 0) return failure(Errc::read_failed, name_, error);
    // Empty packets stand for repeated frames in AVI; the time stamps show the repetition.
    if (packet.stream_index != stream_->index || packet.size == 0) continue;
    ++delivered_;
    return true;
  }
}

void Demuxer::describe() {
  info_.container = container_name(*context_);
  const AVCodecParameters& codec = *stream_->codecpar;
  info_.width = codec.width;
  info_.height = codec.height;
  info_.time_base = from_av(stream_->time_base);
  measure_rate(stream_, ahead_, info_);
  const AVRational aspect = av_guess_sample_aspect_ratio(context_, stream_, nullptr);
  if (from_av(aspect).known()) info_.sample_aspect = from_av(aspect);
  read_display_matrix(*stream_, info_);
  info_.content = content_of(*context_, *stream_);
  info_.frame_count = stream_->nb_frames > 0 ? stream_->nb_frames : -1;
  // An AVI header counts repeated frames (empty chunks), too; the index lists the stored ones.
  const std::int64_t listed = avformat_index_get_entries_count(stream_);
  if (info_.container == "avi" && listed > 1)
    info_.frame_count = std::min(info_.frame_count, listed);
  info_.missing_bytes = missing_bytes_;
  if (missing_bytes_ > 0) info_.frame_count = -1;
  if (context_->duration > 0)
    info_.duration_seconds = static_cast<double>(context_->duration) / AV_TIME_BASE;
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    info_.has_audio |= context_->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  info_.codec = avcodec_get_name(codec.codec_id);
}

}  // namespace zerorun::io::av
