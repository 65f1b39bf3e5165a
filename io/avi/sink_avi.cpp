// Writes JPEG packets to AVI files, without FFmpeg.
//
// Sizes are "unknown" until a list is complete: players then read to the end of the file, so what a
// killed process leaves behind plays to its last complete frame.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/image_file.hpp"
#include "io/avi/avi_layout.hpp"
#include "io/avi/riff.hpp"
#include "io/sinks.hpp"

namespace zerorun::io {
namespace {

/// Of a picture: well below what fits in a list.
constexpr std::size_t kMostPictureBytes = std::size_t{1} << 29;
/// Gaps in time become chunks without data, which repeat the picture before.
constexpr std::int64_t kMostRepeats = 60'000;

class AviSink final : public HalvedPacketSink {
 public:
  AviSink(std::unique_ptr<OutputFile> file, const SinkOptions& options,
          std::int64_t most_riff_bytes)
      : file_(std::move(file)), options_(options), most_riff_bytes_(most_riff_bytes) {}

  Status start() {
    ZR_TRY(check_options());
    if (!options_.audio_from.empty()) notice_ = "the audio is left out: this needs FFmpeg";
    if (is_turned(options_)) add_notice(rotation_notice(options_, "avi"));
    if (!options_.content.timecode.empty() && options_.first_frame != 0)
      add_notice("the time code is left out: counting it on to a later frame needs FFmpeg");
    const std::vector<std::byte> headers = avi_headers(options_, rate_, {}, {});
    ZR_TRY(file_->write(headers));
    begin_segment(0);
    return Status::ok();
  }

  Status prepare(std::span<const std::byte> jpeg, Outgoing& out) override {
    if (!is_jpeg(jpeg) || jpeg.size() > kMostPictureBytes)
      return Status(Errc::invalid_argument, "the packet is not a JPEG stream");
    out.parts.assign(1, jpeg);
    return Status::ok();
  }

  Status finish() override {
    if (totals_.largest == 0) return no_frame(*file_);
    ZR_TRY(file_->error());
    if (file_->is_seekable()) {
      ZR_TRY(end_segment());
      ZR_TRY(write_totals());
    }
    return file_->commit();
  }

  std::int64_t bytes_written() const override { return file_->size(); }
  std::string notice() const override { return notice_; }

 private:
  void add_notice(const std::string& text) { notice_ += (notice_.empty() ? "" : "; ") + text; }

  Status check_options() {
    if (options_.width < 1 || options_.height < 1 || options_.width > 65535 ||
        options_.height > 65535)
      return Status(Errc::invalid_argument, "the size of the video has to be 1x1 to 65535x65535");
    if (!options_.frame_rate.known())
      return Status(Errc::invalid_argument, "the video needs a frame rate (--fps)");
    const std::int64_t common = std::gcd(options_.frame_rate.num, options_.frame_rate.den);
    rate_ = {options_.frame_rate.num / common, options_.frame_rate.den / common};
    if (rate_.num > INT32_MAX || rate_.den > INT32_MAX)
      return Status(Errc::invalid_argument, "AVI cannot hold this frame rate");
    return Status::ok();
  }

  Status place(Outgoing& out) override {
    const std::int64_t number = number_of(out.time);
    if (number - next_ > kMostRepeats)
      return Status(Errc::unsupported_output,
                    "AVI repeats a picture for each frame of a gap in time, and this gap has " +
                        std::to_string(number - next_));
    for (; next_ < number; ++next_) ZR_TRY(write_chunk({}));
    ++next_;
    return write_chunk(out.parts[0]);
  }

  /// The number of the first free chunk at or after this time.
  std::int64_t number_of(const FrameTime& time) {
    if (!first_pts_) first_pts_ = time.pts;
    if (!options_.time_base.known()) return next_;
    const double seconds = static_cast<double>(time.pts - *first_pts_) * options_.time_base.value();
    const double number = std::clamp(seconds * rate_.value() + 0.5, 0.0, 4e18);
    return std::max(static_cast<std::int64_t>(number), next_);
  }

