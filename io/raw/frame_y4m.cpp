// Reads and writes YUV4MPEG2.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "io/samples/samples.hpp"
#include "codec/base/try.hpp"
#include "io/output/sinks.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/base/readers.hpp"
#include "io/base/frame_parts.hpp"
#include "io/raw/y4m_header.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io {
namespace {

/// Far more than any writer needs; a missing line feed is found before the buffer grows.
constexpr std::size_t kMaxHeaderLine = 4096;
constexpr std::size_t kMaxFrameLine = 256;

/// A line of at most `limit` bytes without its line feed; nullopt if there is none.
std::optional<std::string> read_line(ByteReader& reader, std::size_t limit) {
  std::string line;
  for (;;) {
    const int c = reader.get();
    if (c < 0) return std::nullopt;
    if (c == '\n') return line;
    if (line.size() == limit) return std::nullopt;
    line += static_cast<char>(c);
  }
}

class Y4mReader final : public FrameReader {
 public:
  Y4mReader(ByteReader reader, const Y4mHeader& header, const SampleRules& rules, int threads)
      : reader_(std::move(reader)),
        header_(header),
        rules_(rules),
        to_jfif_(coding_of(header, rules)),
        first_offset_(reader_.offset()),
        threads_(threads) {
    info_.width = header.width;
    info_.height = header.height;
    info_.format = header.format;
    info_.frame_rate = header.frame_rate;
    if (header.frame_rate.known()) info_.time_base = {header.frame_rate.den, header.frame_rate.num};
    info_.sample_aspect = header.sample_aspect;
    info_.container = "y4m";
    info_.codec = "rawvideo";
    info_.content.field_order = header.interlace == 't'   ? FieldOrder::top_first
                                : header.interlace == 'b' ? FieldOrder::bottom_first
                                : header.interlace == 'p' ? FieldOrder::progressive
                                                          : FieldOrder::unknown;
    info_.content.range = to_jfif_.coding().full_range ? "pc" : "tv";
    info_.content.bits = header.depth_bits;
    info_.content.has_alpha = header.has_alpha;
    // True where no FRAME line has parameters. The selection relies on the count, so it has to
    // divide without a remainder.
    if (reader_.size() && reader_.remaining() % bytes_each() == 0)
      info_.frame_count = static_cast<std::int64_t>(reader_.remaining() / bytes_each());
  }

  std::string last_name() const override {
    return reader_.name() + " frame " + std::to_string(index_ - 1);
  }

  Result<bool> next(FrameWork& work) override {
    Result<bool> more = read_frame_line();
    if (!more || !*more) return more;
    ZR_TRY(reader_.size() ? leave_to_loader(work) : read_pipe(work));
    work.time = {index_++, 1};
    work.name = last_name();
    work.concealed = 0;
    return true;
  }

  Result<bool> skip() override {
    Result<bool> more = read_frame_line();
    if (!more || !*more) return more;
    if (!reader_.skip(header_.frame_bytes())) return cut_short();
    ++index_;
    return true;
  }

  bool can_seek() const override { return reader_.size().has_value(); }
  bool finds_index() override { return can_seek(); }

  Result<std::int64_t> seek_index(std::int64_t index) override {
    index = std::max<std::int64_t>(index, 0);
    if (info_.frame_count > 0) {
      index = std::min(index, info_.frame_count - 1);
      index_ = index;
      if (reader_.seek(first_offset_ + static_cast<std::uint64_t>(index) * bytes_each()) &&
          is_frame_word(reader_.peek(kFrameWord.size())))
        return index;
    }
    return walk_to(index);
  }

 private:
  static constexpr std::string_view kFrameWord = "FRAME";

  /// The header has no word for the matrix: BT.601, unless the caller says another.
  static YccCoding coding_of(const Y4mHeader& header, const SampleRules& rules) {
    const bool is_gray = header.format == PixelFormat::gray8;
    return {header.depth_bits, is_full_range(rules.range, header.full_range),
            is_gray ? kBt601 : weights_named(rules.matrix)};
  }

  bool blends() const noexcept { return header_.has_alpha && rules_.alpha != Alpha::ignore; }
  bool is_as_it_is() const noexcept { return to_jfif_.is_identity() && !blends(); }

  static bool is_frame_word(std::span<const std::byte> bytes) noexcept {
    return bytes.size() == kFrameWord.size() &&
           std::memcmp(bytes.data(), kFrameWord.data(), bytes.size()) == 0;
  }

