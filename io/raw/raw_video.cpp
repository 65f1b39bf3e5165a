// Reads and writes video without headers.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/samples/frame_convert.hpp"
#include "io/base/frame_parts.hpp"
#include "io/samples/pixel_pack.hpp"
#include "io/base/pool.hpp"
#include "io/base/readers.hpp"
#include "io/samples/samples.hpp"
#include "io/output/sinks.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {
namespace {

struct RawFormat {
  std::string_view name;  // FFmpeg's
  PixelFormat format;
  bool full_range;
  int depth_bits = 8;  // more: 16 bits little-endian for each sample
  int alpha_at = -1;   // of RGB: the byte of a pixel that is alpha
};

using P = PixelFormat;
constexpr std::array kRawFormats{
    RawFormat{"yuv420p", P::yuv420p, false},
    RawFormat{"yuv422p", P::yuv422p, false},
    RawFormat{"yuv444p", P::yuv444p, false},
    RawFormat{"yuv440p", P::yuv440p, false},
    RawFormat{"yuv411p", P::yuv411p, false},
    RawFormat{"yuvj420p", P::yuv420p, true},
    RawFormat{"yuvj422p", P::yuv422p, true},
    RawFormat{"yuvj444p", P::yuv444p, true},
    RawFormat{"yuvj440p", P::yuv440p, true},
    RawFormat{"yuvj411p", P::yuv411p, true},
    RawFormat{"gray", P::gray8, true},
    RawFormat{"nv12", P::nv12, false},
    RawFormat{"nv21", P::nv21, false},
    RawFormat{"yuyv422", P::yuyv, false},
    RawFormat{"uyvy422", P::uyvy, false},
    RawFormat{"rgb24", P::rgb24, true},
    RawFormat{"bgr24", P::bgr24, true},
    RawFormat{"rgb0", P::rgbx32, true},
    RawFormat{"rgba", P::rgbx32, true, 8, 3},
    RawFormat{"bgr0", P::bgrx32, true},
    RawFormat{"bgra", P::bgrx32, true, 8, 3},
    RawFormat{"0rgb", P::xrgb32, true},
    RawFormat{"argb", P::xrgb32, true, 8, 0},
    RawFormat{"0bgr", P::xbgr32, true},
    RawFormat{"abgr", P::xbgr32, true, 8, 0},
    RawFormat{"yuv420p10le", P::yuv420p, false, 10},
    RawFormat{"yuv422p10le", P::yuv422p, false, 10},
    RawFormat{"yuv444p10le", P::yuv444p, false, 10},
    RawFormat{"gray10le", P::gray8, true, 10},
    RawFormat{"yuv420p12le", P::yuv420p, false, 12},
    RawFormat{"yuv422p12le", P::yuv422p, false, 12},
    RawFormat{"yuv444p12le", P::yuv444p, false, 12},
    RawFormat{"gray12le", P::gray8, true, 12},
    RawFormat{"yuv420p16le", P::yuv420p, false, 16},
    RawFormat{"yuv422p16le", P::yuv422p, false, 16},
    RawFormat{"yuv444p16le", P::yuv444p, false, 16},
    RawFormat{"gray16le", P::gray8, true, 16},
    RawFormat{"cmyk32", P::cmyk32, true},  // for output alone
};

/// `for_output` is for the message alone. Errors: invalid_argument (no such format).
Result<RawFormat> find_raw_format(const std::string& name, bool for_output) {
  std::string all;
  for (const RawFormat& known : kRawFormats) {
    if (known.format == P::cmyk32 && !for_output) continue;
    if (known.name == name) return known;
    all += (all.empty() ? "" : ", ") + std::string(known.name);
  }
  return Status(Errc::invalid_argument, "raw video is not " +
                                            std::string(for_output ? "written" : "read") + " as '" +
                                            name + "'; take one of " + all);
}

/// Rows without gaps, one plane after another.
ConstFrameView view_of(PixelFormat format, int width, int height, const std::byte* data,
                       int bytes_per_sample) {
  ConstFrameView view{format, width, height, {}, {}};
  const auto* at = reinterpret_cast<const std::uint8_t*>(data);
  for (int plane = 0; plane < plane_count(format); ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    const std::size_t row =
        plane_row_bytes(format, plane, width) * static_cast<std::size_t>(bytes_per_sample);
    view.data[p] = at;
    view.stride_bytes[p] = static_cast<std::ptrdiff_t>(row);
    at += row * static_cast<std::size_t>(plane_rows(format, plane, height));
  }
  return view;
}

class RawReader final : public FrameReader {
 public:
  RawReader(ByteReader reader, const RawVideo& video, const RawFormat& format,
            const SampleRules& rules, int threads)
      : reader_(std::move(reader)),
        format_(format),
        rules_(rules),
        to_jfif_(coding_of(format, rules)),
        threads_(threads) {
    info_.width = video.width;
    info_.height = video.height;
    info_.format = is_as_it_is() ? format.format : planar();
    info_.container = "raw video";
    info_.codec = "rawvideo";
    describe_samples();
    for (int plane = 0; plane < plane_count(format.format); ++plane)
      frame_bytes_ += std::uint64_t{plane_row_bytes(format.format, plane, video.width)} *
                      static_cast<std::uint64_t>(plane_rows(format.format, plane, video.height));
    frame_bytes_ *= static_cast<std::uint64_t>(bytes_per_sample());
    if (reader_.size())
      info_.frame_count = static_cast<std::int64_t>(reader_.remaining() / frame_bytes_);
  }

