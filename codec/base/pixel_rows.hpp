// Where the planes of a frame and the samples of each pixel format lie (both backends), and rows of
// any format as Y, Cb and Cr samples at full resolution and back (CPU).
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// Errc::invalid_frame if JPEG cannot hold this size.
Status check_dimensions(int width, int height);

template <typename View>
auto frame_row(const View& frame, int plane, int y) {
  const auto p = static_cast<std::size_t>(plane);
  return frame.data[p] + y * frame.stride_bytes[p];
}

/// Bytes of R, G, B in a packed pixel.
struct RgbOrder {
  int r, g, b, pixel_bytes;

  ZR_HD int spare() const { return 6 - r - g - b; }  ///< with 4 bytes: the one that holds no colour
};
RgbOrder rgb_order(PixelFormat format);

/// Where the chroma of a YCbCr format lies: planes, offsets of the first Cb and Cr, and the
/// distance from one to the next, in bytes.
struct ChromaAccess {
  int cb_plane, cr_plane;
  int cb_offset, cr_offset;
  int step;
  int shift_x, shift_y;  ///< log2 of the sub-sampling
};
/// Not for gray8 and RGB.
ChromaAccess chroma_access(PixelFormat format);

/// Where luma lies in plane 0: in every second byte of the packed 4:2:2 formats.
struct LumaAccess {
  int offset, step;
};
LumaAccess luma_access(PixelFormat format);

/// Sample x of row y of a component is data[plane][y * stride + offset + x * step].
struct ComponentLayout {
  int plane, offset, step;
  int width, height;
};
/// Components are in the order Y Cb Cr or R G B; grey has the first alone.
ComponentLayout component_layout(PixelFormat format, int component, int width, int height);

/// Reads row y of the frame: one sample a pixel; sub-sampled chroma is repeated. cb and cr are not
/// written for gray8 or if they are null. Rows have room for `width` samples. `shapes_noise`: RGB
/// is rounded so (arith/color.hpp).
void read_ycc_row(const ConstFrameView& frame, int y, std::uint8_t* luma, std::uint8_t* cb,
                  std::uint8_t* cr, bool shapes_noise = false);

/// Writes row y of an RGB frame from R, G and B samples.
void pack_rgb_row(const FrameView& frame, int y, const std::uint8_t* r, const std::uint8_t* g,
                  const std::uint8_t* b);

/// Writes a row of cmyk32.
void pack_ink_row(const FrameView& frame, int y, const std::uint8_t* c, const std::uint8_t* m,
                  const std::uint8_t* yellow, const std::uint8_t* k);

/// Writes luma row y of a YCbCr or grey frame, and chroma row cy at the frame's own resolution.
void write_luma_row(const FrameView& frame, int y, const std::uint8_t* luma);
void write_chroma_row(const FrameView& frame, int cy, const std::uint8_t* cb,
                      const std::uint8_t* cr);

/// One row of box_mean() (arith/color.hpp) over boxes of 1x1, 2x1, 1x2, 2x2 or 4x1 samples.
/// `row1` is not read when rows is 1.
void box_filter_row(const std::uint8_t* row0, const std::uint8_t* row1, int h, int rows,
                    std::uint8_t* out, int out_width);

/// Places the planes of a frame one after another at `memory`; each row takes a multiple of `align`
/// bytes. Returns the bytes of all planes, below 2^36. With null memory, only strides and bytes are
/// computed.
inline std::size_t place_planes(FrameView& frame, std::uint8_t* memory, std::size_t align) {
  std::size_t bytes = 0;
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    const std::size_t stride = round_up(plane_row_bytes(frame.format, p, frame.width), align);
    frame.stride_bytes[plane] = static_cast<std::ptrdiff_t>(stride);
    frame.data[plane] = memory == nullptr ? nullptr : memory + bytes;
    bytes += stride * static_cast<std::size_t>(plane_rows(frame.format, p, frame.height));
  }
  return bytes;
}

/// Sums of squared differences and numbers of samples, per component in the order of the format
/// (Y Cb Cr or R G B). They are exact over many frames: a stream's PSNR is that of all its samples.
struct SquaredError {
  int components = 0;
  bool is_rgb = false;  ///< else Y, or Y Cb Cr
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> samples{};

  void add(const SquaredError& other) noexcept;
  /// In dB; infinity if nothing differs.
  double psnr(int component) const noexcept;
  double psnr() const noexcept;  ///< over the samples of all components
};

/// Both frames must have the same format and size.
SquaredError squared_error(const ConstFrameView& a, const ConstFrameView& b) noexcept;

/// The mean over windows of 8x8 samples, four samples apart: 1 where nothing differs. Luma of RGB
/// is JFIF's. Frames of less than 8x8 samples have no window and give 1 if they are equal, else 0.
/// Both frames must have the same size and format. The result is the same on every machine.
double luma_ssim(const ConstFrameView& a, const ConstFrameView& b);

}  // namespace zerorun