  /// Bytes of a frame whose line has no parameters.
  std::uint64_t bytes_each() const noexcept {
    return header_.frame_bytes() + kFrameWord.size() + 1;
  }

  /// Steps from frame to frame: their lines may have parameters.
  Result<std::int64_t> walk_to(std::int64_t index) {
    if (!reader_.seek(first_offset_)) return cannot_seek();
    for (index_ = 0; index_ < index;) {
      ZR_LET(more, skip());
      if (!more) break;
    }
    if (index_ > 0 && reader_.peek(1).empty()) return walk_to(index_ - 1);
    return index_;
  }

  Result<bool> read_frame_line() {
    if (reader_.buffered().empty()) {
      ZR_TRY(reader_.error());
      return false;
    }
    const std::optional<std::string> line = read_line(reader_, kMaxFrameLine);
    const bool is_frame = line && (*line == "FRAME" || line->starts_with("FRAME "));
    if (is_frame) return true;
    ZR_TRY(reader_.error());
    return Status(Errc::bad_input, where(index_) + " does not start with the word FRAME");
  }

  /// A file: threads read frames at their offsets.
  Status leave_to_loader(FrameWork& work) {
    const std::uint64_t offset = reader_.offset();
    if (!reader_.skip(header_.frame_bytes())) return cut_short();
    work.loader = [this, offset, index = index_](FrameWork& loaded, int threads) {
      return load(offset, index, loaded, threads > 0 ? threads : threads_);
    };
    return Status::ok();
  }

  /// A pipe: bytes that have to be converted are left to the loader.
  Status read_pipe(FrameWork& work) {
    std::vector<std::span<std::byte>> parts;
    ZR_TRY(make_room(work, parts));
    for (const std::span<std::byte> part : parts)
      if (reader_.read(part) != part.size()) return cut_short();
    if (header_.has_alpha && !blends() && !reader_.skip(header_.plane_bytes(3))) return cut_short();
    work.loader = nullptr;
    if (is_as_it_is()) return Status::ok();
    work.loader = [this](FrameWork& loaded, int) { return convert(loaded); };
    return Status::ok();
  }

  Status load(std::uint64_t offset, std::int64_t index, FrameWork& work, int threads) const {
    std::vector<std::span<std::byte>> parts;
    ZR_TRY(make_room(work, parts));
    ZR_LET(whole, reader_.read_at(offset, parts, threads));
    if (!whole) return Status(Errc::bad_input, where(index) + " is cut short");
    return is_as_it_is() ? Status::ok() : convert(work);
  }

  /// Samples that are what a frame holds go into its rows, all others to `work.bytes`.
  Status make_room(FrameWork& work, std::vector<std::span<std::byte>>& parts) const {
    if (is_as_it_is()) {
      ZR_TRY(work.item.reshape(header_.format, header_.width, header_.height));
      add_frame(work.item.view(), parts);
      return Status::ok();
    }
    const std::uint64_t alpha = header_.has_alpha && !blends() ? header_.plane_bytes(3) : 0;
    work.bytes.resize(static_cast<std::size_t>(header_.frame_bytes() - alpha));
    parts.emplace_back(work.bytes);
    return Status::ok();
  }

  /// Samples over 8 bits are little-endian, as is every machine that this runs on.
  Status convert(FrameWork& work) const {
    const ConvertTimer timer;
    ZR_TRY(work.item.reshape(header_.format, header_.width, header_.height));
    YccPlanes planes;
    const int bytes = header_.depth_bits > 8 ? 2 : 1;
    const auto* data = reinterpret_cast<const std::uint8_t*>(work.bytes.data());
    for (int plane = 0; plane < plane_count(header_.format); ++plane) {
      const auto p = static_cast<std::size_t>(plane);
      planes.data[p] = data;
      planes.stride_bytes[p] = static_cast<std::ptrdiff_t>(
          plane_row_bytes(header_.format, plane, header_.width) * static_cast<std::size_t>(bytes));
      data += header_.plane_bytes(plane);
    }
    to_jfif_.convert(planes, work.item.view(), rules_.dither);
    if (blends())
      blend({data, static_cast<std::ptrdiff_t>(header_.plane_bytes(3)) / header_.height, bytes,
             header_.depth_bits},
            rules_.alpha, work.item.view());
    return Status::ok();
  }

  std::string where(std::int64_t index) const {
    return "'" + reader_.name() + "': frame " + std::to_string(index);
  }

