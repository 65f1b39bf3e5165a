// Codes frames in device memory to a size, without a round trip to the host: the device counts,
// codes, and decides by SizePlan what comes next. What is not needed in the end is skipped.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "codec/pipeline/sample_tiles.hpp"
#include "cuda/base/launch_graphs.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "cuda/encode/search_size.hpp"

namespace zerorun {

/// Keeps its memory between frames: some 100 KB, and a 32nd of a large frame. The caller orders
/// work on different streams.
class SizedEncoder {
 public:
  /// `params` has a size in bytes. `setup` is that of frames to come; becomes that of the setting
  /// with the most bytes.
  Status set_shape(const EncodeParams& params, EncodeSetup& setup);

  /// Enqueues a frame of that shape. *job.output.size becomes 0 if no stream is so small; `out`
  /// then holds no stream. `encoder` has the header of `setup`, which set_shape() made.
  Status enqueue(const EncodeSetup& setup, FrameEncoder& encoder, const FrameJob& job,
                 cudaStream_t stream);

 private:
  Status prepare(cudaStream_t stream);
  Status launch(const EncodeSetup& setup, FrameEncoder& encoder, const FrameJob& job,
                cudaStream_t stream);
  Status sample_planes(const EncodeSetup& setup, const CodeTilesArgs& planes, cudaStream_t stream,
                       CodeTilesArgs& counted);
  SearchSizeArgs search_args(const EncodeSetup& setup, const FrameEncoder& encoder,
                             const CodeTilesArgs& counted, const FrameJob& job) const;
  std::uint64_t plane_bytes(int component) const;
  int codings() const { return SizePlan::most_codings(tables_on_host_[0].task); }

  std::optional<SampleGrid> grid_;  // nothing: frames are counted whole
  ScanLayout counted_{};
  bool is_ready_ = false;  // the device's memory is that of the shape, and of a frame's beginning
  bool is_plain_first_ = false;
  int phase_ = 0;                           // which of states_ a frame begins with
  std::vector<SizeTables> tables_on_host_;  // one
  LaunchGraphs graphs_;
  DeviceBuffer<SizeTables> tables_;
  DeviceBuffer<SizeState> states_;     // two
  DeviceBuffer<SymbolCounts> counts_;  // three
  DeviceBuffer<std::uint64_t> coded_;
  DeviceBuffer<std::uint32_t> skip_;
  DeviceBuffer<std::uint8_t> planes_[kMaxComponents];
};

}  // namespace zerorun
