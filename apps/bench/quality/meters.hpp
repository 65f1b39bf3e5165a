// The meters of `bench --curves`: on the CPU, on a GPU, or on both beside each other.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/quality/cuda/cuda_meter.hpp"
#include "apps/bench/quality/metrics.hpp"
#include "apps/common/timing.hpp"

namespace zerorun::app::bench {

struct Options;
struct Selection;

/// Where pictures are measured.
struct MeterChoice {
  bool cpu = true;
  std::optional<int> cuda;
  bool automatic = true;  ///< without a GPU that can do it, the CPU takes its place
};

/// The first GPU of --device, or of the machine without it; the CPU where there is none, and beside
/// it where --device names both.
MeterChoice choose_meters(const Options& options, const Selection& selection);

/// What a meter took for a picture.
struct MeterTime {
  std::string device;  ///< "cpu", "cuda:0"
  std::size_t pictures = 0;
  double median_ms = 0;
};

/// How a meter on a GPU is made; tests replace it.
using MakeCudaMeter = std::function<Result<std::unique_ptr<rd::CudaMeter>>(int device)>;
/// That of this build; an error in a build without CUDA.
MakeCudaMeter real_cuda_meter();

class Meters {
 public:
  /// Ends the command if a GPU was asked for and cannot be used.
  Meters(const MeterChoice& choice, const MakeCudaMeter& make_cuda);

  /// Later pictures are compared with this one. Do not call it while measure() runs.
  void set_original(const rd::Image& original);
  /// `distorted` has the size of the original. From several threads at once. Ends the command if a
  /// device fails, or if two meters do not agree.
  rd::Scores measure(const rd::Image& distorted);

  /// Of the meters that measured something.
  std::vector<MeterTime> times() const;
  /// Why the CPU took the place of a GPU; empty where it did not.
  const std::string& note() const noexcept { return note_; }

 private:
  void take_cpu_instead(const Status& status);
  rd::Scores measure_cpu(const rd::Image& distorted);
  rd::Scores measure_cuda(const rd::Image& distorted);

  MeterChoice choice_;
  std::string note_;
  std::optional<rd::Meter> cpu_;
  std::unique_ptr<rd::CudaMeter> cuda_;  ///< null once the CPU took its place
  std::mutex cuda_lock_, times_lock_;
  FrameTimes cpu_times_, cuda_times_;
};

}  // namespace zerorun::app::bench
