// Writes JPEG packets to AVI files, without FFmpeg.
//
// OpenDML AVI 2.0: RIFF lists of at most 1 GB, each with an index chunk of its own that "indx" in
// the headers names, and an "idx1" in the first one for readers that know no other. Sizes are
// "unknown" until a list is complete: players then read to the end of the file, so what a killed
// process leaves behind plays to its last complete frame.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/avi/avi_tags.hpp"
#include "io/avi/riff.hpp"
#include "io/formats.hpp"

namespace zerorun::io {
namespace {

constexpr std::string_view kPicture = "00dc";
constexpr std::uint32_t kHasIndex = 0x10, kKeyFrame = 0x10;
/// As FFmpeg's writer has it.
constexpr std::size_t kMostRiffs = 256;
/// Of a picture: well below what fits in a list.
constexpr std::size_t kMostPictureBytes = std::size_t{1} << 29;
/// Gaps in time become chunks without data, which repeat the picture before.
constexpr std::int64_t kMostRepeats = 60'000;

struct Segment {
  std::int64_t riff = 0, movi = 0;  // where the sizes of the two lists stand
  std::int64_t index = 0;           // the index chunk
  std::int64_t index_bytes = 0;
  std::uint32_t chunks = 0;
};

struct ChunkPlace {
  std::uint32_t offset;  // of the data, from Segment::movi
  std::uint32_t bytes;
};

/// What only the end of the recording knows.
struct Totals {
  std::uint32_t chunks = 0;
  std::uint32_t largest = 0;  // chunk
};

/// The headers have the same length whatever the totals are.
class Headers {
 public:
  Headers(const SinkOptions& options, Rational rate) : options_(options), rate_(rate) {}

  /// From "RIFF" to the header of "movi".
  std::vector<std::byte> build(const Totals& totals, const std::vector<Segment>& segments) {
    out_ = {};
    out_.open_list("RIFF", "AVI ");
    const std::size_t headers = out_.open_list("LIST", "hdrl");
    main_header(totals, segments);
    const std::size_t stream = out_.open_list("LIST", "strl");
    stream_header(totals);
    format();
    index(segments);
    properties();
    out_.close(stream);
    const std::size_t opendml = out_.open_list("LIST", "odml");
    const std::size_t extended = out_.open("dmlh");
    out_.u32(totals.chunks);
    zeros(61);
    out_.close(extended);
    out_.close(opendml);
    out_.close(headers);
    tags();
    out_.open_list("LIST", "movi");
    return out_.bytes();
  }

 private:
  void zeros(int words) {
    for (int i = 0; i < words; ++i) out_.u32(0);
  }
  auto width() const { return static_cast<std::uint32_t>(options_.width); }
  auto height() const { return static_cast<std::uint32_t>(options_.height); }

  /// AVIMAINHEADER; its count is that of the first RIFF list.
  void main_header(const Totals& totals, const std::vector<Segment>& segments) {
    const double bytes_per_second = totals.largest * rate_.value();
    const std::size_t chunk = out_.open("avih");
    out_.u32(static_cast<std::uint64_t>(std::min(4e9, 1e6 / rate_.value() + 0.5)));
    out_.u32(static_cast<std::uint64_t>(std::min(4e9, bytes_per_second)));
    out_.u32(0);
    out_.u32(segments.empty() ? 0 : kHasIndex);
    out_.u32(segments.empty() ? totals.chunks : segments[0].chunks);
    out_.u32(0);
    out_.u32(1);  // stream
    out_.u32(totals.largest);
    out_.u32(width());
    out_.u32(height());
    zeros(4);
    out_.close(chunk);
  }

  /// AVISTREAMHEADER
  void stream_header(const Totals& totals) {
    const std::size_t chunk = out_.open("strh");
    out_.text("vidsMJPG");
    zeros(3);
    out_.u32(static_cast<std::uint64_t>(rate_.den));
    out_.u32(static_cast<std::uint64_t>(rate_.num));
    out_.u32(0);
    out_.u32(totals.chunks);
    out_.u32(totals.largest);
    out_.u32(0xFFFFFFFF);  // quality: default
    out_.u32(0);           // samples vary in size
    out_.u32(0);
    out_.u16(width());
    out_.u16(height());
    out_.close(chunk);
  }

  /// BITMAPINFOHEADER
  void format() {
    const std::size_t chunk = out_.open("strf");
    out_.u32(40);
    out_.u32(width());
    out_.u32(height());
    out_.u16(1);
    out_.u16(24);
    out_.text("MJPG");
    out_.u32(3ull * width() * height());
    zeros(4);
    out_.close(chunk);
  }

  /// AVISUPERINDEX with places for all lists that there may be.
  void index(const std::vector<Segment>& segments) {
    const std::size_t chunk = out_.open("indx");
    out_.u16(4);  // words an entry
    out_.u16(0);  // of indices
    out_.u32(segments.size());
    out_.text(kPicture);
    zeros(3);
    for (std::size_t i = 0; i < kMostRiffs; ++i) {
      const Segment segment = i < segments.size() ? segments[i] : Segment();
      out_.u64(static_cast<std::uint64_t>(segment.index));
      out_.u32(static_cast<std::uint64_t>(segment.index_bytes));
      out_.u32(segment.chunks);
    }
    out_.close(chunk);
  }

