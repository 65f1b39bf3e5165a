// Converts frames: layouts, and interlaced pictures to whole ones. Measures the time of
// conversions.
// SPDX-License-Identifier: MIT
#include "io/samples/frame_convert.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/base/try.hpp"
#include "io/samples/pixel_pack.hpp"
#include "zerorun/convert.hpp"

namespace zerorun::io {

namespace {

/// One for each thread: a lane asks for its own time after each frame.
struct Converting {
  std::chrono::nanoseconds total{0};
  int timers = 0;  ///< that run now, one within another
};
thread_local Converting t_converting;

std::uint8_t clamp8(int value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

// jccolor.c and jdcolor.c of libjpeg: 16-bit fixed point, constants rounded to nearest.
constexpr int fix(double value) noexcept { return static_cast<int>(value * 65536 + 0.5); }
constexpr int kHalf = 1 << 15;
constexpr int kCentre = 128 << 16;

void rgb_to_ycc444(const ConstFrameView& rgb, const FrameView& ycc) noexcept {
  const RgbLayout at = rgb_layout(rgb.format);
  const bool gray = ycc.format == PixelFormat::gray8;
  for (int row = 0; row < rgb.height; ++row) {
    const std::uint8_t* pixel = row_of(rgb, 0, row);
    std::uint8_t* y = row_of(ycc, 0, row);
    std::uint8_t* cb = gray ? nullptr : row_of(ycc, 1, row);
    std::uint8_t* cr = gray ? nullptr : row_of(ycc, 2, row);
    for (int x = 0; x < rgb.width; ++x, pixel += at.bytes) {
      const int r = pixel[at.r], g = pixel[at.g], b = pixel[at.b];
      y[x] = static_cast<std::uint8_t>(
          (fix(0.29900) * r + fix(0.58700) * g + fix(0.11400) * b + kHalf) >> 16);
      if (gray) continue;
      // libjpeg adds half minus one here so that the result cannot reach 256.
      cb[x] = static_cast<std::uint8_t>(
          (-fix(0.16874) * r - fix(0.33126) * g + fix(0.50000) * b + kCentre + kHalf - 1) >> 16);
      cr[x] = static_cast<std::uint8_t>(
          (fix(0.50000) * r - fix(0.41869) * g - fix(0.08131) * b + kCentre + kHalf - 1) >> 16);
    }
  }
}

void ycc444_to_rgb(const ConstFrameView& ycc, const FrameView& rgb) noexcept {
  const RgbLayout at = rgb_layout(rgb.format);
  const bool gray = ycc.format == PixelFormat::gray8;
  for (int row = 0; row < rgb.height; ++row) {
    const std::uint8_t* y = row_of(ycc, 0, row);
    const std::uint8_t* cb = gray ? y : row_of(ycc, 1, row);
    const std::uint8_t* cr = gray ? y : row_of(ycc, 2, row);
    std::uint8_t* pixel = row_of(rgb, 0, row);
    for (int x = 0; x < rgb.width; ++x, pixel += at.bytes) {
      const int b = gray ? 0 : cb[x] - 128, r = gray ? 0 : cr[x] - 128;
      pixel[at.r] = clamp8(y[x] + ((fix(1.40200) * r + kHalf) >> 16));
      pixel[at.g] = clamp8(y[x] + ((-fix(0.34414) * b - fix(0.71414) * r + kHalf) >> 16));
      pixel[at.b] = clamp8(y[x] + ((fix(1.77200) * b + kHalf) >> 16));
      if (at.unused >= 0) pixel[at.unused] = 255;
    }
  }
}

/// Enlarges a chroma plane to full size row by row. The triangle filter (weights 3/4 and 1/4; the
/// neighbour of an even row is above it) goes down the columns first, then along the row.
void enlarge_chroma(const ConstFrameView& in, int plane, LumaFactors f,
                    const FrameView& out) noexcept {
  const int rows = plane_rows(in.format, plane, in.height);
  const int width = static_cast<int>(plane_row_bytes(in.format, plane, in.width));
  for (int row = 0; row < out.height; ++row) {
    const int near_row = row / f.v;
    const int other = f.v == 1 ? near_row : std::clamp(near_row + (row % 2 ? 1 : -1), 0, rows - 1);
    const std::uint8_t* near = row_of(in, plane, near_row);
    const std::uint8_t* far = row_of(in, plane, other);
    std::uint8_t* to = row_of(out, plane, row);
    const auto column = [&](int x) { return f.v == 1 ? 4 * near[x] : 3 * near[x] + far[x]; };
    for (int x = 0; x < out.width; ++x) {
      const int at = x / f.h;
      const int side = f.h != 2 ? at : std::clamp(at + (x % 2 ? 1 : -1), 0, width - 1);
      to[x] = static_cast<std::uint8_t>((3 * column(at) + column(side) + 8) >> 4);
    }
  }
}

/// Reduces a chroma plane from full size: the mean of the samples covered, edges repeated.
void reduce_chroma(const ConstFrameView& in, int plane, LumaFactors f,
                   const FrameView& out) noexcept {
  const int width = static_cast<int>(plane_row_bytes(out.format, plane, out.width));
  const int count = f.h * f.v;
  for (int row = 0; row < plane_rows(out.format, plane, out.height); ++row) {
    std::uint8_t* to = row_of(out, plane, row);
    for (int x = 0; x < width; ++x) {
      int sum = count / 2;
      for (int dy = 0; dy < f.v; ++dy) {
        const std::uint8_t* from = row_of(in, plane, std::min(row * f.v + dy, in.height - 1));
        for (int dx = 0; dx < f.h; ++dx) sum += from[std::min(x * f.h + dx, in.width - 1)];
      }
      to[x] = static_cast<std::uint8_t>(sum / count);
    }
  }
}

/// Planar to planar of another sampling; one of the two is 4:4:4 or grey.
void resample(const ConstFrameView& in, const FrameView& out) noexcept {
  for (int row = 0; row < in.height; ++row)
    std::memcpy(row_of(out, 0, row), row_of(in, 0, row), static_cast<std::size_t>(in.width));
  for (int plane = 1; plane < plane_count(out.format); ++plane) {
    if (in.format == PixelFormat::gray8) {
      for (int row = 0; row < plane_rows(out.format, plane, out.height); ++row)
        std::memset(row_of(out, plane, row), 128, plane_row_bytes(out.format, plane, out.width));
    } else if (out.format == PixelFormat::yuv444p) {
      enlarge_chroma(in, plane, luma_factors(native_subsampling(in.format)), out);
    } else {
      reduce_chroma(in, plane, luma_factors(native_subsampling(out.format)), out);
    }
  }
}

}  // namespace

ConvertTimer::ConvertTimer() noexcept : start_(std::chrono::steady_clock::now()) {
  ++t_converting.timers;
}

ConvertTimer::~ConvertTimer() {
  if (--t_converting.timers == 0) t_converting.total += std::chrono::steady_clock::now() - start_;
}

std::chrono::nanoseconds take_convert_time() noexcept {
  return std::exchange(t_converting.total, {});
}

/// `planar` becomes a view of `in` or of one of the intermediate frames.
Status FrameConverter::to_planar(const ConstFrameView& in, Subsampling sampling,
                                 ConstFrameView& planar) {
  const PixelFormat wanted = planar_format(sampling);
  ConstFrameView from = in;
  if (is_rgb(in.format)) {
    const PixelFormat whole =
        wanted == PixelFormat::gray8 ? PixelFormat::gray8 : PixelFormat::yuv444p;
    ZR_TRY(full_.reshape(whole, in.width, in.height));
    rgb_to_ycc444(in, full_.view());
    from = std::as_const(full_).view();
  } else if (!is_planar_yuv(in.format)) {
    const PixelFormat same = planar_format(native_subsampling(in.format));
    ZR_TRY(unpacked_.reshape(same, in.width, in.height));
    unpack_yuv(in, unpacked_.view());
    from = std::as_const(unpacked_).view();
  }
  const bool by_444 = from.format != wanted && from.format != PixelFormat::gray8 &&
                      from.format != PixelFormat::yuv444p && wanted != PixelFormat::gray8;
  if (by_444) {
    ZR_TRY(full_.reshape(PixelFormat::yuv444p, in.width, in.height));
    resample(from, full_.view());
    from = std::as_const(full_).view();
  }
  if (from.format != wanted) {
    ZR_TRY(resampled_.reshape(wanted, in.width, in.height));
    resample(from, resampled_.view());
    from = std::as_const(resampled_).view();
  }
  planar = from;
  return Status::ok();
}

Status FrameConverter::convert(const ConstFrameView& in, PixelFormat format, Frame& out) {
  ZR_TRY(out.reshape(format, in.width, in.height));
  return convert(in, out.view());
}

Status FrameConverter::convert(const ConstFrameView& in, const FrameView& out) {
  const ConvertTimer timer;
  ZR_TRY(validate(in));
  ZR_TRY(validate(out));
  if (in.width != out.width || in.height != out.height)
    return Status(Errc::invalid_frame, "a conversion cannot change the size");
  if (in.format == out.format) {
    copy_frame(in, out);
    return Status::ok();
  }
  if (in.format == PixelFormat::cmyk32 || out.format == PixelFormat::cmyk32)
    return Status(Errc::pixel_format, "only CMYK and YCCK JPEG become cmyk32");
  if (is_rgb(in.format) && is_rgb(out.format)) {
    swizzle_rgb(in, out);
    return Status::ok();
  }
  ConstFrameView planar;
  if (is_rgb(out.format)) {
    const bool gray = native_subsampling(in.format) == Subsampling::gray;
    ZR_TRY(to_planar(in, gray ? Subsampling::gray : Subsampling::s444, planar));
    ycc444_to_rgb(planar, out);
    return Status::ok();
  }
  ZR_TRY(to_planar(in, native_subsampling(out.format), planar));
  if (is_planar_yuv(out.format))
    copy_frame(planar, out);
  else
    pack_yuv(planar, out);
  return Status::ok();
}

void deinterlace(const FrameView& frame, bool top_first) noexcept {
  const ConvertTimer timer;
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    const std::size_t bytes = plane_row_bytes(frame.format, plane, frame.width);
    const int rows = plane_rows(frame.format, plane, frame.height);
    const int kept = top_first ? 0 : 1;
    if (rows < 2) continue;
    // The nearest kept line inside the picture.
    const int last = kept + (rows - 1 - kept) / 2 * 2;
    const auto line = [&](int row) { return row_of(frame, plane, std::clamp(row, kept, last)); };
    for (int row = 1 - kept; row < rows; row += 2) {
      const std::uint8_t* const from[4] = {line(row - 3), line(row - 1), line(row + 1),
                                           line(row + 3)};
      std::uint8_t* const to = row_of(frame, plane, row);
      for (std::size_t i = 0; i < bytes; ++i) {
        const int sum = 9 * (from[1][i] + from[2][i]) - from[0][i] - from[3][i];
        to[i] = static_cast<std::uint8_t>(std::clamp((sum + 8) >> 4, 0, 255));
      }
    }
  }
}

}  // namespace zerorun::io
