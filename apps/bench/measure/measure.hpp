// Drives lanes and takes the time: one frame at a time, or several at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "apps/bench/measure/lane.hpp"

namespace zerorun::app::bench {

struct Limits {
  double seconds = 0.5;          ///< of one measurement
  double warm_up_seconds = 0.1;  ///< before it, not counted
  int frames = 0;                ///< exactly so many a measurement (and a repetition); 0: by time
  int repetitions = 9;           ///< of a throughput measurement
};

struct Series {
  std::vector<double> microseconds;  ///< a frame
  std::size_t frames_per_sample = 1;
};

/// start() and finish() of one frame after another, a sample each.
Result<Series> measure_latency(Lane& lane, std::size_t frame_count, const Limits& limits);

/// Repetitions of many frames on all lanes. Unless the limits say how many frames, it is a multiple
/// of `multiple`: whole batches.
Result<Series> measure_throughput(const std::vector<std::unique_ptr<Lane>>& lanes, Drive drive,
                                  std::size_t frame_count, std::size_t multiple,
                                  const Limits& limits);

}  // namespace zerorun::app::bench
