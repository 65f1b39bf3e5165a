// Codes the scans of progressive frames in device memory: the order of their kernels, and the
// memory that they share. A part of FrameEncoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "codec/pipeline/encode_pipeline.hpp"
#include "cuda/base/memory.hpp"
#include "cuda/base/step_probe.hpp"
#include "cuda/encode/scan_kernels.hpp"

namespace zerorun {

/// Keeps its memory from frame to frame.
class ScanCoder {
 public:
  /// For up to `frames` frames at once. `head`: SOI to SOF; empty: the streams are what stands
  /// between SOF and EOI. Returns when `head` and the plan have been read. Errors: out_of_memory,
  /// invalid_argument (restart intervals as CoefficientCoder).
  Status prepare(const ScriptShape& shape, std::span<const std::uint8_t> head, std::uint32_t frames,
                 cudaStream_t stream);

  /// Samples -> streams. `outputs`: one for each frame of `tiles`.
  Status code(const CodeTilesArgs& tiles, std::span<const FrameOutput> outputs, cudaStream_t stream,
              const StepProbe& probe) const;

 private:
  ScriptArgs args_{};
  DeviceBuffer<std::byte> memory_;
};

}  // namespace zerorun
