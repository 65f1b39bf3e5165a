// Which instruction set the CPU backend uses, its pipelines for it, and from what size on they use
// several threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"

namespace zerorun {

struct ThreadLimits {
  /// A picture of fewer blocks is coded by one thread. With two threads encoding takes as long as
  /// with one at 560x420, 1.25 times as long at 400x300, and 0.61 of the time at 800x600 (4:2:0,
  /// q90); decoding without restart markers 1.35 at 560x420, which `part_bits` sees to.
  std::int64_t blocks = 5400;
  /// Least bits of an interval for each thread that decodes parts of it.
  std::uint64_t part_bits = 128 << 10;
  /// Least bytes of the data for each thread that removes stuffed bytes.
  std::size_t piece_bytes = 64 << 10;
};

/// Errors: invalid_argument, where the machine lacks it.
Status validate_instruction_set(InstructionSet wanted);

/// `wanted`, or for `best` what the environment's ZERORUN_CPU names, or the best one below it that
/// there is; "best", nothing or another value: the best one. Read at each call.
InstructionSet chosen_cpu_target(InstructionSet wanted);

/// The pipelines of the chosen target: those of the reference stages for scalar. `wanted` is valid.
std::unique_ptr<EncodePipeline> make_chosen_encode_pipeline(int threads, InstructionSet wanted);
std::unique_ptr<DecodePipeline> make_chosen_decode_pipeline(int threads, InstructionSet wanted);

/// `target` is in instruction_sets() and not scalar.
std::unique_ptr<EncodePipeline> make_fast_encode_pipeline(int threads, InstructionSet target);
/// Tests choose lower limits, and reference stages that count.
std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(
    int threads, InstructionSet target, const ThreadLimits& limits = {},
    const StageTable& reference = cpu_stages());

}  // namespace zerorun
