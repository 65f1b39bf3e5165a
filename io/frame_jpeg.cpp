// Decodes JPEG streams to frames by zerorun's own decoder.
// SPDX-License-Identifier: MIT
#include "io/frame_jpeg.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "io/formats.hpp"
#include "io/pixel_pack.hpp"

namespace zerorun::io {
namespace {

/// Whether the first field holds the bottom lines, by the stream's AVI1 segment (OpenDML AVI 1.02:
/// 1 = odd lines first, 2 = even lines), if it tells. Lines count from 0: a real file with polarity
/// 1 is smooth down its columns if its first field is the bottom one, as FFmpeg has it too.
std::optional<bool> bottom_first_of(const StreamInfo& info) {
  constexpr int kApp0 = 0xE0;
  constexpr std::array<std::uint8_t, 4> kAvi1{'A', 'V', 'I', '1'};
  for (const MarkerSegment& segment : info.segments) {
    if (segment.marker != kApp0 || segment.payload.size() <= kAvi1.size()) continue;
    if (!std::equal(kAvi1.begin(), kAvi1.end(), segment.payload.begin())) continue;
    const auto polarity = int{segment.payload[kAvi1.size()]};
    if (polarity == 1 || polarity == 2) return polarity == 1;
  }
  return std::nullopt;
}

/// The bytes from the next SOI on; empty if there is none.
std::span<const std::byte> from_next_image(std::span<const std::byte> bytes) {
  constexpr std::array kSoi{std::byte{0xFF}, std::byte{0xD8}, std::byte{0xFF}};
  const auto found = std::search(bytes.begin(), bytes.end(), kSoi.begin(), kSoi.end());
  return bytes.subspan(static_cast<std::size_t>(found - bytes.begin()));
}

/// Copies a field to every second line of each plane, from `first_line` on. The chroma lines of
/// 4:2:0 alternate too.
void copy_field(const ConstFrameView& field, int first_line, const FrameView& out) noexcept {
  for (int plane = 0; plane < plane_count(out.format); ++plane) {
    const std::size_t bytes = plane_row_bytes(out.format, plane, out.width);
    const int rows = plane_rows(out.format, plane, out.height);
    const int field_rows = plane_rows(field.format, plane, field.height);
    for (int row = first_line; row < rows; row += 2)
      std::memcpy(row_of(out, plane, row), row_of(field, plane, std::min(row / 2, field_rows - 1)),
                  bytes);
  }
}

class DecodedPackets final : public FrameReader {
 public:
  DecodedPackets(PacketReaderPtr packets, const SourceOptions& options)
      : packets_(std::move(packets)), decoder_(options) {
    info_ = packets_->info();
    info_.format = asked_format(options, info_.format);
  }

  std::string last_name() const override { return packets_->last_name(); }
  std::int64_t concealed_frames() const override { return decoder_.concealed(); }

  Result<bool> read(Frame& frame, FrameTime& time) override {
    Result<bool> more = packets_->read(packet_, time);
    if (!more || !*more) return more;
    const Status status = decoder_.decode_packet(packet_, packets_->picture_height(),
                                                 packets_->is_bottom_field_first(), frame);
    if (status) return true;
    // The same error with the name of the frame in front.
    return Status(status.code(),
                  last_name() + (status.detail().empty() ? "" : ": " + status.detail()))
        .at_byte(status.byte_offset());
  }

  Result<bool> skip() override { return packets_->skip(); }

  bool can_seek() const override { return packets_->can_seek(); }
  Result<std::int64_t> seek_index(std::int64_t index) override {
    return packets_->seek_index(index);
  }
  Result<std::int64_t> seek_time(std::int64_t pts) override { return packets_->seek_time(pts); }

