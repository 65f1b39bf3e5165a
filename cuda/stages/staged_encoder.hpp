// The encoder's stages one after another on a device, with every intermediate array in memory.
// Tests and benchmarks compare the encoder of the product (cuda/encode/frame_encoder.hpp) with it.
// SPDX-License-Identifier: MIT
#pragma once

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
  std::uint8_t* packed;                ///< [interval_first_byte[intervals]]
  std::uint64_t* interval_first_byte;  ///< [intervals + 1]
  std::uint64_t* interval_bits;        ///< [intervals]
  std::uint8_t* scan;                  ///< [*scan_bytes]: the entropy-coded segment
  std::uint64_t* scan_bytes;           ///< one number
};

/// Keeps its memory between frames. The caller orders work on different streams.
class StagedEncoder {
 public:
  /// Enqueues all stages; `frame` is device memory. `probe` may be empty.
  Status enqueue(const EncodeSetup& setup, const ConstFrameView& frame, cudaStream_t stream,
                 const StepProbe& probe = {});

  const StagedEncodeArrays& arrays() const noexcept { return arrays_; }

 private:
  Status reserve(const EncodeSetup& setup);
  Status upload_tables(const EncodeSetup& setup, cudaStream_t stream);
  Status make_planes(const EncodeSetup& setup, const ConstFrameView& frame, Exec& exec,
                     const StepProbe& probe);
  Status make_symbols(const EncodeSetup& setup, Exec& exec, const StepProbe& probe);
  Status make_tables(const EncodeSetup& setup, Exec& exec, const StepProbe& probe);
  Status make_bits(const EncodeSetup& setup, Exec& exec, const StepProbe& probe);

  Scratch scratch_;  // of the stages
  Scratch memory_;   // of all that follow, in device memory
  std::uint8_t* planes_[kMaxComponents] = {};
  SymbolCounts* counts_ = nullptr;
  DivisorTables* divisors_ = nullptr;
  TuneRules* tune_ = nullptr;
  StagedEncodeArrays arrays_{};
  std::int64_t packed_capacity_ = 0, scan_capacity_ = 0;
};

}  // namespace zerorun
