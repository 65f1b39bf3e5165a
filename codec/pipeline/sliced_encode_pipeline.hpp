// What the two CPU encode pipelines share: slices of the scan, and the stream that they make.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/scan_slices.hpp"

namespace zerorun {

/// `SliceState` is what is kept of a slice between the steps.
template <typename SliceState>
class SlicedEncodePipeline : public EncodePipeline {
 public:
  Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                     std::array<HuffmanSpec, 4>& specs) final {
    load(setup, frame);
    return this->encode_again(setup, frame, specs);
  }

  Status count_symbols(const EncodeSetup& setup, const ConstFrameView& frame, bool is_again,
                       SymbolCounts& counts) final {
    if (!is_again) load(setup, frame);
    start(setup);
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
  /// Makes the component planes.
  virtual void load(const EncodeSetup& setup, const ConstFrameView& frame) = 0;
  /// Begins a coding or a counting of the planes.
  virtual void start(const EncodeSetup& setup) = 0;
  /// Keeps what the slices are coded from, and adds up how many symbols there are of each kind.
  virtual void count_slices(SymbolCounts& total) = 0;

  /// The blocks of the frame's components, to be filled: AC in zig-zag order.
  StoredBlocks* reserve_blocks() {
    for (int c = 0; c < layout().components; ++c) {
      const ScanLayout::Component& shape = layout().component[c];
      const std::int64_t blocks = std::int64_t{shape.blocks_wide} * shape.blocks_high;
      BlockMemory& memory = block_memory_[c];
      coefficients_.blocks[c] = {shape.blocks_wide, shape.blocks_high, memory.dc.reserve(blocks),
                                 memory.nonzero.reserve(blocks),
                                 memory.ac.reserve(blocks * kBlockSize)};
    }
    return coefficients_.blocks;
  }

  /// Codes them. `pool`: as for CoefficientCoder.
  Status code_progressive(ThreadPool* pool) {
    frame_.width = setup_->width;
    frame_.height = setup_->height;
    frame_.components.clear();
    for (int c = 0; c < layout().components; ++c) {
      const bool is_luma = c == 0;
      frame_.components.push_back(
          {c + 1, is_luma ? setup_->h_max : 1, is_luma ? setup_->v_max : 1, is_luma ? 0 : 1});
    }
    coefficients_.frame = &frame_;
    coefficients_.is_zigzag = true;
    scans_.clear();
    is_progressive_ = true;
    const int interval = setup_->restart_rows > 0 ? 0 : layout().restart_interval;
    return coder_.code_scans(coefficients_,
                             {CoefficientCoding::Scans::searched, interval, setup_->restart_rows},
                             pool, scans_);
  }

  void start_slices(const EncodeSetup& setup) {
    setup_ = &setup;
    is_progressive_ = false;
    plan_ = SlicePlan(setup.layout);
    if (states_.size() < static_cast<std::size_t>(plan_.count()))
      states_.resize(static_cast<std::size_t>(plan_.count()));
  }

  const ScanLayout& layout() const { return setup_->layout; }
  SliceState& state(std::int64_t slice) { return states_[static_cast<std::size_t>(slice)]; }

  const EncodeSetup* setup_ = nullptr;
  SlicePlan plan_;
  ScanPieces pieces_;
  ComponentPlanes planes_;

 private:
  struct BlockMemory {
    Buffer<std::int16_t> dc, ac;
    Buffer<std::uint64_t> nonzero;
  };

  std::vector<SliceState> states_;
  // Of a progressive stream.
  bool is_progressive_ = false;
  BlockMemory block_memory_[kMaxComponents];
  FrameHeader frame_;
  CoefficientFrame coefficients_;
  CoefficientCoder coder_;
  std::vector<std::uint8_t> scans_;
};

}  // namespace zerorun
