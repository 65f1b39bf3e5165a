// Which instruction set the CPU backend uses, and its pipelines for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "codec/fast/cpu_target.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

namespace zerorun {

/// Errors: invalid_argument, where the machine lacks it.
Status validate_instruction_set(InstructionSet wanted);

/// `wanted`, or for `best` what the environment's ZERORUN_CPU names, or the best one below it that
/// there is; "best", nothing or another value: the best one. Read at each call.
CpuTarget chosen_cpu_target(InstructionSet wanted);

/// The pipelines of the chosen target: those of the reference stages for scalar. `wanted` is valid.
std::unique_ptr<EncodePipeline> make_chosen_encode_pipeline(int threads, InstructionSet wanted);
std::unique_ptr<DecodePipeline> make_chosen_decode_pipeline(int threads, InstructionSet wanted);

/// `target` is in cpu_targets() and not scalar.
std::unique_ptr<EncodePipeline> make_fast_encode_pipeline(int threads, CpuTarget target);
std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(int threads, CpuTarget target);

}  // namespace zerorun