  /// VideoPropHeader, for pixels that are not square.
  void properties() {
    const Rational pixel = options_.sample_aspect;
    if (!pixel.known() || pixel.num == pixel.den) return;
    const double aspect = pixel.value() * options_.width / options_.height;
    // 16 bits each: the finest fraction below that.
    std::int64_t num = pixel.num * options_.width, den = pixel.den * options_.height;
    const std::int64_t common = std::gcd(num, den);
    num /= common, den /= common;
    if (num > 0xFFFF || den > 0xFFFF) {
      den = aspect > 1 ? static_cast<std::int64_t>(0xFFFF / aspect) : 0xFFFF;
      num = static_cast<std::int64_t>(aspect * static_cast<double>(den) + 0.5);
    }
    if (num < 1 || den < 1) return;
    const std::size_t chunk = out_.open("vprp");
    zeros(2);
    out_.u32(static_cast<std::uint64_t>(rate_.value() + 0.5));
    out_.u32(width());
    out_.u32(height());
    out_.u16(static_cast<std::uint64_t>(den));
    out_.u16(static_cast<std::uint64_t>(num));
    out_.u32(width());
    out_.u32(height());
    out_.u32(1);  // field a frame, and its lines
    for (int valid = 0; valid < 2; ++valid) {
      out_.u32(height());
      out_.u32(width());
    }
    zeros(4);
    out_.close(chunk);
  }

  void tags() {
    const std::size_t list = out_.open_list("LIST", "INFO");
    const auto add = [&](std::string_view id, const std::string& text) {
      const std::size_t chunk = out_.open(id);
      out_.text(text);
      out_.number(0, 1);
      out_.close(chunk);
    };
    for (const auto& [key, value] : options_.content.tags)
      for (const AviTag& tag : kAviTags)
        if (tag.key == key) add(tag.id, value);
    // Of a later frame it would have to be counted on.
    if (!options_.content.timecode.empty() && options_.first_frame == 0)
      add(kAviTimecode, options_.content.timecode);
    out_.close(list);
  }

  const SinkOptions& options_;
  const Rational rate_;
  riff::Builder out_;
};

}  // namespace

bool is_turned(const SinkOptions& options) noexcept {
  return options.mirrored || options.rotation_degrees % 360 != 0;
}

std::string rotation_notice(const SinkOptions& options, const std::string& container) {
  const std::string degrees = std::to_string(options.rotation_degrees) + " degrees";
  const std::string what = !options.mirrored               ? "the rotation of " + degrees
                           : options.rotation_degrees == 0 ? "mirroring"
                                                           : "mirroring and rotation of " + degrees;
  return container + " has no place for " + what +
         "; players will show the video as it is stored (.mov and .mp4 keep it)";
}

namespace {

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
    const std::vector<std::byte> headers = Headers(options_, rate_).build({}, {});
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

  /// Of the first chunk that is free at this time.
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
    header.text(kPicture);
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

  /// With its index chunk and, in the first list, idx1. A pipe has one list of unknown size.
  bool needs_new_segment(std::int64_t bytes) const {
    constexpr std::int64_t kIndexBytesAChunk = 8 + 16;
    if (!file_->is_seekable() || now_.chunks == 0) return false;
    const auto index = static_cast<std::int64_t>(places_.size() + 2) * kIndexBytesAChunk;
    return file_->position() - now_.riff + bytes + index > most_riff_bytes_;
  }

  /// Behind the headers of the two lists.
  void begin_segment(std::int64_t riff) {
    now_ = {};
    now_.riff = riff + 4;
    now_.movi = file_->position() - 8;
    places_.clear();
  }

  Status start_next_segment() {
    ZR_TRY(end_segment());
    if (segments_.size() == kMostRiffs)
      return Status(Errc::unsupported_output, "AVI files end at " + std::to_string(kMostRiffs) +
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
    ZR_TRY(file_->write(index_chunk()));
    now_.index_bytes = file_->position() - now_.index;
    ZR_TRY(write_size(now_.movi));
    if (is_first) ZR_TRY(file_->write(first_index()));
    ZR_TRY(write_size(now_.riff));
    segments_.push_back(now_);
    return Status::ok();
  }

  /// Of a list whose size stands at `at` and which ends here.
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

  /// AVISTDINDEX. Offsets count from the size of "movi".
  std::vector<std::byte> index_chunk() const {
    riff::Builder out;
    const std::size_t chunk = out.open("ix00");
    out.u16(2);       // words an entry
    out.u16(0x0100);  // of chunks
    out.u32(places_.size());
    out.text(kPicture);
    out.u64(static_cast<std::uint64_t>(now_.movi));
    out.u32(0);
    for (const ChunkPlace& place : places_) {
      out.u32(place.offset);
      out.u32(place.bytes);
    }
    out.close(chunk);
    return out.bytes();
  }

  /// idx1; its offsets count from the type of "movi", and are those of the chunks' headers.
  std::vector<std::byte> first_index() const {
    riff::Builder out;
    const std::size_t chunk = out.open("idx1");
    for (const ChunkPlace& place : places_) {
      out.text(kPicture);
      out.u32(kKeyFrame);
      out.u32(place.offset - 4 - riff::kHeaderBytes);
      out.u32(place.bytes);
    }
    out.close(chunk);
    return out.bytes();
  }

  /// The headers again, but for the sizes of the lists around them.
  Status write_totals() {
    const std::vector<std::byte> headers = Headers(options_, rate_).build(totals_, segments_);
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
  Totals totals_;
  Segment now_;
  std::vector<Segment> segments_;   // complete
  std::vector<ChunkPlace> places_;  // of this segment
};

}  // namespace

Result<PacketSinkPtr> make_avi_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options,
                                    std::int64_t most_riff_bytes) {
  return started<PacketSink>(std::make_unique<AviSink>(std::move(file), options, most_riff_bytes));
}

}  // namespace zerorun::io
