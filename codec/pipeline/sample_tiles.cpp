// A small picture made of tiles of a large one.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/sample_tiles.hpp"

#include <algorithm>

#include "codec/base/try.hpp"
#include "codec/pipeline/image_part.hpp"

namespace zerorun {
namespace {

constexpr int kTile = SampleGrid::kTile;
/// 2^17 pixels have 3072 blocks in 4:2:0; the sizes of photos are found to 3 % by them.
constexpr std::int64_t kLeastPixels = std::int64_t{1} << 17;
constexpr std::int64_t kPartOfFrame = 32;

int square_root(std::int64_t n) {
  std::int64_t root = 0;
  while ((root + 1) * (root + 1) <= n) ++root;
  return static_cast<int>(root);
}

}  // namespace

std::optional<SampleGrid> SampleGrid::of(int width, int height) {
  const std::int64_t pixels = std::int64_t{width} * height;
  if (pixels < 4 * kLeastPixels || width < kTile || height < kTile) return std::nullopt;
  const std::int64_t tiles = std::max(kLeastPixels, pixels / kPartOfFrame) / (kTile * kTile);
  SampleGrid grid{width, height, 0, 0};
  grid.wide = std::clamp(square_root(tiles * width / height), 1, width / kTile);
  grid.high = std::clamp(static_cast<int>(tiles / grid.wide), 1, height / kTile);
  if (std::int64_t{grid.wide} * grid.high * kTile * kTile * 3 > pixels) return std::nullopt;
  return grid;
}

Result<bool> sample_tiles(const ConstFrameView& frame, Frame& sample) {
  const auto grid = SampleGrid::of(frame.width, frame.height);
  if (!grid) return false;
  ZR_TRY(sample.reshape(frame.format, grid->wide * kTile, grid->high * kTile));
  for (int j = 0; j < grid->high; ++j)
    for (int i = 0; i < grid->wide; ++i)
      copy_region(frame, {grid->x(i), grid->y(j), kTile, kTile}, sample.view(), i * kTile,
                  j * kTile);
  return true;
}

}  // namespace zerorun