  Status cut_short() const {
    ZR_TRY(reader_.error());
    return Status(Errc::bad_input, where(index_) + " is cut short");
  }

  ByteReader reader_;
  Y4mHeader header_;
  SampleRules rules_;
  YccToJfif to_jfif_;
  std::uint64_t first_offset_;
  int threads_;  // of one frame that may use all; 0 = one for each core
};

/// In a file, threads write frames at their places. The line in front of a frame comes last: what a
/// killed process leaves behind has no half frame that looks whole.
class Y4mSink final : public HalvedFrameSink {
 public:
  Y4mSink(std::unique_ptr<OutputFile> file, const SinkOptions& options)
      : file_(std::move(file)), options_(options) {
    if (options.frame_format && options.width > 0 && options.height > 0)
      layout_ = layout_of(*options.frame_format, options.width, options.height);
  }

  PixelFormat wanted_format(PixelFormat native) const override {
    return planar_format(native_subsampling(native));
  }

  Status prepare(const ConstFrameView& frame, Outgoing& out) override {
    ZR_TRY(validate(frame));
    const std::optional<Y4mHeader> header = layout_for(frame, out.index);
    if (!header) {  // commit() writes this frame, after the first one has given the layout
      out.held = std::make_shared<ConstFrameView>(frame);
      return Status::ok();
    }
    if (frame.width != header->width || frame.height != header->height)
      return Status(Errc::unsupported_output, "a YUV4MPEG2 stream cannot change its size from " +
                                                  size_text(header->width, header->height) +
                                                  " to " + size_text(frame.width, frame.height));
    ZR_LET(planar, frames_.in_format(header->format, frame, out));
    out.parts.assign(1, kFrameLine);
    add_frame(planar, out.parts);
    return file_->is_seekable() ? write_in_place(*header, out) : Status::ok();
  }

  Status finish() override {
    if (committed() == 0) return no_frame(*file_);
    // Cuts off frames that were prepared and never committed.
    if (file_->is_seekable()) ZR_TRY(file_->resize(file_->size()));
    return file_->commit();
  }
  std::int64_t bytes_written() const override { return file_->size(); }

 private:
  static inline const std::span<const std::byte> kFrameLine =
      std::as_bytes(std::span<const char>("FRAME\n", 6));

  static std::string size_text(int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
  }

  Y4mHeader layout_of(PixelFormat format, int width, int height) const {
    Y4mHeader header;
    header.frame_rate = options_.frame_rate;
    header.sample_aspect = options_.sample_aspect;
    header.width = width;
    header.height = height;
    header.format = wanted_format(format);
    if (options_.content.field_order == FieldOrder::top_first) header.interlace = 't';
    if (options_.content.field_order == FieldOrder::bottom_first) header.interlace = 'b';
    return header;
  }

  /// The layout of the stream is that of the first frame; not known before that one is prepared.
  std::optional<Y4mHeader> layout_for(const ConstFrameView& frame, std::int64_t index) {
    const std::lock_guard lock(mutex_);
    if (!layout_ && index == 0) layout_ = layout_of(frame.format, frame.width, frame.height);
    return layout_;
  }

  Status write_in_place(const Y4mHeader& header, Outgoing& out) {
    const auto line = static_cast<std::int64_t>(kFrameLine.size());
    const auto head = static_cast<std::int64_t>(write_y4m_header(header).size());
    const std::int64_t at = head + out.index * bytes_each(header);
    // A file takes one write at a time: threads that wait here do not spin in the kernel. Frames of
    // 12 MB into a new file of tmpfs: 304 a second by one thread, 221 by eight that compete.
    const std::lock_guard lock(writing_);
    ZR_TRY(file_->write_at(at + line, std::span(out.parts).subspan(1)));
    ZR_TRY(file_->write_at(at, std::span(out.parts).first(1)));
    out.parts.clear();
    out.held.reset();
    return Status::ok();
  }

  static std::int64_t bytes_each(const Y4mHeader& header) {
    return static_cast<std::int64_t>(header.frame_bytes() + kFrameLine.size());
  }

  Status place(Outgoing& out) override {
    if (out.parts.empty() && out.held) {
      const auto frame = std::static_pointer_cast<ConstFrameView>(out.held);
      out.held.reset();
      ZR_TRY(prepare(*frame, out));
    }
    if (committed() == 0) {
      const std::string line = write_y4m_header(*layout_);
      ZR_TRY(file_->write(std::as_bytes(std::span(line))));
    }
    if (!file_->is_seekable()) return file_->write(out.parts);
    return file_->seek_end(file_->size() + bytes_each(*layout_));
  }

