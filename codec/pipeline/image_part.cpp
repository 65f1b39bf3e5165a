// Scaled and region decoding: which blocks of an image are wanted.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/decode_walk.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "codec/arith/reduced_idct.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
namespace {

/// log2 of the scale: 0 to 3.
int shrink_of(int scale) { return __builtin_ctz(static_cast<unsigned>(scale)); }

/// libjpeg's choice (jpeg_calc_output_dimensions): a component that the sampling has made smaller
/// is transformed at a larger size, as long as both directions allow that.
int choose_shrink(const FrameHeader& frame, const FrameHeader::Component& component, int shrink) {
  const int least = reduced_edge(shrink);
  int edge = least;
  while (edge < kBlockEdge && frame.h_max * least % (component.h * edge * 2) == 0 &&
         frame.v_max * least % (component.v * edge * 2) == 0)
    edge *= 2;
  return shrink_of(kBlockEdge / edge);
}

/// Pixels [first, end) of a row or column, in whole units.
struct Span {
  int first, end;
};

/// The window of pixels [at, at + count) of `extent`. Boxes of the chroma filters take up to four
/// pixels, and their roundings repeat every four, so that it begins at a multiple of four; the
/// triangle filter reads one chroma sample more, which has two pixels. A window that is not the
/// whole row has more than two chroma samples in it, so that choose_filter() decides as for the
/// row.
Span window_span(int at, int count, int extent, int mcu) {
  constexpr int kBox = 4, kTriangle = 2;
  const int unit = std::lcm(mcu, kBox);
  const int first = std::max(0, at / kBox * kBox - kTriangle) / unit * unit;
  const std::int64_t end = round_up(std::int64_t{at} + count, std::int64_t{kBox}) + kTriangle;
  return {first,
          static_cast<int>(std::min<std::int64_t>(extent, round_up(end, std::int64_t{unit})))};
}

std::string describe(const Region& region) {
  return std::to_string(region.width) + "x" + std::to_string(region.height) + "+" +
         std::to_string(region.x) + "+" + std::to_string(region.y);
}

}  // namespace

Status validate_part(int scale, const Region& region) {
  if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
    return Status(Errc::invalid_argument, "the scale is 1/" + std::to_string(scale) +
                                              ", and 1, 1/2, 1/4 and 1/8 are possible");
  if (region == Region()) return Status::ok();
  if (region.x < 0 || region.y < 0 || region.width < 1 || region.height < 1)
    return Status(Errc::invalid_argument,
                  "the region " + describe(region) +
                      " needs a width and height above 0, and x and y of at least 0");
  return Status::ok();
}

Result<ImageSize> decoded_size(int width, int height, int scale, const Region& region) {
  ZR_TRY(validate_part(scale, region));
  const ImageSize picture = scaled_size(width, height, scale);
  if (region == Region()) return picture;
  if (std::int64_t{region.x} + region.width > picture.width ||
      std::int64_t{region.y} + region.height > picture.height)
    return Status(Errc::invalid_argument,
                  "the region " + describe(region) + " goes beyond the picture of " +
                      std::to_string(picture.width) + "x" + std::to_string(picture.height));
  return ImageSize{region.width, region.height};
}

Result<ImagePart> image_part(const FrameHeader& frame, int scale, const Region& region) {
  const int shrink = shrink_of(scale), edge = reduced_edge(shrink);
  const ImageSize picture = scaled_size(frame.width, frame.height, scale);
  ZR_LET(size, decoded_size(frame.width, frame.height, scale, region));
  ImagePart part{frame, edge > 1, size, 0, 0, !(region == Region())};
  Span columns{0, picture.width}, rows{0, picture.height};
  const int mcu_width = frame.h_max * edge, mcu_height = frame.v_max * edge;
  if (part.is_region) {
    columns = window_span(region.x, region.width, picture.width, mcu_width);
    rows = window_span(region.y, region.height, picture.height, mcu_height);
    part.x = region.x - columns.first;
    part.y = region.y - rows.first;
  }
  FrameHeader& window = part.window;
  window.width = columns.end - columns.first;
  window.height = rows.end - rows.first;
  for (FrameHeader::Component& c : window.components) {
    c.shrink = choose_shrink(frame, c, shrink);
    const int own_edge = reduced_edge(c.shrink);
    c.block_x = columns.first / mcu_width * c.h;
    c.block_y = rows.first / mcu_height * c.v;
    // Up to the end of the window, or of the component: in samples of T.81 A.1.1 times edge / 8.
    const auto extent = [&](int end, int picture_end, int full, int factor, int max,
                            int first_block) {
      const int samples = end == picture_end ? ceil_div(full * factor * own_edge, max * kBlockEdge)
                                             : end / (max * edge) * factor * own_edge;
      return samples - first_block * own_edge;
    };
    c.width = extent(columns.end, picture.width, frame.width, c.h, frame.h_max, c.block_x);
    c.height = extent(rows.end, picture.height, frame.height, c.v, frame.v_max, c.block_y);
    c.blocks_wide = ceil_div(c.width, own_edge);
    c.blocks_high = ceil_div(c.height, own_edge);
    c.h = c.h * own_edge / edge;
    c.v = c.v * own_edge / edge;
  }
  return part;
}

Status check_region_format(const ImagePart& part, PixelFormat format) {
  const bool packed = format == PixelFormat::yuyv || format == PixelFormat::uyvy;
  if (!part.is_region || !packed || part.x % 2 == 0) return Status::ok();
  return Status(Errc::invalid_argument,
                "a region in " + std::string(name(format)) +
                    " begins at an even column, because two pixels share their chroma");
}

PlaneOffset region_offset(PixelFormat format, int plane, int x, int y) {
  if (is_rgb(format) || plane_count(format) == 1)
    return {x == 0 ? 0 : static_cast<std::ptrdiff_t>(plane_row_bytes(format, plane, x)), y};
  const LumaFactors luma = luma_factors(native_subsampling(format));
  if (plane == 0) return {x, y};
  const int pair = plane_count(format) == 2 ? 2 : 1;
  return {std::ptrdiff_t{x / luma.h} * pair, y / luma.v};
}

void copy_region(const ConstFrameView& from, const Region& region, const FrameView& to, int to_x,
                 int to_y) {
  for (int p = 0; p < plane_count(to.format); ++p) {
    const auto i = static_cast<std::size_t>(p);
    const auto place = [&](const auto& frame, int x, int y) {
      const PlaneOffset offset = region_offset(frame.format, p, x, y);
      return frame.data[i] + offset.rows * frame.stride_bytes[i] + offset.bytes;
    };
    const std::uint8_t* const in = place(from, region.x, region.y);
    std::uint8_t* const out = place(to, to_x, to_y);
    const std::size_t bytes = plane_row_bytes(to.format, p, region.width);
    for (std::ptrdiff_t y = 0; y < plane_rows(to.format, p, region.height); ++y)
      std::memcpy(out + y * to.stride_bytes[i], in + y * from.stride_bytes[i], bytes);
  }
}

}  // namespace zerorun
