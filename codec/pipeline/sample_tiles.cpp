// A small picture made of tiles of a large one.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/sample_tiles.hpp"

#include <algorithm>
#include <cstring>

#include "codec/base/try.hpp"

namespace zerorun {
namespace {

/// Pixels. Tiles begin at multiples of kAlign, where MCUs of every sampling do.
constexpr int kTile = 32, kAlign = 32;
/// 2^17 pixels have 3072 blocks in 4:2:0; the sizes of photos are found to 3 % by them.
constexpr std::int64_t kLeastPixels = std::int64_t{1} << 17;
constexpr std::int64_t kPartOfFrame = 32;

int square_root(std::int64_t n) {
  std::int64_t root = 0;
  while ((root + 1) * (root + 1) <= n) ++root;
  return static_cast<int>(root);
}

struct Grid {
  int wide, high;
};

Grid grid_of(const ConstFrameView& frame) {
  const std::int64_t pixels = std::int64_t{frame.width} * frame.height;
  const std::int64_t tiles = std::max(kLeastPixels, pixels / kPartOfFrame) / (kTile * kTile);
  const int wide =
      std::clamp(square_root(tiles * frame.width / frame.height), 1, frame.width / kTile);
  const int high = std::clamp(static_cast<int>(tiles / wide), 1, frame.height / kTile);
  return {wide, high};
}

/// Where tile number i of n begins along an edge of the frame.
int place(int i, int n, int length) {
  const std::int64_t room = length - kTile;
  const std::int64_t at = n == 1 ? room / 2 : room * i / (n - 1);
  return static_cast<int>(at / kAlign * kAlign);
}

void copy_tile(const ConstFrameView& from, int x, int y, const FrameView& to, int to_x, int to_y) {
  for (int p = 0; p < plane_count(from.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    const auto offset = [&](int column) {
      return column == 0 ? std::size_t{0} : plane_row_bytes(from.format, p, column);
    };
    const auto row_of = [&](int row) {
      return row == 0 ? std::ptrdiff_t{0} : plane_rows(from.format, p, row);
    };
    const std::uint8_t* in = from.data[plane] + row_of(y) * from.stride_bytes[plane] + offset(x);
    std::uint8_t* out = to.data[plane] + row_of(to_y) * to.stride_bytes[plane] + offset(to_x);
    for (std::ptrdiff_t row = 0; row < row_of(kTile); ++row)
      std::memcpy(out + row * to.stride_bytes[plane], in + row * from.stride_bytes[plane],
                  offset(kTile));
  }
}

}  // namespace

Result<bool> sample_tiles(const ConstFrameView& frame, Frame& sample) {
  const std::int64_t pixels = std::int64_t{frame.width} * frame.height;
  if (pixels < 4 * kLeastPixels || frame.width < kTile || frame.height < kTile) return false;
  const Grid grid = grid_of(frame);
  if (std::int64_t{grid.wide} * grid.high * kTile * kTile * 3 > pixels) return false;
  ZR_TRY(sample.reshape(frame.format, grid.wide * kTile, grid.high * kTile));
  for (int j = 0; j < grid.high; ++j)
    for (int i = 0; i < grid.wide; ++i)
      copy_tile(frame, place(i, grid.wide, frame.width), place(j, grid.high, frame.height),
                sample.view(), i * kTile, j * kTile);
  return true;
}

}  // namespace zerorun
