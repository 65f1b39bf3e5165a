// Reads video without headers: frames of one size and format, one after another.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "io/alpha_blend.hpp"
#include "io/convert_timer.hpp"
#include "io/frame_convert.hpp"
#include "io/pixel_pack.hpp"
#include "io/pool.hpp"
#include "io/raw_video_formats.hpp"
#include "io/readers.hpp"
#include "io/ycc_to_jfif.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io {
namespace {

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

}  // namespace

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

}  // namespace zerorun::io
