// Codes a picture again and again until its stream has the size that was asked for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "codec/arith/size_search.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

struct CodedSize {
  std::uint64_t scan;   ///< bytes of the entropy-coded segment
  std::uint64_t total;  ///< of the stream
};

/// What codes a picture with a setting. The decisions depend on these sizes alone, so that every
/// backend writes the same bytes.
struct SizedCoders {
  std::function<Result<CodedSize>(const SizeSetting&)> whole;
  /// Codes a sample of the picture; returns the bytes of its scan. Empty: there is none.
  std::function<Result<std::uint64_t>(const SizeSetting&)> sample;
  /// Blocks of the picture and of its sample.
  std::uint64_t whole_blocks = 1, sample_blocks = 1;
};

struct SizeOutcome {
  SizeSetting setting;  ///< of the last call of `whole`
  int codings;          ///< calls of `whole`
};

/// Codes with the quality of `most` if its size is not above goal.max_bytes and there is no
/// goal.target_bytes; otherwise so that the size is at most 0.5 % below the target, or as near as
/// the picture can come, with no less thrift than `most` has; or the smallest stream of all where
/// goal.overrun_bytes allows it. Errors: size_not_reached, those of the coders.
Result<SizeOutcome> reach_size(const SizeGoal& goal, const SizeSetting& most,
                               const SizedCoders& coders);

}  // namespace zerorun