  Status write_chunk(std::span<const std::byte> jpeg) {
    const auto bytes = static_cast<std::int64_t>(jpeg.size());
    if (needs_new_segment(bytes)) ZR_TRY(start_next_segment());
    riff::Builder header;
    header.text(kAviPicture);
    header.u32(jpeg.size());
    constexpr std::array kPadding{std::byte{0}};
    const std::array<std::span<const std::byte>, 3> parts{
        header.bytes(), jpeg, std::span(kPadding).first(jpeg.size() % 2)};
    const std::int64_t data = file_->position() + static_cast<std::int64_t>(riff::kHeaderBytes);
    ZR_TRY(file_->write(parts));
    if (file_->is_seekable())
      places_.push_back(
          {static_cast<std::uint32_t>(data - now_.movi), static_cast<std::uint32_t>(bytes)});
    ++now_.chunks;
    ++totals_.chunks;
    totals_.largest = std::max(totals_.largest, static_cast<std::uint32_t>(bytes));
    return Status::ok();
  }

  /// Counts the index chunk and, in the first list, idx1. A pipe has one list of unknown size.
  bool needs_new_segment(std::int64_t bytes) const {
    constexpr std::int64_t kIndexBytesAChunk = 8 + 16;
    if (!file_->is_seekable() || now_.chunks == 0) return false;
    const auto index = static_cast<std::int64_t>(places_.size() + 2) * kIndexBytesAChunk;
    return file_->position() - now_.riff + bytes + index > most_riff_bytes_;
  }

  /// The headers of the two lists have just been written.
  void begin_segment(std::int64_t riff) {
    now_ = {};
    now_.riff = riff + 4;
    now_.movi = file_->position() - 8;
    places_.clear();
  }

  Status start_next_segment() {
    ZR_TRY(end_segment());
    if (segments_.size() == kMostAviRiffs)
      return Status(Errc::unsupported_output, "AVI files end at " + std::to_string(kMostAviRiffs) +
                                                  " GB; write .mkv or .mov, or several files");
    const std::int64_t riff = file_->position();
    riff::Builder lists;
    lists.open_list("RIFF", "AVIX");
    lists.open_list("LIST", "movi");
    ZR_TRY(file_->write(lists.bytes()));
    begin_segment(riff);
    return Status::ok();
  }

  /// Writes the indices of the list and its sizes.
  Status end_segment() {
    const bool is_first = segments_.empty();
    now_.index = file_->position();
    ZR_TRY(file_->write(avi_index_chunk(now_, places_)));
    now_.index_bytes = file_->position() - now_.index;
    ZR_TRY(write_size(now_.movi));
    if (is_first) ZR_TRY(file_->write(avi_first_index(places_)));
    ZR_TRY(write_size(now_.riff));
    segments_.push_back(now_);
    return Status::ok();
  }

  /// Writes the size of a list that ends here to its place at `at`.
  Status write_size(std::int64_t at) {
    riff::Builder size;
    size.u32(static_cast<std::uint64_t>(file_->position() - at - 4));
    return rewrite(at, size.bytes());
  }

  Status rewrite(std::int64_t at, std::span<const std::byte> bytes) {
    const std::int64_t end = file_->position();
    ZR_TRY(file_->seek(at));
    ZR_TRY(file_->write(bytes));
    return file_->seek(end);
  }

  /// Writes the headers again, without the sizes of the lists around them.
  Status write_totals() {
    const std::vector<std::byte> headers = avi_headers(options_, rate_, totals_, segments_);
    const std::span<const std::byte> inner(headers);
    return rewrite(riff::kListBytes,
                   inner.subspan(riff::kListBytes, headers.size() - 2 * riff::kListBytes));
  }

  std::unique_ptr<OutputFile> file_;
  const SinkOptions options_;
  const std::int64_t most_riff_bytes_;
  Rational rate_;
  std::string notice_;
  std::optional<std::int64_t> first_pts_;
  std::int64_t next_ = 0;  // number of the next chunk
  AviTotals totals_;
  AviSegment now_;
  std::vector<AviSegment> segments_;   // complete
  std::vector<AviChunkPlace> places_;  // of this segment
};

}  // namespace

Result<PacketSinkPtr> make_avi_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options,
                                    std::int64_t most_riff_bytes) {
  return started<PacketSink>(std::make_unique<AviSink>(std::move(file), options, most_riff_bytes));
}

}  // namespace zerorun::io
