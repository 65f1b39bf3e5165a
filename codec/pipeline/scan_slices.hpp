// How the CPU encode pipelines share out a frame: component planes, slices of the scan, and the
// finished pieces of its bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/encode/color_subsample.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

namespace zerorun {

/// MCUs that a worker codes at a time: enough that threads seldom meet, and so few that the
/// reference's blocks and symbols fit in a second-level cache of 256 KiB.
inline constexpr std::int64_t kSliceMcus = 256;

/// A slice is several short restart intervals, or a part of a long one.
struct Slice {
  std::int64_t first_mcu, mcus;
  std::int64_t first_interval, intervals;  ///< of a part: the one that it belongs to
  bool ends_interval;
};

class SlicePlan {
 public:
  SlicePlan() = default;
  explicit SlicePlan(const ScanLayout& layout);

  bool slices_are_parts() const { return per_interval_ > 0; }
  std::int64_t count() const { return count_; }
  Slice operator[](std::int64_t slice) const;
  /// Of an interval whose slices are parts.
  std::int64_t first_slice(std::int64_t interval) const { return interval * per_interval_; }
  std::int64_t end_slice(std::int64_t interval) const;

 private:
  std::int64_t mcus_ = 0, interval_mcus_ = 1;
  std::int64_t slice_mcus_ = 1;    // of every slice but the last of an interval or of the scan
  std::int64_t per_interval_ = 0;  // slices of an interval but the last; 0: slices are no parts
  std::int64_t count_ = 0;
};

/// A finished piece of the entropy-coded segment.
struct Piece {
  Buffer<std::uint8_t> bytes;
  std::uint64_t size = 0;
};

/// The pieces of a scan, in order. Their memory is reused.
class ScanPieces {
 public:
  void start(std::int64_t count);
  Piece& operator[](std::int64_t piece) { return pieces_[static_cast<std::size_t>(piece)]; }
  std::int64_t count() const { return static_cast<std::int64_t>(count_); }
  std::uint64_t bytes() const;
  void copy(std::byte* out) const;

 private:
  std::vector<Piece> pieces_;
  std::size_t count_ = 0;
};

/// The planes that the scan is made from: those of the caller's frame, or converted ones.
class ComponentPlanes {
 public:
  /// If the frame has to be converted: run(jobs, job) runs job(i, worker) for all i, which calls
  /// convert(args, worker) for a row of MCUs.
  template <typename Run, typename Convert>
  void make(const EncodeSetup& setup, const ConstFrameView& frame, const Run& run,
            const Convert& convert) {
    if (refer(setup, frame)) return;
    const ColorSubsampleArgs args = reserve(setup, frame);
    run(setup.layout.mcus_high, [&](std::int64_t mcu_row, int worker) {
      ColorSubsampleArgs rows = args;
      rows.first_row = static_cast<std::int32_t>(mcu_row) * args.row_count;
      convert(rows, worker);
    });
  }

  const ConstPlaneView* views() const { return planes_; }

 private:
  /// False: the frame's planes are not the components.
  bool refer(const EncodeSetup& setup, const ConstFrameView& frame);
  ColorSubsampleArgs reserve(const EncodeSetup& setup, const ConstFrameView& frame);

  Buffer<std::uint8_t> memory_[kMaxComponents];
  ConstPlaneView planes_[kMaxComponents];
};

}  // namespace zerorun
