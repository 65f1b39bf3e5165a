// One frame as the bytes of an image file.
// SPDX-License-Identifier: MIT
#include "io/image_encode.hpp"

#include <cstring>
#include <utility>

#include "codec/base/try.hpp"
#include "io/pixel_pack.hpp"
#ifdef ZERORUN_HAVE_OPENCV
#include "io/image_opencv.hpp"
#endif

namespace zerorun::io {
namespace {

bool is_pnm(const std::string& format) noexcept {
  return format == "pgm" || format == "ppm" || format == "pnm";
}

/// P5 or P6 (pgm(5), ppm(5)).
void encode_pnm(const ConstFrameView& frame, std::vector<std::byte>& out) {
  const std::string header = std::string(frame.format == PixelFormat::gray8 ? "P5" : "P6") + "\n" +
                             std::to_string(frame.width) + " " + std::to_string(frame.height) +
                             "\n255\n";
  const std::size_t row_bytes = plane_row_bytes(frame.format, 0, frame.width);
  out.resize(header.size() + row_bytes * static_cast<std::size_t>(frame.height));
  std::memcpy(out.data(), header.data(), header.size());
  std::byte* to = out.data() + header.size();
  for (int row = 0; row < frame.height; ++row, to += row_bytes)
    std::memcpy(to, row_of(frame, 0, row), row_bytes);
}

}  // namespace

bool needs_opencv(const std::string& format) {
  return format == "png" || format == "tif" || format == "tiff" || format == "bmp" ||
         format == "webp";
}

bool is_image_output(const std::string& format) { return is_pnm(format) || needs_opencv(format); }

PixelFormat ImageEncoder::wanted_format(PixelFormat native) const noexcept {
  if (format_ == "pgm") return PixelFormat::gray8;
  if (format_ == "ppm") return PixelFormat::rgb24;
  return native == PixelFormat::gray8 ? PixelFormat::gray8 : PixelFormat::rgb24;
}

Status ImageEncoder::encode(const ConstFrameView& frame, std::vector<std::byte>& out) {
  ZR_TRY(validate(frame));
  ConstFrameView wanted = frame;
  const PixelFormat format = wanted_format(frame.format);
  if (frame.format != format) {
    ZR_TRY(converter_.convert(frame, format, converted_));
    wanted = std::as_const(converted_).view();
  }
  if (is_pnm(format_)) {
    encode_pnm(wanted, out);
    return Status::ok();
  }
#ifdef ZERORUN_HAVE_OPENCV
  return encode_by_opencv(wanted, format_, out);
#else
  return Status(Errc::not_built, format_);
#endif
}

}  // namespace zerorun::io
