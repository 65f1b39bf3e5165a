// Codes a picture again and again until its decoded samples are as near as was asked for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "codec/arith/quality_search.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

/// What codes and decodes a picture with a quality in 16ths. The decisions depend on these losses
/// alone, so that every backend writes the same bytes.
struct QualityCoders {
  std::function<Result<PictureLoss>(int)> whole;
  /// Codes a sample of the picture; whether it is near enough does not count. Empty: there is none.
  std::function<Result<PictureLoss>(int)> sample;
  std::uint64_t loss_wanted = 1;
  /// The expected ratio of the picture's loss to that of the sample.
  std::uint64_t whole_samples = 1, sample_samples = 1;
};

struct QualityOutcome {
  int quality_16ths;  ///< the lowest that `whole` said to be near enough; 0: kMostQuality is not
  int codings;        ///< calls of `whole`
};

/// Errors: those of the coders.
Result<QualityOutcome> reach_quality(const QualityCoders& coders);

}  // namespace zerorun