  /// A file that does not end with a whole frame has another frame size or format than the caller
  /// said.
  Status start() {
    const std::uint64_t all = reader_.remaining();
    if (!reader_.size() || (all % frame_bytes_ == 0 && all > 0)) return Status::ok();
    return Status(Errc::bad_input,
                  "'" + reader_.name() + "' has " + std::to_string(all) +
                      " bytes, which are not whole frames of " + std::to_string(frame_bytes_) +
                      " bytes: " + std::to_string(info_.width) + "x" +
                      std::to_string(info_.height) + " " + std::string(format_.name));
  }

  std::string last_name() const override {
    return reader_.name() + " frame " + std::to_string(index_ - 1);
  }
  bool can_seek() const override { return reader_.size().has_value(); }

  Result<std::int64_t> seek_index(std::int64_t index) override {
    index_ = std::clamp<std::int64_t>(index, 0, std::max<std::int64_t>(info_.frame_count - 1, 0));
    if (!reader_.seek(static_cast<std::uint64_t>(index_) * frame_bytes_)) return cannot_seek();
    return index_;
  }

  Result<bool> next(FrameWork& work) override {
    if (reader_.buffered().empty()) {
      ZR_TRY(reader_.error());
      return false;
    }
    if (reader_.size()) {
      const std::uint64_t offset = reader_.offset();
      if (!reader_.skip(frame_bytes_)) return cut_short();
      work.loader = [this, offset](FrameWork& loaded, int threads) {
        return load(offset, loaded, threads > 0 ? threads : threads_);
      };
    } else {
      work.bytes.resize(static_cast<std::size_t>(frame_bytes_));
      if (reader_.read(work.bytes) != work.bytes.size()) return cut_short();
      work.loader = [this](FrameWork& loaded, int) { return convert(loaded); };
    }
    work.time = {index_++, 1};
    work.name = last_name();
    work.concealed = 0;
    return true;
  }

 private:
  static YccCoding coding_of(const RawFormat& format, const SampleRules& rules) {
    const bool has_chroma = !is_rgb(format.format) && format.format != PixelFormat::gray8;
    return {format.depth_bits, is_full_range(rules.range, format.full_range),
            has_chroma ? weights_named(rules.matrix) : kBt601};
  }

  void describe_samples() {
    info_.content.pixel_format = format_.name;
    info_.content.bits = format_.depth_bits;
    info_.content.is_rgb = is_rgb(format_.format);
    info_.content.has_alpha = format_.alpha_at >= 0;
    if (!info_.content.is_rgb) info_.content.range = to_jfif_.coding().full_range ? "pc" : "tv";
  }

  int bytes_per_sample() const noexcept { return format_.depth_bits > 8 ? 2 : 1; }
  bool is_as_it_is() const noexcept { return is_rgb(format_.format) || to_jfif_.is_identity(); }
  PixelFormat planar() const noexcept { return planar_format(native_subsampling(format_.format)); }

  Status load(std::uint64_t offset, FrameWork& work, int threads) const {
    work.bytes.resize(static_cast<std::size_t>(frame_bytes_));
    std::span<std::byte> part(work.bytes);
    ZR_LET(whole, reader_.read_at(offset, std::span(&part, 1), threads));
    if (!whole) return Status(Errc::bad_input, "'" + reader_.name() + "' became shorter");
    return convert(work);
  }

  Status convert(FrameWork& work) const {
    const ConvertTimer timer;
    const ConstFrameView raw =
        view_of(format_.format, info_.width, info_.height, work.bytes.data(), bytes_per_sample());
    ZR_TRY(work.item.reshape(info_.format, info_.width, info_.height));
    if (is_as_it_is()) {
      copy_frame(raw, work.item.view());
      if (format_.alpha_at >= 0)
        blend({raw.data[0] + format_.alpha_at, raw.stride_bytes[0], 4, 8}, rules_.alpha,
              work.item.view());
      return Status::ok();
    }
    const std::shared_ptr<ConvertedFrame> scratch = scratches_.borrow();
    ConstFrameView from = raw;
    if (!is_planar_yuv(raw.format)) {
      ZR_TRY(scratch->converter.convert(raw, planar(), scratch->frame));
      from = std::as_const(scratch->frame).view();
    }
    to_jfif_.convert({from.data, from.stride_bytes}, work.item.view(), rules_.dither);
    return Status::ok();
  }

  Status cut_short() const {
    ZR_TRY(reader_.error());
    return Status(Errc::bad_input,
                  "'" + reader_.name() + "': frame " + std::to_string(index_) + " is cut short");
  }

