// Writes JPEG packets, or frames as other images, to an ImageOutput.
// SPDX-License-Identifier: MIT
#include <utility>

#include "io/formats.hpp"
#include "io/frame_convert.hpp"
#include "io/image_file.hpp"
#include "io/pixel_pack.hpp"

namespace zerorun::io {
namespace {

class JpegSink final : public PacketSink {
 public:
  explicit JpegSink(ImageOutput output) : output_(std::move(output)) {}

  Status write(std::span<const std::byte> jpeg, const FrameTime&) override {
    if (!is_jpeg(jpeg)) return Status(Errc::invalid_argument, "the packet is not a JPEG stream");
    return output_.write(jpeg);
  }
  Status finish() override { return output_.finish(); }
  std::int64_t bytes_written() const override { return output_.bytes_written(); }

 private:
  ImageOutput output_;
};

/// P5 or P6 (pgm(5), ppm(5)).
void encode_pnm(const ConstFrameView& frame, Packet& out) {
  const std::string header = std::string(frame.format == PixelFormat::gray8 ? "P5" : "P6") + "\n" +
                             std::to_string(frame.width) + " " + std::to_string(frame.height) +
                             "\n255\n";
  const auto bytes = std::as_bytes(std::span(header));
  out.assign(bytes.begin(), bytes.end());
  append_rows(frame, out);
}

class ImageSink final : public FrameSink {
 public:
  ImageSink(ImageOutput output, std::string format)
      : output_(std::move(output)), format_(std::move(format)) {}

  /// pgm is always grey and ppm always RGB; the other formats follow the frame.
  PixelFormat wanted_format(PixelFormat native) const override {
    const bool gray = format_ == "pgm" || (format_ != "ppm" && native == PixelFormat::gray8);
    return gray ? PixelFormat::gray8 : PixelFormat::rgb24;
  }

  Status write(const ConstFrameView& frame, const FrameTime&) override {
    ZR_TRY(validate(frame));
    ConstFrameView wanted = frame;
    const PixelFormat format = wanted_format(frame.format);
    if (frame.format != format) {
      ZR_TRY(converter_.convert(frame, format, converted_));
      wanted = std::as_const(converted_).view();
    }
    if (is_pnm_output(format_))
      encode_pnm(wanted, bytes_);
    else
      ZR_TRY(encode_by_opencv(wanted, format_, bytes_));
    return output_.write(bytes_);
  }

  Status finish() override { return output_.finish(); }
  std::int64_t bytes_written() const override { return output_.bytes_written(); }

 private:
  ImageOutput output_;
  std::string format_;
  FrameConverter converter_;
  Frame converted_;
  Packet bytes_;
};

}  // namespace

bool is_jpeg(std::span<const std::byte> packet) noexcept {
  return packet.size() >= 2 && packet[0] == std::byte{0xFF} && packet[1] == std::byte{0xD8};
}

bool is_pnm_output(const std::string& format) {
  return format == "pgm" || format == "ppm" || format == "pnm";
}

bool needs_opencv(const std::string& format) {
  return format == "png" || format == "tif" || format == "tiff" || format == "bmp" ||
         format == "webp";
}

PacketSinkPtr make_jpeg_sink(ImageOutput output) {
  return std::make_unique<JpegSink>(std::move(output));
}

FrameSinkPtr make_image_sink(ImageOutput output, const std::string& format) {
  return std::make_unique<ImageSink>(std::move(output), format);
}

}  // namespace zerorun::io
