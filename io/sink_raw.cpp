// Writes video without headers.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "io/convert_timer.hpp"
#include "io/frame_parts.hpp"
#include "io/pixel_pack.hpp"
#include "io/raw_video_formats.hpp"
#include "io/sinks.hpp"

namespace zerorun::io {
namespace {

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

Result<FrameSinkPtr> make_raw_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options) {
  std::optional<RawFormat> format;
  if (!options.raw_format.empty()) {
    ZR_LET(found, find_raw_format(options.raw_format, true));
    format = found;
  }
  return FrameSinkPtr(std::make_unique<RawSink>(std::move(file), format));
}

}  // namespace zerorun::io
