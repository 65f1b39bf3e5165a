// From what size on the fast CPU pipelines use several threads.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "codec/fast/cpu_target.hpp"
#include "codec/pipeline/decode_pipeline.hpp"

namespace zerorun {

struct ThreadLimits {
  /// A picture of fewer blocks is coded by one thread: waking another takes longer.
  std::int64_t blocks = 2400;
  /// Of an interval, for each thread that decodes parts of it.
  std::uint64_t part_bits = 128 << 10;
  /// Of the data, for each thread that removes stuffed bytes; one core takes 12 us for them.
  std::size_t piece_bytes = 64 << 10;
};

/// As the one of cpu_choice.hpp; tests choose lower limits.
std::unique_ptr<DecodePipeline> make_fast_decode_pipeline(int threads, CpuTarget target,
                                                          const ThreadLimits& limits);

}  // namespace zerorun
