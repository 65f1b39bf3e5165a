// Codes frames in device memory to a size, without a round trip to the host: the device counts,
// codes, and decides by SizePlan what comes next. Kernels that are not needed skip their work. Host
// frames (EncodePipeline) and device frames (DeviceEncoder) both go through it.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "codec/pipeline/sample_tiles.hpp"
#include "cuda/base/launch_chain.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "cuda/encode/frame_kernels.hpp"

namespace zerorun {

/// Keeps its memory between frames: some 100 KB and a 32nd of a large frame besides that of a
/// FrameEncoder. The caller orders work on different streams.
class SizedEncoder {
 public:
  /// Frames to come are those of `setup`, which was made of `params`; the size is in bytes. Params
  /// differ from those of the call before in size and quality alone. Such another size costs some
  /// microseconds, another shape memory and tables.
  Status set(const EncodeParams& params, const EncodeSetup& setup);

  /// Enqueues a frame. *job.output.size becomes 0 if no stream is so small; `out` then holds no
  /// stream. `outcome` may be null; else it is in device or pinned memory.
  Status enqueue(const FrameJob& job, SizedCoding* outcome, cudaStream_t stream);

 private:
  Status set_shape(const EncodeParams& params, const EncodeSetup& setup);
  void set_size(const EncodeParams& params);
  Status prepare(cudaStream_t stream);
  Status launch(const FrameJob& job, SizedCoding* outcome, int codings, cudaStream_t stream);
  Status sample_planes(const CodeTilesArgs& planes, cudaStream_t stream, CodeTilesArgs& counted);
  SearchSizeArgs search_args(const CodeTilesArgs& counted) const;
  const SizeTask& task() const { return tables_on_host_[0].task; }

  FrameEncoder encoder_;
  std::optional<EncodeSetup> setup_;  // of the setting with the most bytes
  SizeGoal size_;                     // what the task was made of
  int quality_ = 0;
  std::optional<SampleGrid> grid_;  // nothing: frames are counted whole
  ScanLayout counted_{};
  bool is_ready_ = false;  // the device's memory is that of the shape, and of a frame's beginning
  bool has_task_ = false;  // the device has the task
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
