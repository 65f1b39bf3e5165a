// Frames in memory of exactly their size.
// SPDX-License-Identifier: MIT
#include "tests/support/test_frame.hpp"

#include <algorithm>
#include <cstdlib>

namespace zerorun::test {
namespace {

constexpr std::size_t kPadding = 13;  // odd, so that rows start at every alignment

/// Channel order of an RGB format: the byte of R, G, B in a pixel, and bytes a pixel.
struct RgbOrder {
  int r, g, b, x, bytes;  // x: the ignored byte, -1 without one
};

RgbOrder rgb_order(PixelFormat format) {
  switch (format) {
    case PixelFormat::rgb24:
      return {0, 1, 2, -1, 3};
    case PixelFormat::bgr24:
      return {2, 1, 0, -1, 3};
    case PixelFormat::rgbx32:
      return {0, 1, 2, 3, 4};
    case PixelFormat::bgrx32:
      return {2, 1, 0, 3, 4};
    case PixelFormat::xrgb32:
      return {1, 2, 3, 0, 4};
    case PixelFormat::xbgr32:
      return {3, 2, 1, 0, 4};
    default:
      std::abort();  // a mistake in the test itself
  }
}

}  // namespace

TestFrame::TestFrame(PixelFormat format, int width, int height, Layout layout, std::uint8_t fill)
    : format_(format), width_(width), height_(height), layout_(layout) {
  for (int p = 0; p < plane_count(format); ++p) {
    Plane& plane = planes_[static_cast<std::size_t>(p)];
    plane.row_bytes = plane_row_bytes(format, p, width);
    plane.rows = plane_rows(format, p, height);
    plane.stride = plane.row_bytes + (layout == Layout::tight ? 0 : kPadding);
    plane.memory.assign(plane.stride * static_cast<std::size_t>(plane.rows - 1) + plane.row_bytes,
                        fill);
    plane.memory.shrink_to_fit();
  }
}

std::size_t TestFrame::row_offset(const Plane& plane, int y) const noexcept {
  const int at = layout_ == Layout::bottom_up ? plane.rows - 1 - y : y;
  return static_cast<std::size_t>(at) * plane.stride;
}

FrameView TestFrame::view() noexcept {
  FrameView view{format_, width_, height_, {}, {}};
  for (int p = 0; p < plane_count(format_); ++p) {
    const auto index = static_cast<std::size_t>(p);
    const auto stride = static_cast<std::ptrdiff_t>(planes_[index].stride);
    view.data[index] = row(p, 0);
    view.stride_bytes[index] = layout_ == Layout::bottom_up ? -stride : stride;
  }
  return view;
}

ConstFrameView TestFrame::view() const noexcept {
  return const_cast<TestFrame*>(this)->view();  // adds const to what it returns
}

std::uint8_t* TestFrame::row(int plane, int y) noexcept {
  Plane& p = planes_[static_cast<std::size_t>(plane)];
  return p.memory.data() + row_offset(p, y);
}
const std::uint8_t* TestFrame::row(int plane, int y) const noexcept {
  const Plane& p = planes_[static_cast<std::size_t>(plane)];
  return p.memory.data() + row_offset(p, y);
}
std::size_t TestFrame::row_bytes(int plane) const noexcept {
  return planes_[static_cast<std::size_t>(plane)].row_bytes;
}
int TestFrame::rows(int plane) const noexcept {
  return planes_[static_cast<std::size_t>(plane)].rows;
}

std::vector<std::uint8_t> packed(const ConstFrameView& frame) {
  std::vector<std::uint8_t> out;
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    for (int y = 0; y < plane_rows(frame.format, p, frame.height); ++y) {
      const std::uint8_t* const row = frame.data[plane] + y * frame.stride_bytes[plane];
      out.insert(out.end(), row, row + plane_row_bytes(frame.format, p, frame.width));
    }
  }
  return out;
}

