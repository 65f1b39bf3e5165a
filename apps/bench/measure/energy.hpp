// The energy that frames take: counters of GPUs (NVML) and of CPUs (RAPL), and what a run adds to
// them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/result.hpp"

namespace zerorun::app::bench {

/// A counter of joules.
class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  /// Joules since some moment, the same for all calls. Errors: why it cannot be read.
  virtual Result<double> joules() = 0;
};

/// Of the GPU at a PCI bus. `library` as Nvml's. Errors: those of Nvml::millijoules().
Result<std::unique_ptr<EnergyCounter>> open_nvml_counter(const std::string& bus,
                                                         const char* library);

/// Of all packages of CPUs (RAPL). `folder` is the system's, /sys/class/powercap. Its counters
/// begin again at 0 after some minutes, so joules() must be called at least once a minute. Errors:
/// no_device (there is none), open_failed (only the administrator may read it).
Result<std::unique_ptr<EnergyCounter>> open_rapl_counter(const std::string& folder);

/// What one frame takes. `idle_watts` is the power while nothing runs.
FrameEnergy energy_of(double joules, double seconds, double frames, double idle_watts);

/// Counters, and the power that each shows while nothing runs.
class EnergyMeter {
 public:
  /// Waits `idle_seconds` at the first measurement of a counter, to see the power of an idle
  /// machine.
  explicit EnergyMeter(double idle_seconds) : idle_seconds_(idle_seconds) {}
  virtual ~EnergyMeter() = default;

  /// Calls run(), which codes `frames` frames and takes seconds: the energy is that between two
  /// looks at the counter, which NVML renews every 0.1 s. Errors: those of the counter and of
  /// run().
  Result<FrameEnergy> measure(const std::string& source, EnergyCounter& counter, double frames,
                              const std::function<Status()>& run);

 protected:
  /// The clock, and a wait; tests replace both.
  virtual double now() const;
  virtual void wait(double seconds) const;

 private:
  Result<double> idle_watts(const std::string& source, EnergyCounter& counter);

  double idle_seconds_;
  std::vector<std::pair<std::string, double>> idle_;
};

/// The counter of "cpu", "cuda:N" or "cuda:N,M", the sum of several; made once, or why there is
/// none.
class EnergyCounters {
 public:
  Result<EnergyCounter*> find(const std::string& device);

 private:
  struct Entry {
    std::string device;
    Result<std::unique_ptr<EnergyCounter>> counter;
  };
  std::vector<Entry> entries_;
};

/// --energy: what is kept from row to row.
struct EnergyBench {
  double seconds = 2;  ///< of a measurement: twenty times as long as a counter of NVML stands still
  EnergyMeter meter{1};
  EnergyCounters counters;
};

/// The PCI bus of a CUDA device. Null in a build without CUDA.
[[gnu::weak]] Result<std::string> cuda_bus(int device);

}  // namespace zerorun::app::bench