 private:
  PacketReaderPtr packets_;
  JpegFrameDecoder decoder_;
  Packet packet_;
};

}  // namespace

PixelFormat closest_format(const StreamInfo& info) noexcept {
  if (info.color == ColorModel::rgb) return PixelFormat::rgb24;
  if (info.color == ColorModel::gray) return PixelFormat::gray8;
  return info.subsampling ? planar_format(*info.subsampling) : PixelFormat::yuv444p;
}

void describe_jpeg(const StreamInfo& stream, SourceInfo& info) {
  info.width = stream.width;
  info.height = stream.height;
  info.format = closest_format(stream);
  if (stream.pixel_aspect_x > 0 && stream.pixel_aspect_y > 0)
    info.sample_aspect = {stream.pixel_aspect_x, stream.pixel_aspect_y};
  // Clockwise degrees of the EXIF orientation; mirrored ones count as unturned.
  const int orientation = stream.exif_orientation;
  info.rotation_degrees = orientation == 3   ? 180
                          : orientation == 6 ? 90
                          : orientation == 8 ? 270
                                             : 0;
}

void describe_jpeg(std::span<const std::byte> packet, SourceInfo& info) {
  info.codec = "mjpeg";
  info.is_jpeg = true;
  const Result<StreamInfo> stream = inspect(packet, StreamLimits::any_size());
  if (stream) describe_jpeg(*stream, info);
}

Result<DecodeReport> JpegFrameDecoder::decode_one(std::span<const std::byte> jpeg,
                                                  PixelFormat format, Frame& frame) {
  if (!decoder_) {
    DecodeParams params;
    params.backend = options_.backend;
    params.device = options_.device;
    params.threads = options_.threads;
    params.limits = options_.limits;
    ZR_LET(made, Decoder::create(params));
    decoder_ = std::move(made);
  }
  return decoder_->decode(jpeg, format, frame);
}

Status JpegFrameDecoder::decode(std::span<const std::byte> jpeg, const StreamInfo& info,
                                Frame& frame) {
  const PixelFormat format = asked_format(options_, closest_format(info));
  ZR_LET(report, decode_one(jpeg, format, frame));
  if (report.is_concealed()) ++concealed_;
  return Status::ok();
}

Status JpegFrameDecoder::decode_packet(std::span<const std::byte> packet, int height,
                                       bool bottom_first, Frame& frame) {
  ZR_LET(info, inspect(packet, options_.limits));
  // FFmpeg's rule: fields have less than three quarters of the container's lines.
  const bool may_be_field = info.height < height * 3 / 4;
  if (!may_be_field) return decode(packet, info, frame);

  const PixelFormat format = asked_format(options_, closest_format(info));
  ZR_LET(report, decode_one(packet, format, fields_[0]));
  const std::span<const std::byte> second =
      from_next_image(packet.subspan(std::min(report.bytes_consumed, packet.size())));
  if (second.empty()) {
    if (report.is_concealed()) ++concealed_;
    std::swap(frame, fields_[0]);
    return Status::ok();
  }
  ZR_TRY(weave(second, info, bottom_first_of(info).value_or(bottom_first), frame));
  if (report.is_concealed()) ++concealed_;
  return Status::ok();
}

Status JpegFrameDecoder::weave(std::span<const std::byte> second, const StreamInfo& first,
                               bool bottom_first, Frame& frame) {
  const PixelFormat format = fields_[0].format();
  ZR_LET(report, decode_one(second, format, fields_[1]));
  if (report.is_concealed()) ++concealed_;
  if (fields_[1].width() != first.width || fields_[1].height() != first.height)
    return Status(Errc::bad_input, "the two fields of the picture differ in size");
  ZR_TRY(frame.reshape(format, first.width, 2 * first.height));
  copy_field(std::as_const(fields_[0]).view(), bottom_first ? 1 : 0, frame.view());
  copy_field(std::as_const(fields_[1]).view(), bottom_first ? 0 : 1, frame.view());
  return Status::ok();
}

FrameReaderPtr decode_packets(PacketReaderPtr packets, const SourceOptions& options) {
  return std::make_unique<DecodedPackets>(std::move(packets), options);
}

}  // namespace zerorun::io
