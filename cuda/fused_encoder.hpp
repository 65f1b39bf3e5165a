// The fast encoder: two kernels a frame with standard tables, five with optimal ones. Used for host
// frames (EncodePipeline) and for device frames (DeviceEncoder).
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>

#include "codec/core/encode_pipeline.hpp"
#include "cuda/fused/assemble.hpp"
#include "cuda/fused/code_tiles.hpp"
#include "cuda/fused/stream_tables.hpp"
#include "cuda/scratch.hpp"
#include "cuda/step_probe.hpp"

namespace zerorun {

/// Where a coded frame goes. Memory that the device can write: its own, or pinned host memory.
struct FusedOutput {
  std::uint8_t* out;
  std::uint64_t capacity;  ///< nothing is written behind it
  std::uint64_t* size;     ///< of the whole output, also where it does not fit
};

/// Keeps its memory between frames: 210 bytes a block, 360 with optimal tables. Work is enqueued on
/// one stream after another only where the caller orders them.
class FusedEncoder {
 public:
  /// What stands around the scan: SOI to SOS without the DHT segments, which belong behind the
  /// first `dht_place` bytes, and EOI. Without a call, or with no bytes, the scan comes alone.
  void set_header(std::span<const std::uint8_t> bytes, std::size_t dht_place);
  /// The header of a whole JPEG stream with these parameters.
  void set_header(const EncodeParams& params, const EncodeSetup& setup);

  /// Enqueues a frame in device memory. Nothing waits for the device, except when memory has to
  /// grow or size or tables change. `probe` may be empty.
  Status enqueue(const EncodeSetup& setup, const ConstFrameView& frame, const FusedOutput& output,
                 cudaStream_t stream, const StepProbe& probe = {});

  /// [kEncodeTables] in device memory: the tables of the frame enqueued last.
  const HuffmanSpec* specs() const noexcept { return specs_.data(); }

 private:
  Status prepare(const EncodeSetup& setup, cudaStream_t stream);
  Status reserve(const EncodeSetup& setup);
  Status upload(const EncodeSetup& setup, cudaStream_t stream);
  Status make_planes(const EncodeSetup& setup, const ConstFrameView& frame, cudaStream_t stream,
                     const StepProbe& probe, CodeTilesArgs& args);
  Status make_tables(const CodeTilesArgs& args, cudaStream_t stream, const StepProbe& probe);
  Status finish_tables(cudaStream_t stream);
  Status place_chunks(cudaStream_t stream, const StepProbe& probe);

  std::vector<std::uint8_t> header_;
  std::size_t dht_place_ = 0;
  std::unique_ptr<EncodeSetup> setup_;  // for which memory and tables are ready
  bool whole_ = false;  // the frame before was enqueued to its end: counts and states are clear
  TileGrid grid_{};
  int parity_ = 0;  // which of the numbers of chunks the next frame uses
  Scratch scratch_;
  DeviceBuffer<std::uint8_t> planes_[kMaxComponents];
  DeviceBuffer<ReciprocalTables> reciprocals_;
  DeviceBuffer<CodeTable> codes_;
  DeviceBuffer<HuffmanEncodeTables> tables_;
  DeviceBuffer<HuffmanSpec> specs_;
  DeviceBuffer<SymbolCounts> counts_;
  DeviceBuffer<std::uint8_t> header_parts_, header_whole_;
  DeviceBuffer<std::uint32_t> header_bytes_;
  DeviceBuffer<std::uint32_t> words_, tile_bits_, items_, item_count_;
  DeviceBuffer<std::uint64_t> chunk_first_bit_, scan_temp_;
  std::int64_t scan_temp_bytes_ = 0;
  DeviceBuffer<std::uint64_t> states_[2];      // one a chunk
  DeviceBuffer<std::uint32_t> chunk_bits_[2];  // likewise
};

/// Host frames through a FusedEncoder.
Result<std::unique_ptr<EncodePipeline>> make_fused_encode_pipeline(int device);

}  // namespace zerorun
