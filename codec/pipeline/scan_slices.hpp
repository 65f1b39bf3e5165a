// What the two CPU encode pipelines share: component planes, slices of the scan, the finished
// pieces of its bytes, and the order of the steps.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/encode/bit_state.hpp"
#include "codec/encode/color_subsample.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
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
  /// What converts the first row of MCUs; nothing if the frame's planes are the components.
  std::optional<ColorSubsampleArgs> make(const EncodeSetup& setup, const ConstFrameView& frame);

  const ConstPlaneView* views() const { return planes_; }

 private:
  Buffer<std::uint8_t> memory_[kMaxComponents];
  ConstPlaneView planes_[kMaxComponents];
};

/// The bits of a slice that is a part, and the number of those before it in its interval.
struct PartBits {
  Buffer<std::uint8_t> packed;
  std::uint64_t packed_bits = 0, bits_before = 0;
};

/// `SliceState` is what is kept of a slice between the steps, a PartBits; `Scratch` a worker's
/// memory, with a buffer `packed`.
template <typename SliceState, typename Scratch>
class SlicedEncodePipeline : public EncodePipeline {
 public:
  /// Pictures of fewer than `least_blocks` are coded by one thread.
  SlicedEncodePipeline(int threads, std::int64_t least_blocks)
      : pool_(threads),
        scratch_(static_cast<std::size_t>(pool_.workers())),
        least_blocks_(least_blocks) {}

  Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                     std::array<HuffmanSpec, 4>& specs) final {
    load(setup, frame);
    return encode_again(setup, frame, specs);
  }

  Status encode_again(const EncodeSetup& setup, const ConstFrameView& /*frame*/,
                      std::array<HuffmanSpec, 4>& specs) final {
    start_slices(setup);
    if (setup.progressive) {
      StoredBlocks* const blocks = reserve_blocks();
      for_each_slice([this, blocks](std::int64_t i, Scratch& scratch) {
        store_blocks(plan_[i], scratch, blocks);
      });
      return code_progressive();
    }
    if (has_optimal_tables()) {
      SymbolCounts counts{};
      count_slices(counts);
      for (std::size_t t = 0; t < kEncodeTables; ++t)
        specs[t] = optimal_huffman_spec(counts.count[t]);
    } else {
      specs = *setup.fixed_specs;
    }
    code_slices(specs);
    if (plan_.slices_are_parts()) join_parts();
    return Status::ok();
  }

  Status count_symbols(const EncodeSetup& setup, const ConstFrameView& frame, bool is_again,
                       SymbolCounts& counts) final {
    if (!is_again) load(setup, frame);
    start_slices(setup);
    counts = {};
    count_slices(counts);
    return Status::ok();
  }

  std::uint64_t scan_bytes() const final {
    return is_progressive_ ? scans_.size() : pieces_.bytes();
  }

  Status copy_scan(std::byte* out) const final {
    if (is_progressive_)
      std::memcpy(out, scans_.data(), scans_.size());
    else
      pieces_.copy(out);
    return Status::ok();
  }

 protected:
  /// Converts rows of the frame to component planes.
  virtual void convert(const ColorSubsampleArgs& rows, Scratch& scratch) = 0;
  /// Begins a coding or a counting of the planes.
  virtual void start() {}
  /// Keeps what the slices are coded from, and adds up how many symbols there are of each kind.
  virtual void count_slices(SymbolCounts& total) = 0;
  /// Codes the slices, which have been counted if tables are optimal: to pieces or, of slices that
  /// are parts, to what join_parts() makes pieces of.
  virtual void code_slices(const std::array<HuffmanSpec, 4>& specs) = 0;
  /// Stuffs an interval, which the slice ends, or else a part of one.
  virtual void stuff_part(const std::uint8_t* bytes, std::uint64_t size, const Slice& slice,
                          Piece& piece) = 0;
  /// Stores the blocks of a slice that hold samples. `blocks`: one a component; AC in zig-zag
  /// order.
  virtual void store_blocks(const Slice& slice, Scratch& scratch, const StoredBlocks* blocks) = 0;

  template <typename Job>
  void run_jobs(std::int64_t jobs, const Job& job) {
    run_on(workers(), jobs,
           [&](std::int64_t i, int worker) { job(i, scratch_[static_cast<std::size_t>(worker)]); });
  }
  template <typename Job>
  void for_each_slice(const Job& job) {
    run_jobs(plan_.count(), job);
  }

  const ScanLayout& layout() const { return setup_->layout; }
  bool has_optimal_tables() const { return setup_->huffman == HuffmanTables::optimal; }
  SliceState& state(std::int64_t slice) { return states_[static_cast<std::size_t>(slice)]; }

  const EncodeSetup* setup_ = nullptr;
  SlicePlan plan_;
  ScanPieces pieces_;
  ComponentPlanes planes_;
  ThreadPool pool_;
  std::vector<Scratch> scratch_;  ///< one a worker

 private:
  /// Each part begins in the middle of a byte, with the last bits of the part before it, and leaves
  /// its own last bits to the next part; it has kSliceMcus MCUs, so more than a byte.
  void join_parts() {
    std::uint64_t before = 0;
    for (std::int64_t i = 0; i < plan_.count(); ++i) {
      state(i).bits_before = before;
      before = plan_[i].ends_interval ? 0 : before + state(i).packed_bits;
    }
    for_each_slice([this](std::int64_t i, Scratch& scratch) {
      const Slice slice = plan_[i];
      const std::uint64_t bits = state(i).packed_bits, lead = state(i).bits_before % 8;
      std::uint8_t* const joined = scratch.packed.reserve(static_cast<std::int64_t>(bits / 8 + 32));
      BitState out{joined};
      if (lead > 0)
        out.append(state(i - 1).packed.data(), state(i - 1).packed_bits - lead,
                   state(i - 1).packed_bits);
      out.append(state(i).packed.data(), 0, bits);
      out.flush(~std::uint64_t{0});
      const auto size = static_cast<std::uint64_t>(out.out - joined);
      stuff_part(joined, slice.ends_interval ? size : (lead + bits) / 8, slice, pieces_[i]);
    });
  }

  /// Makes the component planes.
  void load(const EncodeSetup& setup, const ConstFrameView& frame) {
    setup_ = &setup;
    const auto first = planes_.make(setup, frame);
    if (!first) return;
    run_jobs(layout().mcus_high, [&](std::int64_t mcu_row, Scratch& scratch) {
      ColorSubsampleArgs rows = *first;
      rows.first_row = static_cast<std::int32_t>(mcu_row) * rows.row_count;
      convert(rows, scratch);
    });
  }

  /// The blocks of the frame's components, to be filled: AC in zig-zag order.
  StoredBlocks* reserve_blocks() {
    frame_.width = setup_->width;
    frame_.height = setup_->height;
    frame_.components.clear();
    for (int c = 0; c < layout().components; ++c) {
      const bool is_luma = c == 0;
      frame_.components.push_back(
          {c + 1, is_luma ? setup_->h_max : 1, is_luma ? setup_->v_max : 1, is_luma ? 0 : 1});
    }
    measure(frame_);
    stored_.clear(frame_);
    return stored_.blocks();
  }

  /// Codes them.
  Status code_progressive() {
    coefficients_.frame = &frame_;
    std::copy_n(stored_.blocks(), kMaxComponents, coefficients_.blocks);
    coefficients_.is_zigzag = true;
    scans_.clear();
    is_progressive_ = true;
    const int interval = setup_->restart_rows > 0 ? 0 : layout().restart_interval;
    return coder_.code_scans(coefficients_,
                             {CoefficientCoding::Scans::searched, interval, setup_->restart_rows},
                             workers(), scans_);
  }

  /// Null: one thread codes the picture.
  ThreadPool* workers() { return layout().blocks() < least_blocks_ ? nullptr : &pool_; }

  void start_slices(const EncodeSetup& setup) {
    setup_ = &setup;
    is_progressive_ = false;
    plan_ = SlicePlan(setup.layout);
    if (states_.size() < static_cast<std::size_t>(plan_.count()))
      states_.resize(static_cast<std::size_t>(plan_.count()));
    pieces_.start(plan_.count());
    start();
  }

  const std::int64_t least_blocks_;
  std::vector<SliceState> states_;
  // Of a progressive stream.
  bool is_progressive_ = false;
  FrameHeader frame_;
  StoredFrame stored_;
  CoefficientFrame coefficients_;
  CoefficientCoder coder_;
  std::vector<std::uint8_t> scans_;
};

}  // namespace zerorun
