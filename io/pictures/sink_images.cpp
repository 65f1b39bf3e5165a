// Writes JPEG packets, or frames as other images, to an ImageOutput.
// SPDX-License-Identifier: MIT
#include <utility>

#include "io/output/sinks.hpp"
#include "io/base/frame_parts.hpp"
#include "io/pictures/image_file.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"
#include "io/metadata/metadata.hpp"

namespace zerorun::io {
namespace {

/// `Base` is HalvedPacketSink or HalvedFrameSink.
template <typename Base>
class SinkOfImages : public Base {
 public:
  explicit SinkOfImages(ImageOutput output) : output_(std::move(output)) {}
  Status finish() final { return output_.finish(); }
  std::int64_t bytes_written() const final { return output_.bytes_written(); }

 protected:
  ImageOutput output_;

 private:
  Status place(Outgoing& out) final { return output_.commit(out); }
};

class JpegSink final : public SinkOfImages<HalvedPacketSink> {
 public:
  using SinkOfImages::SinkOfImages;

  Status prepare(std::span<const std::byte> jpeg, Outgoing& out) override {
    if (!is_jpeg(jpeg)) return Status(Errc::invalid_argument, "the packet is not a JPEG stream");
    out.parts.assign(1, jpeg);
    return output_.prepare(out);
  }
};

/// P5 or P6 (pgm(5), ppm(5)): the header, and the rows where they are.
void encode_pnm(const ConstFrameView& frame, Outgoing& out) {
  const std::string header = std::string(frame.format == PixelFormat::gray8 ? "P5" : "P6") + "\n" +
                             std::to_string(frame.width) + " " + std::to_string(frame.height) +
                             "\n255\n";
  const auto bytes = std::as_bytes(std::span(header));
  out.bytes.assign(bytes.begin(), bytes.end());
  out.parts.assign(1, out.bytes);
  add_frame(frame, out.parts);
}

class ImageSink final : public SinkOfImages<HalvedFrameSink> {
 public:
  ImageSink(ImageOutput output, std::string format)
      : SinkOfImages(std::move(output)), format_(std::move(format)) {}

  /// pgm is always grey and ppm always RGB; the other formats follow the frame.
  PixelFormat wanted_format(PixelFormat native) const override {
    const bool gray = format_ == "pgm" || (format_ != "ppm" && native == PixelFormat::gray8);
    return gray ? PixelFormat::gray8 : PixelFormat::rgb24;
  }

  Status prepare(const ConstFrameView& frame, Outgoing& out) override {
    ZR_TRY(validate(frame));
    ZR_LET(wanted, frames_.in_format(wanted_format(frame.format), frame, out));
    if (is_pnm_output(format_)) {
      encode_pnm(wanted, out);
    } else {
      ZR_TRY(encode(wanted, out.bytes));
      if (out.content) embed_content(*out.content, format_, out.bytes);
      out.parts.assign(1, out.bytes);
    }
    return output_.prepare(out);
  }

 private:
  Status encode(const ConstFrameView& frame, std::vector<std::byte>& bytes) const {
#ifdef ZERORUN_HAVE_PNG
    if (format_ == "png") return encode_png(frame, bytes);
#endif
    return encode_by_opencv(frame, format_, bytes);
  }

  std::string format_;
  WantedFrames frames_;
};

}  // namespace

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
