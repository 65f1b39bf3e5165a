// Counts and codes a picture until its stream has the size that was asked for. A small picture made
// of tiles of a large one stands for it where sizes are estimated.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "codec/arith/host_device.hpp"
#include "codec/arith/size_plan.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// Where the tiles lie. Plain data.
struct SampleGrid {
  /// Pixels. Tiles begin at multiples of it, where MCUs of every sampling do.
  static constexpr int kTile = 32;

  int frame_width, frame_height;
  int wide, high;  ///< tiles

  /// Nothing if the frame is so small or narrow that it is its own best sample.
  static std::optional<SampleGrid> of(int width, int height);

  /// Pixels of the frame before a column or row of tiles.
  ZR_HD int x(int column) const { return place(column, wide, frame_width); }
  ZR_HD int y(int row) const { return place(row, high, frame_height); }

 private:
  ZR_HD static int place(int i, int n, int length) {
    const std::int64_t room = length - kTile;
    const std::int64_t at = n == 1 ? room / 2 : room * i / (n - 1);
    return static_cast<int>(at / kTile * kTile);
  }
};

/// Copies tiles that are spread evenly over the frame to `sample`, which has its format and less
/// than a third of its pixels. False, and nothing is copied, where there is no SampleGrid. Errors:
/// those of Frame::reshape().
Result<bool> sample_tiles(const ConstFrameView& frame, Frame& sample);

/// What is asked of a picture. `whole` is the setup of the picture, `counted` the layout of what is
/// counted of it. Without params.size.target_bytes a stream of params.quality that has no more
/// than params.size.max_bytes stays as it is.
SizeTask make_size_task(const EncodeParams& params, const EncodeSetup& whole,
                        const ScanLayout& counted);

/// The size of a scan with these symbols and the setup's kind of Huffman tables.
CountedSize size_of_counts(const SymbolCounts& counts, const EncodeSetup& setup);

/// size_not_reached, for a plan that is done.
Status size_not_reached(const SizeTask& task, std::uint64_t least);

/// count(setting) returns a Result<CountedSize> of the picture with a setting, and code(setting)
/// one of the stream's bytes. The last coding is the stream. Returns how many there were. Errors:
/// size_not_reached, those of the functions.
template <typename Count, typename Code>
Result<int> reach_size(const SizeTask& task, const Count& count, const Code& code) {
  SizePlan plan;
  plan.start(task, kPhotoCurve);
  while (plan.step() != SizePlan::Step::done) {
    if (plan.step() == SizePlan::Step::count) {
      ZR_LET(counted, count(plan.setting()));
      plan.add_count(counted, kPhotoCurve);
    } else {
      ZR_LET(bytes, code(plan.setting()));
      plan.add_code(bytes, kPhotoCurve);
    }
  }
  if (!plan.is_reached()) return size_not_reached(task, plan.bytes());
  return plan.codings();
}

}  // namespace zerorun