  ByteReader reader_;
  RawFormat format_;
  SampleRules rules_;
  YccToJfif to_jfif_;
  std::uint64_t frame_bytes_ = 0;
  int threads_;  // of one frame that may use all; 0 = one for each core
  mutable Pool<ConvertedFrame> scratches_;
};

class RawSink final : public HalvedFrameSink {
 public:
  RawSink(std::unique_ptr<OutputFile> file, const std::optional<RawFormat>& format)
      : file_(std::move(file)),
        format_(format ? std::optional(format->format) : std::nullopt),
        depth_bits_(format ? format->depth_bits : 8) {
    if (depth_bits_ <= 8) return;
    luma_ = widened(0);
    chroma_ = widened(128);
  }

  PixelFormat wanted_format(PixelFormat native) const override { return format_.value_or(native); }

  Status prepare(const ConstFrameView& frame, Outgoing& out) override {
    ZR_TRY(validate(frame));
    ZR_LET(wanted, frames_.in_format(wanted_format(frame.format), frame, out));
    if (std::int64_t unset = 0;
        !size_.compare_exchange_strong(unset, size_of(frame)) && unset != size_of(frame))
      return Status(Errc::unsupported_output, "raw video cannot change its size");
    out.parts.clear();
    if (depth_bits_ > 8)
      widen(wanted, out);
    else
      add_frame(wanted, out.parts);
    return Status::ok();
  }

  Status finish() override { return committed() == 0 ? no_frame(*file_) : file_->commit(); }
  std::int64_t bytes_written() const override { return file_->size(); }

 private:
  Status place(Outgoing& out) override { return file_->write(out.parts); }

  using Words = std::array<std::uint16_t, 256>;

  /// Full range of 8 bits to full range of the depth (ITU-T H.273, 8.3). `zero` is black, or chroma
  /// without colour.
  Words widened(int zero) const {
    const int top = (1 << depth_bits_) - 1, middle = zero << (depth_bits_ - 8);
    Words words{};
    for (int value = 0; value < 256; ++value) {
      const int scaled = static_cast<int>(std::lround((value - zero) * top / 255.0));
      words[static_cast<std::size_t>(value)] =
          static_cast<std::uint16_t>(std::clamp(middle + scaled, 0, top));
    }
    return words;
  }

  /// Little-endian, as every machine that this runs on.
  void widen(const ConstFrameView& frame, Outgoing& out) const {
    const ConvertTimer timer;
    std::size_t samples = 0;
    for (int plane = 0; plane < plane_count(frame.format); ++plane)
      samples += plane_row_bytes(frame.format, plane, frame.width) *
                 static_cast<std::size_t>(plane_rows(frame.format, plane, frame.height));
    out.bytes.resize(2 * samples);
    auto* to = out.bytes.data();
    for (int plane = 0; plane < plane_count(frame.format); ++plane) {
      const Words& words = plane == 0 ? luma_ : chroma_;
      const std::size_t count = plane_row_bytes(frame.format, plane, frame.width);
      for (int row = 0; row < plane_rows(frame.format, plane, frame.height); ++row) {
        const std::uint8_t* from = row_of(frame, plane, row);
        for (std::size_t i = 0; i < count; ++i, to += 2) std::memcpy(to, &words[from[i]], 2);
      }
    }
    out.parts.emplace_back(out.bytes);
  }

  static std::int64_t size_of(const ConstFrameView& frame) noexcept {
    return std::int64_t{frame.width} << 32 | frame.height;
  }

  std::unique_ptr<OutputFile> file_;
  std::atomic<std::int64_t> size_{0};  // of all frames; 0 before the first
  std::optional<PixelFormat> format_;
  int depth_bits_;
  Words luma_{}, chroma_{};  // of a depth over 8 bits
  WantedFrames frames_;
};

}  // namespace

bool is_raw_video(const std::string& format) {
  return format == "raw" || format == "yuv" || format == "rgb";
}

Result<FrameReaderPtr> open_raw_video(ByteReader reader, const RawVideo& video,
                                      const SampleRules& rules, int threads) {
  ZR_LET(format, find_raw_format(video.pixel_format, false));
  if (video.width < 1 || video.height < 1 || video.width > kMaxDimension ||
      video.height > kMaxDimension)
    return Status(Errc::invalid_argument,
                  "'" + reader.name() + "' is raw video; name its size, for example 1920x1080");
  if (std::int64_t{video.width} * video.height > StreamLimits{}.max_pixels)
    return Status(Errc::too_many_pixels, "'" + reader.name() + "'");
  if (reader.peek(1).empty())
    return Status(Errc::bad_input, "'" + reader.name() + "': it is empty");
  return started<FrameReader>(
      std::make_unique<RawReader>(std::move(reader), video, format, rules, threads));
}

Result<FrameSinkPtr> make_raw_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options) {
  std::optional<RawFormat> format;
  if (!options.raw_format.empty()) {
    ZR_LET(found, find_raw_format(options.raw_format, true));
    format = found;
  }
  return FrameSinkPtr(std::make_unique<RawSink>(std::move(file), format));
}

}  // namespace zerorun::io
