// Frames: uncompressed pictures in the caller's memory, an owning buffer for them, and pictures in
// the device memory of a hardware video decoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "zerorun/backend.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Memory layouts. 8 bits per sample. YCbCr is full range BT.601 (JFIF) everywhere.
enum class PixelFormat : std::uint8_t {
  gray8,    ///< one plane Y
  yuv420p,  ///< planes Y, Cb, Cr; chroma (w+1)/2 x (h+1)/2
  yuv422p,  ///< chroma (w+1)/2 x h
  yuv444p,  ///< chroma w x h
  yuv440p,  ///< chroma w x (h+1)/2
  yuv411p,  ///< chroma (w+3)/4 x h
  nv12,     ///< plane Y, plane of CbCr pairs, (w+1)/2 pairs x (h+1)/2
  nv21,     ///< as nv12 with CrCb pairs
  yuyv,     ///< one plane Y0 Cb Y1 Cr, (w+1)/2 groups of 4 bytes a row
  uyvy,     ///< one plane Cb Y0 Cr Y1
  rgb24,    ///< one plane R G B
  bgr24,    ///< one plane B G R
  rgbx32,   ///< one plane R G B x; x is ignored on input and 255 on output
  bgrx32,   ///< one plane B G R x
  xrgb32,   ///< one plane x R G B
  xbgr32,   ///< one plane x B G R
  /// One plane C M Y K, for decoding of four components alone: as the stream stores them, YCCK as
  /// libjpeg makes CMYK of it. ColorModel tells whether 0 or 255 is no ink.
  cmyk32,
};
/// Of the formats in front of cmyk32: encoders take them, and every stream is decoded to them.
inline constexpr int kPixelFormatCount = 16;

/// Chroma sampling of the coded stream; luma factors H x V over chroma 1 x 1.
enum class Subsampling : std::uint8_t {
  s444,  ///< 1x1
  s422,  ///< 2x1
  s420,  ///< 2x2
  s440,  ///< 1x2
  s411,  ///< 4x1
  gray,  ///< one component
};

/// FFmpeg's word for the format, for example "yuv420p"; "420" ... "gray" for the sampling.
ZERORUN_API std::string_view name(PixelFormat format) noexcept;
ZERORUN_API std::string_view name(Subsampling sampling) noexcept;

ZERORUN_API bool is_planar_yuv(PixelFormat format) noexcept;  ///< yuv420p ... yuv411p and gray8
ZERORUN_API bool is_rgb(PixelFormat format) noexcept;

/// The sampling of a frame of this format (RGB counts as 4:4:4).
ZERORUN_API Subsampling native_subsampling(PixelFormat format) noexcept;

/// Luma samples for one chroma sample, along a row (H) and a column (V); {1, 1} for gray.
struct LumaFactors {
  int h, v;
};
ZERORUN_API LumaFactors luma_factors(Subsampling sampling) noexcept;

/// The planar format of a sampling: s420 -> yuv420p, ..., gray -> gray8.
ZERORUN_API PixelFormat planar_format(Subsampling sampling) noexcept;

inline constexpr int kMaxDimension = 65535;  ///< T.81 B.2.2: X and Y are 16 bits

ZERORUN_API int plane_count(PixelFormat format) noexcept;

/// Bytes in a row of the plane (the smallest stride), and its rows. Width and height of the frame
/// are in pixels, 1 to 65535.
ZERORUN_API std::size_t plane_row_bytes(PixelFormat format, int plane, int width) noexcept;
ZERORUN_API int plane_rows(PixelFormat format, int plane, int height) noexcept;

/// A view. The caller owns the memory and keeps it alive and unchanged during a call.
/// The stride is the distance in bytes from one row to the next; it may be negative.
template <typename Byte>
struct BasicFrameView {
  PixelFormat format = PixelFormat::gray8;
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels
  std::array<Byte*, 3> data{};
  std::array<std::ptrdiff_t, 3> stride_bytes{};

  /// FrameView -> ConstFrameView.
  template <typename Other, typename = std::enable_if_t<std::is_same_v<Other, const Byte> &&
                                                        !std::is_const_v<Byte>>>
  operator BasicFrameView<Other>() const noexcept {
    return {format, width, height, {data[0], data[1], data[2]}, stride_bytes};
  }
};
using FrameView = BasicFrameView<std::uint8_t>;
using ConstFrameView = BasicFrameView<const std::uint8_t>;

/// Errc::invalid_frame if the view does not describe a whole frame.
ZERORUN_API Status validate(const ConstFrameView& frame);

/// Owns the memory of one frame. Move-only; rows are 64-byte aligned.
class ZERORUN_API Frame {
 public:
  Frame() noexcept = default;

  /// Empty: the first reshape() allocates memory of this kind.
  explicit Frame(HostMemory memory) noexcept : memory_(memory) {}

  /// Contents are undefined. Errors: invalid_frame, and those of HostBuffer::resize().
  static Result<Frame> create(PixelFormat format, int width, int height,
                              HostMemory memory = HostMemory::pageable);

  /// Changes the shape; keeps the memory if it is large enough.
  Status reshape(PixelFormat format, int width, int height);

  const FrameView& view() noexcept { return view_; }
  ConstFrameView view() const noexcept { return view_; }
  PixelFormat format() const noexcept { return view_.format; }
  int width() const noexcept { return view_.width; }
  int height() const noexcept { return view_.height; }
  HostMemory memory() const noexcept { return memory_.memory(); }

 private:
  FrameView view_;
  HostBuffer memory_;
};

/// A straight line over samples s of up to 16 bits. `slope` and `offset` count 2^-16, `slope1` and
/// `offset1` 2^-32, `slope2` and `offset2` 2^-48, and the latter four have 16 bits. The value at s
/// is the greatest multiple of 2^-16 that is not above the line.
struct SampleTerm {
  std::int32_t slope = 0, offset = 0;
  std::uint32_t slope1 = 0, offset1 = 0, slope2 = 0, offset2 = 0;
  friend bool operator==(const SampleTerm&, const SampleTerm&) = default;
};

/// From YCbCr of any range, matrix and depth to full range BT.601 with 8 bits, as JPEG has it. A
/// sample is the sum of its terms, rounded to the nearest integer, in 0..255: `y_cb` is what Cb
/// adds to Y. At a luma sample chroma is the sample that covers the pixel.
struct SampleConversion {
  int depth_bits = 8;  ///< of the input's samples, 8 to 16
  SampleTerm y_y, y_cb, y_cr, cb_cb, cb_cr, cr_cb, cr_cr;
  friend bool operator==(const SampleConversion&, const SampleConversion&) = default;
};

/// A 4:2:0 picture in device memory with interleaved chroma: NV12, or P010 and P012, which are the
/// same with 16-bit words whose highest bits are the sample. What is enqueued on the device's
/// default stream by the time of the call belongs to the picture.
struct DeviceSurface {
  int width = 0, height = 0;
  const std::uint8_t* luma = nullptr;    ///< aligned to the size of a sample
  const std::uint8_t* chroma = nullptr;  ///< rows of Cb, Cr pairs
  std::ptrdiff_t luma_stride_bytes = 0, chroma_stride_bytes = 0;
  SampleConversion conversion;
};

}  // namespace zerorun
