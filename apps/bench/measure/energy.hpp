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
#include "zerorun/status.hpp"

namespace zerorun::app::bench {

/// The calls of NVML that are used. Its header is not part of every toolkit; these calls have not
/// changed since they exist. Devices are named by their PCI bus ("0000:19:00.0"). One thread.
class Nvml {
 public:
  /// `library`: its file; a test has one of its own.
  explicit Nvml(const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Ok, or why nothing can be asked. Errors: no_device.
  const Status& status() const noexcept { return status_; }

  std::string driver_version() const;  ///< empty where NVML does not tell
  /// "1980 MHz, memory 2619 MHz" at this moment; empty where NVML does not tell.
  std::string clocks(const std::string& bus) const;
  /// Millijoules that the device took since its driver was loaded. Errors: no_device,
  /// device_unsuitable (it has no counter: it is older than Volta, or a part of a GPU).
  Result<std::uint64_t> millijoules(const std::string& bus) const;

 private:
  template <typename Function>
  Function* find(const char* name) const;
  /// Null where there is no such device.
  void* handle(const std::string& bus) const;

  void* library_;
  Status status_;
};

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
