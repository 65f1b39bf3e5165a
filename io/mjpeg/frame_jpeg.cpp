// Decodes JPEG streams to frames by zerorun's own decoder.
// SPDX-License-Identifier: MIT
#include "io/mjpeg/frame_jpeg.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "io/samples/pixel_pack.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"
#include "io/base/readers.hpp"
#include "zerorun/convert.hpp"

namespace zerorun::io {
namespace {

/// Whether the first field holds the bottom lines, by the stream's AVI1 segment (OpenDML AVI 1.02:
/// 1 = odd lines first, 2 = even lines), if it tells. Lines count from 0: a real file with polarity
/// 1 is smooth down its columns if its first field is the bottom one, as FFmpeg has it too.
std::optional<bool> bottom_first_of(const StreamInfo& info) {
  constexpr int kApp0Marker = 0xE0;
  constexpr std::array<std::uint8_t, 4> kAvi1{'A', 'V', 'I', '1'};
  for (const MarkerSegment& segment : info.segments) {
    if (segment.marker != kApp0Marker || segment.payload.size() <= kAvi1.size()) continue;
    if (!std::equal(kAvi1.begin(), kAvi1.end(), segment.payload.begin())) continue;
    const auto polarity = int{segment.payload[kAvi1.size()]};
    if (polarity == 1 || polarity == 2) return polarity == 1;
  }
  return std::nullopt;
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
  std::string notice() const override { return packets_->notice(); }
  std::int64_t concealed_frames() const override { return decoder_.concealed(); }

  Result<bool> next(FrameWork& work) override {
    const std::shared_ptr<PacketWork> packet = packet_works_.borrow();
    Result<bool> more = packets_->next(*packet);
    if (!more || !*more) return more;
    work.time = packet->time;
    work.name = packet->name;
    work.concealed = 0;
    work.loader = [this, packet](FrameWork& loaded, int threads) {
      return load(*packet, loaded, threads);
    };
    return true;
  }

  Result<bool> skip() override { return packets_->skip(); }

  bool can_seek() const override { return packets_->can_seek(); }
  bool finds_index() override { return packets_->finds_index(); }
  Result<std::int64_t> seek_index(std::int64_t index) override {
    return packets_->seek_index(index);
  }
  Result<std::int64_t> seek_time(std::int64_t pts) override { return packets_->seek_time(pts); }

 private:
  Status load(PacketWork& packet, FrameWork& work, int threads) {
    ZR_TRY(packet.load());
    const Status status = decoder_.decode_packet(packet.item, packets_->picture_height(),
                                                 packets_->is_bottom_field_first(), work, threads);
    if (status) return status;
    // The same error with the name of the frame in front.
    return Status(status.code(),
                  work.name + (status.detail().empty() ? "" : ": " + status.detail()))
        .at_byte(status.byte_offset());
  }

  PacketReaderPtr packets_;
  JpegDecoders decoder_;
  Pool<PacketWork> packet_works_;
};

}  // namespace

PixelFormat closest_format(const StreamInfo& info) noexcept {
  if (info.color == ColorModel::rgb || has_inks(info.color)) return PixelFormat::rgb24;
  if (info.color == ColorModel::gray) return PixelFormat::gray8;
  return info.subsampling ? planar_format(*info.subsampling) : PixelFormat::yuv444p;
}

void describe_jpeg(const StreamInfo& stream, SourceInfo& info) {
  info.width = stream.width;
  info.height = stream.height;
  info.format = closest_format(stream);
  const int x = stream.pixel_aspect_x, y = stream.pixel_aspect_y;
  if (x > 0 && y > 0) info.sample_aspect = {x / std::gcd(x, y), y / std::gcd(x, y)};
  info.density = picture_content(stream).density;
  info.inks = !has_inks(stream.color) ? "" : stream.color == ColorModel::ycck ? "YCCK" : "CMYK";
  info.has_ink_profile = InkDecoder::takes(stream);
  info.rotation_degrees = rotation_of(stream.exif_orientation);
  info.mirrored = is_mirrored(stream.exif_orientation);
}

void describe_jpeg(std::span<const std::byte> packet, SourceInfo& info) {
  info.codec = "mjpeg";
  info.is_jpeg = true;
  const Result<StreamInfo> stream = inspect(packet, StreamLimits::any_size());
  if (stream) describe_jpeg(*stream, info);
}

void describe_video_packet(std::span<const std::byte> packet, int height, SourceInfo& info) {
  const Result<StreamInfo> stream = inspect(packet, StreamLimits::any_size());
  if (!stream) return;
  const bool fields = stream->height < height && std::abs(2 * stream->height - height) <= 1;
  info.width = stream->width;
  info.height = fields ? 2 * stream->height : stream->height;
  info.format = closest_format(*stream);
}

Result<DecodeReport> JpegDecoders::decode_one(Coder& coder, int threads,
                                              std::span<const std::byte> jpeg, PixelFormat format,
                                              Frame& frame, const StreamInfo* stream) {
  if (threads == 0) threads = options_.threads;
  if (!coder.decoder || coder.threads != threads) {
    DecodeParams params;
    params.backend = options_.backend;
    params.device = options_.device;
    params.threads = threads;
    params.limits = options_.limits;
    ZR_LET(made, Decoder::create(params));
    coder.decoder = std::move(made);
    coder.threads = threads;
  }
  if (options_.uses_ink_profiles && stream != nullptr && format == PixelFormat::rgb24 &&
      InkDecoder::takes(*stream))
    return inks_.decode(*coder.decoder, jpeg, *stream, frame);
  return coder.decoder->decode(jpeg, format, frame);
}

void JpegDecoders::count(const DecodeReport& report, FrameWork& work) noexcept {
  if (!report.is_concealed()) return;
  ++work.concealed;
  ++concealed_;
}

Status JpegDecoders::decode(std::span<const std::byte> jpeg, const StreamInfo& info,
                            FrameWork& work, int threads) {
  const std::shared_ptr<Coder> coder = coders_.borrow();
  const PixelFormat format = asked_format(options_, closest_format(info));
  ZR_LET(report, decode_one(*coder, threads, jpeg, format, work.item, &info));
  count(report, work);
  return Status::ok();
}

Status JpegDecoders::decode_packet(std::span<const std::byte> packet, int height, bool bottom_first,
                                   FrameWork& work, int threads) {
  ZR_LET(info, inspect(packet, options_.limits));
  work.content = nullptr;
  if (!info.segments.empty())
    work.content = std::make_shared<PictureContent>(picture_content(info));
  // FFmpeg's rule: fields have less than three quarters of the container's lines.
  const bool may_be_field = info.height < height * 3 / 4;
  if (!may_be_field) return decode(packet, info, work, threads);

  const std::shared_ptr<Coder> coder = coders_.borrow();
  const PixelFormat format = asked_format(options_, closest_format(info));
  ZR_LET(report, decode_one(*coder, threads, packet, format, coder->fields[0]));
  const auto rest = packet.subspan(std::min(report.bytes_consumed, packet.size()));
  const auto second = rest.subspan(bytes_before_image(rest));
  if (!is_jpeg(second)) {
    count(report, work);
    return hand_over(coder->fields[0], work.item);
  }
  ZR_TRY(weave(*coder, threads, second, info, bottom_first_of(info).value_or(bottom_first), work));
  count(report, work);
  return Status::ok();
}

Status JpegDecoders::weave(Coder& coder, int threads, std::span<const std::byte> second,
                           const StreamInfo& first, bool bottom_first, FrameWork& work) {
  const PixelFormat format = coder.fields[0].format();
  ZR_LET(report, decode_one(coder, threads, second, format, coder.fields[1]));
  count(report, work);
  if (coder.fields[1].width() != first.width || coder.fields[1].height() != first.height)
    return Status(Errc::bad_input, "the two fields of the picture differ in size");
  ZR_TRY(work.item.reshape(format, first.width, 2 * first.height));
  copy_field(std::as_const(coder.fields[0]).view(), bottom_first ? 1 : 0, work.item.view());
  copy_field(std::as_const(coder.fields[1]).view(), bottom_first ? 0 : 1, work.item.view());
  return Status::ok();
}

FrameReaderPtr decode_packets(PacketReaderPtr packets, const SourceOptions& options) {
  return std::make_unique<DecodedPackets>(std::move(packets), options);
}

}  // namespace zerorun::io
