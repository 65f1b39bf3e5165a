// --device auto: the CPU or CUDA, from the size of the work; and CUDA's start beside other work.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

#include "apps/common/options.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app {

/// What a command does with the frames.
enum class Work { encode, decode };

/// What decides between the CPU and a GPU.
struct DeviceCosts {
  double cpu_seconds_per_megapixel;  ///< on one thread
  double gpu_seconds_per_megapixel;
  double start_seconds;  ///< a process on a GPU, longer than one on the CPU
};

/// The pixels from which a GPU is faster than `threads` threads; infinite if it never is.
double break_even_pixels(const DeviceCosts& costs, int threads) noexcept;

struct DeviceChoice {
  Backend backend = Backend::cpu;
  std::string reason;  ///< a clause after "because"
};

/// Chooses where a device seems to be there. `pixels` of all frames; nullopt if not known.
DeviceChoice choose_by_work(std::optional<double> pixels, int threads, const DeviceCosts& costs);

/// How devices are found and started; tests replace it.
struct DeviceProbe {
  std::function<Status()> presence;         ///< as cuda_presence()
  std::function<Status(int device)> start;  ///< makes the device ready for use
};
DeviceProbe real_devices(Work work);

/// Chooses a backend and starts CUDA in a thread, while the caller opens its input.
class DeviceStart {
 public:
  /// `pixels` of all frames, nullopt if not known. Ends the command with exit 5 if CUDA is asked
  /// for and certainly not there.
  DeviceStart(const DeviceOptions& asked, std::optional<double> pixels, Work work,
              DeviceProbe probe);
  /// Does not wait: a thread in CUDA's start is left behind, and the process ends by _Exit().
  ~DeviceStart();
  DeviceStart(const DeviceStart&) = delete;
  DeviceStart& operator=(const DeviceStart&) = delete;

  /// The device for a source that decodes JPEG itself. It may use the CPU if `auto` chose CUDA.
  DeviceOptions for_source() const;

  /// Waits until CUDA has started and gives the backend. Where `auto` chose CUDA and it did not
  /// start, that is the CPU. Ends the command with exit 5 if CUDA was asked for and did not start.
  Backend finish();

  /// After finish(), what coders are made with: `automatic` where that chose CUDA, so that they go
  /// on with the CPU where the device fails later.
  Backend for_coders() const noexcept;

  /// Prints what was chosen and why, once the command has opened its input and output: an error
  /// there stands alone.
  void tell() const;

 private:
  DeviceOptions asked_;
  DeviceChoice choice_;
  std::string fallback_;  ///< why CUDA is not used although it might have been
  std::future<Status> started_;
};

/// The pixels of INPUT, as far as names and sizes tell; one frame of it if `output` holds one.
std::optional<double> pixels_of(const InputOptions& input, const OutputOptions& output);

}  // namespace zerorun::app
