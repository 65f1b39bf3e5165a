// Sizes of streams that are asked for, and the small picture by which they are estimated.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/size_control.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "codec/base/try.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/syntax/header_writer.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun {

SizeTask make_size_task(const EncodeParams& params, const EncodeSetup& whole,
                        const ScanLayout& counted) {
  const SizeGoal& goal = params.size;
  const bool caps_alone = goal.target_bytes == 0;
  std::uint64_t target = caps_alone ? goal.max_bytes : goal.target_bytes;
  if (goal.max_bytes != 0) target = std::min<std::uint64_t>(target, goal.max_bytes);
  // All fixed tables have the same number of values, so any of them gives the header's size.
  std::array<HuffmanSpec, 4> specs{};
  if (whole.huffman != HuffmanTables::optimal) specs = *whole.fixed_specs;
  std::vector<std::uint8_t> header;
  write_header(make_stream_header(params, whole, specs), header);
  constexpr std::size_t kEoiBytes = 2;
  // Without thrift `exact` knows no decisions: from 1 on sizes do not jump.
  const SizeSetting most{caps_alone ? params.quality * kQualityUnit : kMostQuality,
                         params.tune == Tune::exact ? 1 : 0};
  return {SizeWindow::of(target),
          caps_alone ? 0 : goal.overrun_bytes,
          header.size() + kEoiBytes,
          static_cast<std::uint64_t>(whole.layout.blocks()),
          static_cast<std::uint64_t>(counted.blocks()),
          most,
          caps_alone};
}

CountedSize size_of_counts(const SymbolCounts& counts, const EncodeSetup& setup) {
  const bool is_optimal = setup.huffman == HuffmanTables::optimal;
  HuffmanEncodeTables tables{};
  SymbolSums sums[kEncodeTables] = {};
  for (int t = 0; t < kEncodeTables; ++t) {
    if (!is_optimal)
      fill_encode_table((*setup.fixed_specs)[static_cast<std::size_t>(t)], t, tables);
    for (int symbol = 0; symbol < 256; ++symbol)
      sums[t].add(symbol, counts.count[t][symbol], tables.bits[t][symbol]);
  }
  return counted_size(sums, is_optimal);
}

Status size_not_reached(const SizeTask& task, std::uint64_t least) {
  const std::string limit = task.overrun == 0 ? std::to_string(task.window.most) + " were asked for"
                                              : "there is room for " + std::to_string(task.overrun);
  return Status(Errc::size_not_reached, "the smallest stream of this picture has " +
                                            std::to_string(least) + " bytes, and " + limit +
                                            "; ask for more, or scale the picture down");
}

namespace {

constexpr int kTile = SampleGrid::kTile;
/// 2^17 pixels have 3072 blocks in 4:2:0; the sizes of photos are found to 3 % by them.
constexpr std::int64_t kLeastPixels = std::int64_t{1} << 17;
constexpr std::int64_t kPartOfFrame = 32;

}  // namespace

std::optional<SampleGrid> SampleGrid::of(int width, int height) {
  const std::int64_t pixels = std::int64_t{width} * height;
  if (pixels < 4 * kLeastPixels || width < kTile || height < kTile) return std::nullopt;
  const std::int64_t tiles = std::max(kLeastPixels, pixels / kPartOfFrame) / (kTile * kTile);
  SampleGrid grid{width, height, 0, 0};
  grid.wide = std::clamp(static_cast<int>(std::sqrt(static_cast<double>(tiles * width / height))),
                         1, width / kTile);
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