void TestFrame::repoison(std::uint8_t value) {
  for (Plane& plane : planes_)
    for (std::size_t y = 0; y + 1 < static_cast<std::size_t>(plane.rows); ++y)
      std::fill_n(
          plane.memory.begin() + static_cast<std::ptrdiff_t>(y * plane.stride + plane.row_bytes),
          plane.stride - plane.row_bytes, value);
}

void TestFrame::fill(Content content, std::uint64_t seed) {
  for (int p = 0; p < plane_count(format_); ++p) {
    const auto bytes = static_cast<int>(row_bytes(p));
    const int channels = is_rgb(format_) ? bytes / width_ : 1;
    const auto picture = make_picture(content, bytes / channels, rows(p), channels,
                                      seed * 3 + static_cast<std::uint64_t>(p));
    for (int y = 0; y < rows(p); ++y)
      std::copy_n(picture.begin() + static_cast<std::ptrdiff_t>(y) * bytes, bytes, row(p, y));
  }
}

TestFrame make_frame(Content content, PixelFormat format, int width, int height, std::uint64_t seed,
                     Layout layout) {
  TestFrame frame(format, width, height, layout);
  frame.fill(content, seed);
  return frame;
}

TestFrame make_clipped_frame(PixelFormat format, int width, int height, std::uint64_t seed) {
  TestFrame frame = make_frame(Content::photo, format, width, height, seed);
  const int planes = format == PixelFormat::gray8 ? 1 : 3;
  for (int p = 0; p < planes; ++p)
    for (int y = 0; y < frame.rows(p); ++y)
      for (std::size_t x = 0; x < frame.row_bytes(p); ++x) {
        std::uint8_t& sample = frame.row(p, y)[x];
        const int contrast = 1 + static_cast<int>(x / 8 % 16);
        sample = static_cast<std::uint8_t>(std::clamp((sample - 128) * contrast + 128, 0, 255));
      }
  return frame;
}

TestFrame rearrange(const TestFrame& from, PixelFormat to, std::uint8_t fill) {
  const ConstFrameView source = from.view();
  TestFrame out(to, source.width, source.height, Layout::tight, fill);
  for (int y = 0; y < source.height; ++y) {
    if (is_rgb(to)) {
      const RgbOrder order = rgb_order(to);
      for (int x = 0; x < source.width; ++x) {
        const std::uint8_t* pixel = from.row(0, y) + std::ptrdiff_t{3} * x;
        std::uint8_t* target = out.row(0, y) + std::ptrdiff_t{order.bytes} * x;
        target[order.r] = pixel[0];
        target[order.g] = pixel[1];
        target[order.b] = pixel[2];
      }
    } else if (to == PixelFormat::nv12 || to == PixelFormat::nv21) {
      std::copy_n(from.row(0, y), from.row_bytes(0), out.row(0, y));
      if (y >= from.rows(1)) continue;
      const int first = to == PixelFormat::nv12 ? 1 : 2;
      for (std::size_t x = 0; x < from.row_bytes(1); ++x) {
        out.row(1, y)[2 * x] = from.row(first, y)[x];
        out.row(1, y)[2 * x + 1] = from.row(3 - first, y)[x];
      }
    } else {  // YUYV and UYVY; the second luma of an odd last group lies outside: `fill`
      const std::size_t luma = to == PixelFormat::yuyv ? 0 : 1;
      for (std::size_t x = 0; x < from.row_bytes(1); ++x) {
        const std::uint8_t* y_row = from.row(0, y);
        std::uint8_t* group = out.row(0, y) + 4 * x;
        group[luma] = y_row[2 * x];
        if (2 * x + 1 < from.row_bytes(0)) group[luma + 2] = y_row[2 * x + 1];
        group[1 - luma] = from.row(1, y)[x];
        group[3 - luma] = from.row(2, y)[x];
      }
    }
  }
  return out;
}

}  // namespace zerorun::test

namespace zerorun {
void PrintTo(PixelFormat format, std::ostream* out) { *out << name(format); }
void PrintTo(Subsampling sampling, std::ostream* out) { *out << name(sampling); }
}  // namespace zerorun