  std::unique_ptr<OutputFile> file_;
  const SinkOptions options_;
  std::mutex mutex_;  // guards layout_ until the first commit
  std::optional<Y4mHeader> layout_;
  std::mutex writing_;
  WantedFrames frames_;
};

struct ColourTag {
  std::string_view tag;
  PixelFormat format;
};

/// Chroma siting (jpeg, mpeg2, paldv) does not change the samples: JPEG has no field for it.
constexpr std::array kColourTags{
    ColourTag{"420jpeg", PixelFormat::yuv420p},  ColourTag{"420mpeg2", PixelFormat::yuv420p},
    ColourTag{"420paldv", PixelFormat::yuv420p}, ColourTag{"420", PixelFormat::yuv420p},
    ColourTag{"422", PixelFormat::yuv422p},      ColourTag{"444", PixelFormat::yuv444p},
    ColourTag{"440", PixelFormat::yuv440p},      ColourTag{"411", PixelFormat::yuv411p},
    ColourTag{"mono", PixelFormat::gray8},
};

Status malformed(const std::string& what) {
  return Status(Errc::bad_input, "the YUV4MPEG2 header " + what);
}

template <typename Integer>
std::optional<Integer> whole_number(std::string_view text) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string quoted(char tag, std::string_view value) {
  return "'" + std::string(1, tag) + std::string(value) + "'";
}

Status parse_size(char tag, std::string_view value, int& out) {
  const std::optional<int> number = whole_number<int>(value);
  if (!number || *number < 1 || *number > kMaxDimension)
    return malformed("has the size " + quoted(tag, value) + "; JPEG holds 1 to 65535");
  out = *number;
  return Status::ok();
}

/// "30000:1001"; 0:0 means unknown.
Status parse_ratio(char tag, std::string_view value, Rational& out) {
  const std::size_t colon = value.find(':');
  std::optional<std::int32_t> num, den;
  if (colon != std::string_view::npos) {
    num = whole_number<std::int32_t>(value.substr(0, colon));
    den = whole_number<std::int32_t>(value.substr(colon + 1));
  }
  if (!num || !den || *num < 0 || *den < 0 || ((*num == 0) != (*den == 0)))
    return malformed("has the ratio " + quoted(tag, value) + ", which is not a ratio");
  out = *num == 0 ? Rational{0, 1} : Rational{*num, *den};
  return Status::ok();
}

/// The sampling and the depth: "420p10", "mono16".
Status parse_colour(std::string_view value, Y4mHeader& header) {
  std::string_view base = value;
  header.depth_bits = 8;
  header.has_alpha = value == "444alpha";
  if (header.has_alpha) base = "444";
  const bool mono = value.starts_with("mono") && value.size() > 4;
  const std::size_t depth_at = mono ? 4 : value.find('p', 3) + 1;
  if (mono || (value.size() > 4 && value[3] == 'p' && value[4] >= '0' && value[4] <= '9')) {
    const std::optional<int> depth = whole_number<int>(value.substr(depth_at));
    if (!depth || *depth < 9 || *depth > 16)
      return malformed("has the colour space " + quoted('C', value) + ", which is not known");
    header.depth_bits = *depth;
    base = value.substr(0, mono ? 4 : 3);
  }
  for (const ColourTag& known : kColourTags) {
    if (known.tag != base) continue;
    header.format = known.format;
    return Status::ok();
  }
  return malformed("has the colour space " + quoted('C', value) + ", which is not known");
}

/// Of the extensions only the range matters. XYSCSS repeats the chroma siting.
Status parse_extension(std::string_view value, std::optional<bool>& full_range) {
  constexpr std::string_view kRange = "COLORRANGE=";
  if (!value.starts_with(kRange)) return Status::ok();
  value.remove_prefix(kRange.size());
  if (value != "FULL" && value != "LIMITED")
    return malformed("has XCOLORRANGE=" + std::string(value) + "; it is FULL or LIMITED");
  full_range = value == "FULL";
  return Status::ok();
}

Status parse_tag(std::string_view tag, Y4mHeader& header, std::optional<bool>& full_range) {
  const std::string_view value = tag.substr(1);
  switch (tag[0]) {
    case 'W':
      return parse_size('W', value, header.width);
    case 'H':
      return parse_size('H', value, header.height);
    case 'F':
      return parse_ratio('F', value, header.frame_rate);
    case 'A':
      return parse_ratio('A', value, header.sample_aspect);
    case 'C':
      return parse_colour(value, header);
    case 'X':
      return parse_extension(value, full_range);
    case 'I':
      if (value.size() != 1 || std::string_view("ptbm?").find(value[0]) == std::string_view::npos)
        return malformed("has the interlacing " + quoted('I', value) + ", which is not known");
      header.interlace = value[0];
      return Status::ok();
    default:
      return malformed("has the parameter '" + std::string(tag) + "', which is not known");
  }
}

}  // namespace

