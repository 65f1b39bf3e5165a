// The encoder's stages one after another on a device: every intermediate array is there to be
// looked at. Frames are coded by the fused encoder (cuda/encode/frame_encoder.hpp); this is what it
// is compared with, in tests and in benchmarks.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>

#include "codec/encode/symbol_histogram.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/step_probe.hpp"

namespace zerorun {

/// Device arrays of the frame coded last, as the stage contracts describe them.
struct StagedEncodeArrays {
  ConstPlaneView plane[kMaxComponents];
  std::int16_t* zz;                    ///< [blocks][64]
  std::int16_t* diff;                  ///< [blocks]
  Symbol* symbols;                     ///< [block_first_symbol[blocks]]
  std::uint32_t* block_first_symbol;   ///< [blocks + 1]
  HuffmanEncodeTables* tables;         ///< one
  HuffmanSpec* specs;                  ///< [kEncodeTables]
  std::uint32_t* code;                 ///< as many as symbols
  std::uint8_t* code_bits;             ///< as many as symbols
  IndexEntry* entries;                 ///< of the scan index; null where it is not asked for
  std::uint8_t* packed;                ///< [interval_first_byte[intervals]]
  std::uint64_t* interval_first_byte;  ///< [intervals + 1]
  std::uint64_t* interval_bits;        ///< [intervals]
  std::uint8_t* scan;                  ///< [*scan_bytes]: the entropy-coded segment
  std::uint64_t* scan_bytes;           ///< one number
};

/// Keeps its memory between frames. Work is enqueued on one stream after another only where the
/// caller orders them.
class StagedEncoder {
 public:
  /// Enqueues all stages; `frame` is device memory. Nothing waits for the device, except when
  /// memory has to grow or the tables change. `probe` may be empty.
  Status enqueue(const EncodeSetup& setup, const ConstFrameView& frame, cudaStream_t stream,
                 const StepProbe& probe = {});

  const StagedEncodeArrays& arrays() const noexcept { return arrays_; }

 private:
  Status reserve(const EncodeSetup& setup);
  Status reserve_planes(const EncodeSetup& setup);
  Status upload_tables(const EncodeSetup& setup, cudaStream_t stream);
  Status upload_standard_tables(cudaStream_t stream);
  Status make_planes(const EncodeSetup& setup, const ConstFrameView& frame, Exec& exec,
                     const StepProbe& probe);
  Status make_symbols(const EncodeSetup& setup, Exec& exec, const StepProbe& probe);
  Status make_tables(const EncodeSetup& setup, Exec& exec, const StepProbe& probe);
  Status make_bits(const EncodeSetup& setup, Exec& exec, const StepProbe& probe);

  Scratch scratch_;
  DeviceBuffer<std::uint8_t> planes_[kMaxComponents];
  DeviceBuffer<DivisorTables> divisors_;
  std::unique_ptr<DivisorTables> uploaded_divisors_;
  DeviceBuffer<std::int16_t> zz_, diff_;
  DeviceBuffer<Symbol> symbols_;
  DeviceBuffer<std::uint32_t> block_first_symbol_;
  DeviceBuffer<SymbolCounts> counts_;
  DeviceBuffer<HuffmanEncodeTables> standard_tables_, optimal_tables_;
  DeviceBuffer<HuffmanSpec> standard_specs_, optimal_specs_;
  bool standard_uploaded_ = false;
  DeviceBuffer<std::uint32_t> code_;
  DeviceBuffer<std::uint8_t> code_bits_, packed_, scan_;
  DeviceBuffer<IndexEntry> entries_;
  DeviceBuffer<std::uint64_t> interval_first_byte_, interval_bits_, scan_bytes_;
  StagedEncodeArrays arrays_{};
  std::int64_t packed_capacity_ = 0, scan_capacity_ = 0;
};

}  // namespace zerorun
