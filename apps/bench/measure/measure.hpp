// Drives runners and takes the time: one frame at a time, or several at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/measure/coder.hpp"
#include "apps/bench/measure/energy.hpp"

namespace zerorun::app::bench {

struct Limits {
  double seconds = 0.5;          ///< of one measurement
  double warm_up_seconds = 0.1;  ///< before it, not counted
  int frames = 0;                ///< of each measurement (and repetition), exactly; 0: by time
  int repetitions = 9;           ///< of a throughput measurement
};

/// Shows what is being done, on a terminal only and not with --quiet.
void tell(const std::string& what);

/// Measures all coders that can code a case. `command` measures the case again; the command of a
/// row adds --only to it. `energy` may be null.
CaseResult run_case(const Case& what, const FrameSet& frames, const Selection& selection,
                    const Limits& limits, const std::string& command,
                    EnergyBench* energy = nullptr);

/// start() and finish() of one frame after another, a sample each.
Status measure_latency(Runner& runner, std::size_t frame_count, const Limits& limits, Row& row);

/// Repetitions of many frames on all runners. Unless the limits say how many frames, it is a
/// multiple of `multiple`: whole batches.
Status measure_throughput(const std::vector<std::unique_ptr<Runner>>& runners, Drive drive,
                          std::size_t frame_count, std::size_t multiple, const Limits& limits,
                          Row& row);

/// The same frames once more, as many as take `seconds`, for the energy: row.energy. `counter` is
/// that of the row's device.
Status measure_energy(const std::vector<std::unique_ptr<Runner>>& runners, Drive drive,
                      std::size_t frame_count, std::size_t multiple, double seconds,
                      EnergyMeter& meter, EnergyCounter& counter, Row& row);

/// One frame after another, step by step.
Status measure_steps(const RunSteps& run, std::size_t frame_count, const Limits& limits, Row& row);

/// Calls `work` with 0 .. count - 1, each in a thread of its own, but 0 in the calling thread,
/// which may use that runner later. Returns the error of the smallest number.
Status in_threads(std::size_t count, const std::function<Status(std::size_t)>& work);

/// Every result is checked before it is timed. `quick`: only the large sizes, nothing to compare
/// with. Ends the command where a result is wrong (exit 6) or the device fails (exit 1).
/// Null in a build without CUDA.
[[gnu::weak]] std::vector<PrimitiveRow> measure_primitives(int device, bool quick);

}  // namespace zerorun::app::bench
