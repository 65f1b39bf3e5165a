// Blocks of a progressive frame -> samples, by the decoder's transform kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "codec/decode/progressive_scan.hpp"
#include "codec/fast/scan_decoder.hpp"

namespace zerorun::fast {

/// Keeps its memory from frame to frame.
class StoredTransform {
 public:
  explicit StoredTransform(CpuTarget target) : kernels_(decode_kernels(target)) {}

  /// Comes first; afterwards `workers` threads may call transform_row().
  void begin(int workers);
  /// Transforms one row of blocks of the plane. Products with `dequant` may need more than 16 bits.
  void transform_row(const StoredBlocks& blocks, std::int32_t row, const DequantRows& dequant,
                     const SamplePlane& plane, int worker);

 private:
  const DecodeKernels& kernels_;
  std::vector<std::unique_ptr<CoefficientRun>> runs_;  // one a worker
};

}  // namespace zerorun::fast