Result<FrameReaderPtr> open_y4m(ByteReader reader, const SampleRules& rules, int threads) {
  const std::optional<std::string> line = read_line(reader, kMaxHeaderLine);
  if (!line) {
    ZR_TRY(reader.error());
    return Status(Errc::bad_input, "'" + reader.name() + "': the YUV4MPEG2 header has no end");
  }
  Result<Y4mHeader> header = parse_y4m_header(*line);
  if (!header)
    return Status(header.status().code(), "'" + reader.name() + "': " + header.status().detail());
  return FrameReaderPtr(std::make_unique<Y4mReader>(std::move(reader), *header, rules, threads));
}

FrameSinkPtr make_y4m_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options) {
  return std::make_unique<Y4mSink>(std::move(file), options);
}

std::uint64_t Y4mHeader::plane_bytes(int plane) const noexcept {
  const int like = plane == 3 ? 0 : plane;
  const std::uint64_t samples = static_cast<std::uint64_t>(plane_row_bytes(format, like, width)) *
                                static_cast<std::uint64_t>(plane_rows(format, like, height));
  return samples * (depth_bits > 8 ? 2 : 1);
}

std::uint64_t Y4mHeader::frame_bytes() const noexcept {
  std::uint64_t total = has_alpha ? plane_bytes(3) : 0;
  for (int plane = 0; plane < plane_count(format); ++plane) total += plane_bytes(plane);
  return total;
}

Result<Y4mHeader> parse_y4m_header(std::string_view line) {
  constexpr std::string_view kMagic = "YUV4MPEG2";
  if (!line.starts_with(kMagic)) return malformed("does not start with YUV4MPEG2");
  line.remove_prefix(kMagic.size());
  if (!line.empty() && line[0] != ' ') return malformed("does not start with YUV4MPEG2");
  Y4mHeader header;
  std::optional<bool> full_range;
  while (!line.empty()) {
    const std::size_t blank = line.find(' ');
    const std::string_view tag = line.substr(0, blank);
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
    if (tag.empty()) continue;
    ZR_TRY(parse_tag(tag, header, full_range));
  }
  if (header.width == 0) return malformed("has no width (W)");
  if (header.height == 0) return malformed("has no height (H)");
  if (std::int64_t{header.width} * header.height > StreamLimits{}.max_pixels)
    return Status(Errc::too_many_pixels, "the YUV4MPEG2 header says " +
                                             std::to_string(header.width) + "x" +
                                             std::to_string(header.height));
  if (!header.sample_aspect.known()) header.sample_aspect = {1, 1};
  // As FFmpeg (5.1, tried) does: without XCOLORRANGE, YCbCr is limited range and grey full range.
  // C420jpeg is limited, too: it tells only the chroma siting, and FFmpeg writes it for limited
  // video of unknown siting.
  header.full_range = full_range.value_or(header.format == PixelFormat::gray8);
  return header;
}

std::string write_y4m_header(const Y4mHeader& header) {
  const auto ratio = [](const Rational& r) {
    return std::to_string(r.num) + ":" + std::to_string(r.num == 0 ? 0 : r.den);
  };
  std::string_view colour = "mono";
  // FFmpeg 5.1 does not read "440". It is written all the same: any other tag needs resampling.
  for (const ColourTag& known : kColourTags)
    if (known.format == header.format) {
      colour = known.tag;
      break;
    }
  return "YUV4MPEG2 W" + std::to_string(header.width) + " H" + std::to_string(header.height) +
         " F" + ratio(header.frame_rate) + " I" + header.interlace + " A" +
         ratio(header.sample_aspect) + " C" + std::string(colour) + " XCOLORRANGE=FULL\n";
}

}  // namespace zerorun::io
