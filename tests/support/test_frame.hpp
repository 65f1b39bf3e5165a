// Frames in memory of exactly their size, in the layouts that callers use.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <vector>

#include "tests/support/pictures.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::test {

inline constexpr PixelFormat kAllFormats[] = {
    PixelFormat::gray8,   PixelFormat::yuv420p, PixelFormat::yuv422p, PixelFormat::yuv444p,
    PixelFormat::yuv440p, PixelFormat::yuv411p, PixelFormat::nv12,    PixelFormat::nv21,
    PixelFormat::yuyv,    PixelFormat::uyvy,    PixelFormat::rgb24,   PixelFormat::bgr24,
    PixelFormat::rgbx32,  PixelFormat::bgrx32,  PixelFormat::xrgb32,  PixelFormat::xbgr32};
static_assert(std::size(kAllFormats) == kPixelFormatCount);

inline constexpr Subsampling kAllSubsamplings[] = {Subsampling::s444, Subsampling::s422,
                                                   Subsampling::s420, Subsampling::s440,
                                                   Subsampling::s411, Subsampling::gray};

enum class Layout : std::uint8_t {
  tight,      ///< stride = row
  padded,     ///< poison follows each row but the last, where memory ends
  bottom_up,  ///< the same with a negative stride
};

/// The samples of all planes without what lies between the rows.
std::vector<std::uint8_t> packed(const ConstFrameView& frame);
inline std::vector<std::uint8_t> packed(const Frame& frame) { return packed(frame.view()); }

/// Owns its planes, each in its own heap allocation, so that ASan sees an access past the end.
class TestFrame {
 public:
  /// Samples and padding hold `fill`.
  TestFrame(PixelFormat format, int width, int height, Layout layout = Layout::tight,
            std::uint8_t fill = 0xA5);

  FrameView view() noexcept;
  ConstFrameView view() const noexcept;

  std::uint8_t* row(int plane, int y) noexcept;
  const std::uint8_t* row(int plane, int y) const noexcept;
  std::size_t row_bytes(int plane) const noexcept;
  int rows(int plane) const noexcept;

  std::vector<std::uint8_t> packed() const { return test::packed(view()); }

  /// Same shape, samples and padding.
  bool operator==(const TestFrame&) const = default;

  /// Overwrites the padding between rows with other bytes.
  void repoison(std::uint8_t value);

  /// Fills every plane with the content; each plane is a picture of its own.
  void fill(Content content, std::uint64_t seed);

 private:
  struct Plane {
    std::vector<std::uint8_t> memory;
    std::size_t stride = 0, row_bytes = 0;
    int rows = 0;
    bool operator==(const Plane&) const = default;
  };
  std::size_t row_offset(const Plane& plane, int y) const noexcept;

  PixelFormat format_;
  int width_, height_;
  Layout layout_;
  std::array<Plane, 3> planes_;
};

TestFrame make_frame(Content content, PixelFormat format, int width, int height, std::uint64_t seed,
                     Layout layout = Layout::tight);

/// A photo whose contrast rises from column to column, block by block, until most samples are 0 or
/// 255: blocks with every share of clipped samples.
TestFrame make_clipped_frame(PixelFormat format, int width, int height, std::uint64_t seed);

/// A planar YCbCr frame, re-ordered without arithmetic into a format with the same sampling
/// (NV12, NV21, YUYV, UYVY), or an RGB24 frame into another RGB format (x = `fill`).
TestFrame rearrange(const TestFrame& from, PixelFormat to, std::uint8_t fill = 0x3C);

}  // namespace zerorun::test

namespace zerorun {
void PrintTo(PixelFormat format, std::ostream* out);
void PrintTo(Subsampling sampling, std::ostream* out);
}  // namespace zerorun
