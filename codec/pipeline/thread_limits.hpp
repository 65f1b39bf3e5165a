// From what size on the fast CPU pipelines use several threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "codec/fast/cpu_target.hpp"
#include "codec/pipeline/decode_pipeline.hpp"

namespace zerorun {

struct StageTable;

struct ThreadLimits {
  /// A picture of fewer blocks is coded by one thread. With two threads instead of one (4:2:0, q90,
  /// two cores) encoding takes 1.25 times as long at 400x300, the same at 560x420, and 0.61 of the
  /// time at 800x600; decoding with restart markers 0.75 to 0.88 at 400x300 already; decoding
  /// without them 1.35 at 560x420 and the same at 800x600, which `part_bits` sees to.
  std::int64_t blocks = 5400;
  /// Of an interval, for each thread that decodes parts of it.
  std::uint64_t part_bits = 128 << 10;
  /// Of the data, for each thread that removes stuffed bytes.
  std::size_t piece_bytes = 64 << 10;
};

/// As the one of cpu_choice.hpp. Tests choose lower limits, and reference stages that count.
std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(int threads, CpuTarget target,
                                                          const ThreadLimits& limits,
                                                          const StageTable& reference);

}  // namespace zerorun
