// `zerorun bench --tune`: the best sizes for the user's own GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codec/base/tuning_policy.hpp"

namespace zerorun::app::bench {

/// A size and the values that are tried for it.
struct TuneStep {
  Tunable tunable;
  std::vector<std::int64_t> candidates;  ///< the first one is that of tuning.hpp
};

/// A candidate and the median of its times.
struct TunedCandidate {
  std::int64_t value = 0;
  double microseconds = 0;  ///< a frame
};

struct TunedSize {
  Tunable tunable = Tunable::lanes;
  std::string work;                        ///< what was measured
  std::vector<TunedCandidate> candidates;  ///< in the order of the step; empty: not measured
  std::int64_t chosen = 0;
  std::string reason;  ///< why nothing was measured; empty: it was
};

struct TuneResult {
  TuningPolicy policy;  ///< only sizes that differ from those of tuning.hpp
  std::vector<TunedSize> sizes;
  double seconds = 0;
};

/// What measures. Tests replace it.
struct TuneBench {
  std::vector<TuneStep> steps;
  /// Prepares the frames by which a size is judged, and says what they are.
  std::function<Result<std::string>(Tunable tunable)> prepare;
  /// Microseconds a frame with the policy; takes some 0.1 s.
  std::function<Result<double>(Tunable tunable, const TuningPolicy& policy)> measure;
  std::function<double()> seconds;  ///< a clock
};

/// A candidate must be faster than the size of tuning.hpp by this part: less is noise.
inline constexpr double kLeastGain = 0.02;
/// No further step is begun after this time, and no further round of a step.
inline constexpr double kMostTuneSeconds = 50;

/// Measures one size after another, each with those that were chosen before it. All candidates of a
/// size take turns, so that a GPU that becomes warmer slows all of them. A candidate with which
/// measure() fails is left out.
TuneResult tune(const TuneBench& bench);

/// What is measured on a GPU. Null in a build without CUDA.
[[gnu::weak]] TuneBench cuda_tune_bench(int device);

/// A table of the candidates, and what was chosen.
std::string tune_text(const std::string& device, const TuneResult& result);

}  // namespace zerorun::app::bench
