// Motion JPEG packets of AVI files, without FFmpeg.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "io/image_file.hpp"
#include "io/avi/avi_frames.hpp"
#include "io/avi/avi_header.hpp"
#include "io/readers.hpp"
#include "io/frame_jpeg.hpp"
#include "io/jpeg_splitter.hpp"

namespace zerorun::io {
namespace {

Rational reduced(Rational r) {
  const std::int64_t common = std::gcd(r.num, r.den);
  return {r.num / common, r.den / common};
}

/// A file is read by the list of its pictures, a pipe from chunk to chunk.
class AviPackets final : public AheadReader<PacketReader, Packet> {
 public:
  explicit AviPackets(ByteReader reader)
      : reader_(std::move(reader)), is_file_(reader_.size().has_value()) {}

  Status start() {
    ZR_LET(header, read_avi_header(reader_));
    header_ = std::move(header);
    if (is_file_) {
      ZR_LET(found, find_avi_frames(reader_, header_));
      list_ = std::move(found);
    } else {
      walk_.emplace(reader_, header_.video.stream);
    }
    describe();
    ZR_LET(more, look_ahead());
    if (!more) return no_pictures();
    ZR_TRY(ahead_.load());
    if (!is_jpeg(ahead_.item)) return no_pictures();
    describe_video_packet(ahead_.item, picture_height(), info_);
    return Status::ok();
  }

  std::int64_t skipped_bytes() const override {
    return walk_ ? walk_->skipped_bytes() : list_.skipped_bytes;
  }
  std::string last_name() const override {
    return reader_.name() + " frame " + std::to_string(index_ - 1);
  }
  int picture_height() const override { return header_.video.height; }
  /// As FFmpeg has it where the container does not tell.
  bool is_bottom_field_first() const override { return header_.video.codec == "MJPG"; }

  bool can_seek() const override { return is_file_; }
  bool finds_index() override { return is_file_; }

  Result<std::int64_t> seek_index(std::int64_t index) override {
    if (!is_file_) return cannot_seek();
    const auto last = static_cast<std::int64_t>(list_.frames.size()) - 1;
    index_ = std::clamp<std::int64_t>(index, 0, last);
    has_ahead_ = false;
    return index_;
  }

  Result<std::int64_t> seek_time(std::int64_t pts) override {
    const auto later =
        std::upper_bound(list_.frames.begin(), list_.frames.end(), pts,
                         [](std::int64_t time, const AviFrame& f) { return time < f.number; });
    return seek_index(later - list_.frames.begin() - 1);
  }

 private:
  Status no_pictures() const {
    return Status(Errc::unknown_format,
                  "'" + reader_.name() + "': no Motion JPEG is in it (its video is named '" +
                      header_.video.codec + "'), and without FFmpeg nothing else is read");
  }

  void describe() {
    const AviVideo& video = header_.video;
    info_.container = "avi";
    info_.codec = "mjpeg";
    info_.is_jpeg = true;
    info_.width = video.width;
    info_.height = video.height;
    const Rational rate = reduced(video.rate);
    info_.time_base = {rate.den, rate.num};
    info_.frame_rate = rate;
    info_.has_audio = header_.has_audio;
    info_.content = header_.content;
    if (video.frame_aspect.known() && video.width > 0 && video.height > 0)
      info_.sample_aspect =
          reduced({video.frame_aspect.num * video.height, video.frame_aspect.den * video.width});
    if (is_file_) describe_list();
  }

  void describe_list() {
    const auto count = static_cast<std::int64_t>(list_.frames.size());
    info_.frame_count = count;
    const double rate = header_.video.rate.value();
    info_.duration_seconds = rate > 0 ? static_cast<double>(list_.chunks) / rate : 0.0;
    const std::uint64_t there = *reader_.size();
    constexpr std::uint64_t kMiscounted = 8;  // some writers include RIFF's own header
    if (header_.riff_bytes > there + kMiscounted)
      info_.missing_bytes = static_cast<std::int64_t>(header_.riff_bytes - there);
    if (count < 2) return;
    const std::int64_t step = list_.frames[1].number - list_.frames[0].number;
    for (std::size_t i = 1; i < list_.frames.size() && !info_.variable_frame_rate; ++i)
      info_.variable_frame_rate = list_.frames[i].number - list_.frames[i - 1].number != step;
    const std::int64_t span = list_.frames.back().number - list_.frames[0].number;
    // A rate of 50 with every second chunk empty is one of 25; a variable one is an average.
    info_.frame_rate =
        reduced({header_.video.rate.num * (count - 1), header_.video.rate.den * span});
  }

  Result<bool> next_item(PacketWork& work) override {
    return is_file_ ? next_of_file(work) : next_of_pipe(work);
  }

  /// `index_` counts the items that were given, so with one ahead it is that one's.
  Result<bool> next_of_file(PacketWork& work) {
    const auto at = static_cast<std::size_t>(index_);
    if (at >= list_.frames.size()) return false;
    const AviFrame frame = list_.frames[at];
    const bool is_last = at + 1 == list_.frames.size();
    const std::int64_t next = is_last ? list_.chunks : list_.frames[at + 1].number;
    work.time = {frame.number, next - frame.number};
    work.loader = [this, frame](PacketWork& loaded, int) { return load(frame, loaded.item); };
    return true;
  }

  Status load(const AviFrame& frame, Packet& jpeg) const {
    if (frame.bytes > JpegSplitter::kMaxImageBytes) return too_long();
    jpeg.resize(frame.bytes);
    const std::span<std::byte> whole(jpeg);
    ZR_LET(found, reader_.read_at(frame.offset, {&whole, 1}));
    if (found) return Status::ok();
    return Status(Errc::bad_input, "'" + reader_.name() + "' became shorter");
  }

  Status too_long() const {
    return Status(Errc::bad_input,
                  "'" + reader_.name() + "': a picture of more than 512 MiB cannot be one");
  }

  Result<bool> next_of_pipe(PacketWork& work) {
    work.loader = nullptr;
    for (;;) {
      const auto chunk = walk_->next();
      if (!chunk) return reader_.error() ? Result<bool>(false) : reader_.error();
      const std::int64_t number = chunks_++;
      if (chunk->bytes == 0) continue;
      work.time = {number, 1};
      if (chunk->bytes > JpegSplitter::kMaxImageBytes) return too_long();
      ZR_TRY(read_pieces(*chunk, work.item));
      // What a pipe cuts off is left out, as in a file.
      if (work.item.size() < chunk->bytes) continue;
      reader_.skip(chunk->padded_bytes() - chunk->bytes);
      return true;
    }
  }

  /// Memory grows with what is there, not with what the chunk says.
  Status read_pieces(const riff::Chunk& chunk, Packet& jpeg) {
    constexpr std::size_t kPiece = std::size_t{4} << 20;
    jpeg.clear();
    while (jpeg.size() < chunk.bytes) {
      const std::size_t done = jpeg.size();
      jpeg.resize(std::min<std::size_t>(chunk.bytes, done + kPiece));
      const std::size_t got = reader_.read(std::span(jpeg).subspan(done));
      jpeg.resize(done + got);
      if (got == 0) break;
    }
    return reader_.error();
  }

  ByteReader reader_;
  const bool is_file_;
  AviHeader header_;
  AviFrames list_;               // of a file
  std::optional<AviWalk> walk_;  // of a pipe
  std::int64_t chunks_ = 0;      // of a pipe, so far
};

}  // namespace

Result<PacketReaderPtr> open_avi(ByteReader reader) {
  return started<PacketReader>(std::make_unique<AviPackets>(std::move(reader)));
}

}  // namespace zerorun::io
