// Coders that measure the time of each step. Internal: linked by the benchmark, not by the library.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "codec/pipeline/step_times.hpp"

namespace zerorun {

/// Which implementation is measured. Frames and streams lie in the memory that each names.
enum class StepWay {
  cpu,          ///< stages on one thread, a clock around each: host memory, a scan without headers
  cuda_staged,  ///< one kernel or more a stage: pinned host memory, a scan without headers
  cuda_fused,   ///< the product's kernels: device frames and, of the encoder, device streams
};

/// `like` has the format and the size of the frames.
/// Errors: those of Encoder::create() and Decoder::create(), out_of_memory, device_failure.
Result<std::unique_ptr<StepEncoder>> make_step_encoder(StepWay way, const EncodeParams& params,
                                                       const ConstFrameView& like);
Result<std::unique_ptr<StepDecoder>> make_step_decoder(StepWay way, const DecodeParams& params,
                                                       const ConstFrameView& like);

}  // namespace zerorun
