// The encoder for frames in device memory: two kernels for one or several frames with standard
// tables, four with optimal ones, seven for progressive frames. Host frames (EncodePipeline) and
// device frames (DeviceEncoder) both go through it.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/header_writer.hpp"
#include "cuda/base/launch_graphs.hpp"
#include "cuda/base/span_clock.hpp"
#include "cuda/encode/frame_kernels.hpp"

namespace zerorun {

/// A frame in device memory, and where its stream goes.
struct FrameJob {
  ConstFrameView frame;
  FrameOutput output;
};

/// Appends what the kernels' arguments depend on.
void append_job(LaunchGraphs::Key& key, const FrameJob& job);

/// For frames and setups.
bool same_size(const auto& a, const auto& b) {
  return a.format == b.format && a.width == b.width && a.height == b.height;
}

/// How many frames of `blocks` blocks one launch codes: enough to keep a GPU busy. More would need
/// memory for all of them and gain nothing.
int frames_of_launch(std::int64_t blocks);

/// Keeps its memory between frames: 210 bytes a block, 435 with optimal tables, some 700 if they
/// are progressive, for as many blocks as were coded at once. The caller orders work on different
/// streams.
class FrameEncoder {
 public:
  /// Makes enqueue() write whole JPEG streams with these parameters, instead of scans alone.
  void set_header(const EncodeParams& params, const EncodeSetup& setup);

  /// Enqueues frames of one shape, from one to frames_of_launch(). Waits for the device only when
  /// memory has to grow, or when size or tables change. `probe` may be empty.
  Status enqueue(const EncodeSetup& setup, std::span<const FrameJob> jobs, cudaStream_t stream,
                 const StepProbe& probe = {});
  Status enqueue(const EncodeSetup& setup, const ConstFrameView& frame, const FrameOutput& output,
                 cudaStream_t stream, const StepProbe& probe = {}) {
    const FrameJob job{frame, output};
    return enqueue(setup, {&job, 1}, stream, probe);
  }

  /// Enqueues the counting of a frame's symbols into `counts`, in pinned memory.
  Status enqueue_counts(const EncodeSetup& setup, const ConstFrameView& frame, SymbolCounts* counts,
                        cudaStream_t stream);

  /// Kernels in the place of collect_tiles() and code_collected_tiles().
  using TileKernel = std::function<Status(const CodeTilesArgs&, SymbolCounts*, cudaStream_t)>;
  /// Enqueues the coding of a frame with optimal tables whose items are not made of samples. The
  /// scan alone is written, but nothing where *`skip` becomes not 0. If the frame was coded,
  /// items_were_coded() has to follow, or the next call clears all memory.
  Status enqueue_items(const EncodeSetup& setup, const TileKernel& collect, const TileKernel& code,
                       const std::uint32_t* skip, const FrameOutput& output, cudaStream_t stream);
  void items_were_coded() {
    take_turns(1);
    complete_ = true;
  }

  /// Calls of enqueue() that launched a graph.
  std::uint64_t replays() const noexcept { return graphs_.replays(); }

  /// Whether frames of this size can be coded. Errors: out_of_memory.
  static Status check_size(const ScanLayout& layout);

  /// [kEncodeTables] in device memory: the tables of the first frame of the last call.
  const HuffmanSpec* specs() const noexcept { return specs_.data(); }

 private:
  /// It codes a frame several times: after bring_up_to_date(), in one or several attempts, also by
  /// a graph, by make_planes() and some code(), with other tables each time. All attempts begin
  /// with the same turn_.
  friend class SizedEncoder;

  /// Which states_ and chunk_bits_ the next launch uses, and how many frames have a part of these
  /// that is not clear.
  struct Turn {
    int parity;
    std::array<std::uint32_t, 2> used_frames;
  };

  Status bring_up_to_date(const EncodeSetup& setup, std::uint32_t frames, cudaStream_t stream);
  CodeTilesArgs tile_args(const EncodeSetup& setup, std::uint32_t frames);
  /// From planes to streams. `codes_change`: fixed Huffman tables may be others than before.
  Status code(const EncodeSetup& setup, const CodeTilesArgs& tiles, std::span<const FrameJob> jobs,
              bool codes_change, cudaStream_t stream, const StepProbe& probe);
  Status code_optimal(const CodeTilesArgs& tiles, const TileKernel& collect, const TileKernel& code,
                      cudaStream_t stream, const StepProbe& probe);
  Status assemble_streams(const CodeTilesArgs& tiles, std::span<const FrameJob> jobs,
                          cudaStream_t stream, const StepProbe& probe);
  Status code_all_scans(const CodeTilesArgs& tiles, std::span<const FrameJob> jobs,
                        cudaStream_t stream, const StepProbe& probe);
  void take_turns(std::uint32_t frames);
  std::size_t own() const { return static_cast<std::size_t>(turn_.parity); }
  std::size_t other() const { return own() ^ 1; }
  Status prepare(const EncodeSetup& setup, std::uint32_t frames, cudaStream_t stream);
  Status prepare_tiles(const EncodeSetup& setup, cudaStream_t stream);
  Status prepare_scans(const EncodeSetup& setup, cudaStream_t stream);
  Status reserve_items();
  Status upload_rules(const EncodeSetup& setup, cudaStream_t stream);
  Status make_planes(const EncodeSetup& setup, std::span<const FrameJob> jobs, cudaStream_t stream,
                     const StepProbe& probe, CodeTilesArgs& args);
  Status make_fixed_tables(const std::uint32_t* skip, cudaStream_t stream);
  /// Destinations of the code tables that a scan uses.
  int destinations() const { return setup_->layout.components == 1 ? 1 : 2; }

  std::vector<std::uint8_t> header_;  // the envelope's parts on the host
  HeaderPlaces places_{};             // in it
  StreamEnvelope envelope_{};         // its pointers are valid while setup_ is
  std::optional<EncodeSetup> setup_;  // memory and tables are ready for it
  std::uint32_t room_ = 0;            // likewise, for this many frames at once
  bool complete_ = false;  // the last launch was enqueued to its end: counts and states are clear
  TileGrid grid_{};
  Turn turn_{};
  LaunchGraphs graphs_;
  LaunchGraphs::Key key_;
  ScriptArgs scan_args_{};  // of progressive frames
  DeviceBuffer<std::byte> scan_memory_;
  DeviceBuffer<std::uint8_t> planes_[kMaxComponents], fitted_[kMaxComponents];
  DeviceBuffer<ReciprocalTables> reciprocals_;
  DeviceBuffer<TuneRules> tune_;
  DeviceBuffer<CodeTable> codes_;
  DeviceBuffer<HuffmanEncodeTables> tables_;
  DeviceBuffer<HuffmanSpec> specs_;
  DeviceBuffer<SymbolCounts> counts_;
  DeviceBuffer<std::uint8_t> header_parts_, headers_;
  DeviceBuffer<std::uint32_t> header_bytes_;
  DeviceBuffer<std::uint32_t> words_, tile_bits_, items_, item_count_;
  DeviceBuffer<std::uint64_t> states_[2];      // one a chunk
  DeviceBuffer<std::uint32_t> chunk_bits_[2];  // likewise
};

}  // namespace zerorun
