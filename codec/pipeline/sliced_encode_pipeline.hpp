// What the two CPU encode pipelines share: slices of the scan, and the stream that they make.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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

  std::uint64_t scan_bytes() const final { return pieces_.bytes(); }

  Status copy_scan(std::byte* out) const final {
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

  void start_slices(const EncodeSetup& setup) {
    setup_ = &setup;
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
  std::vector<SliceState> states_;
};

}  // namespace zerorun
