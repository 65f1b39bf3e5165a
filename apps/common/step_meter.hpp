// How busy each step of a command was, and which one was the wall: the step that all others waited
// for.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/busy_time.hpp"
#include "codec/base/device_spans.hpp"

namespace zerorun::app {

/// In the order in which a frame takes them.
enum class Step : std::uint8_t {
  read,          ///< the serial half of reading: all of it from a pipe, decoding of video, else
                 ///< which frame comes next
  load,          ///< the parallel half: bytes of a file into memory
  decode_input,  ///< the same, and PNG, TIFF, ... to samples
  convert,       ///< samples to others on the CPU, where that is a pass of its own, in and out
  code,          ///< zerorun's coding of a frame; on a GPU what a lane does beside waiting for it
  upload,        ///< a copy to the GPU is on its way, from pageable memory through pinned memory
  kernels,       ///< the GPU works on a frame
  download,      ///< as `upload`, back from the GPU
  compress,      ///< samples to PNG, TIFF, ..., and their bytes to a file
  store,         ///< the parallel half of writing: bytes to where their place is known
  write,         ///< the serial half: the rest in order
};
inline constexpr std::size_t kStepCount = 11;
const char* name(Step step) noexcept;

/// The crew that takes a step. Steps of the same crew share its threads, so they are busy one after
/// another. Upload, kernels and download run at the same time: each is a crew of its own, with a
/// "thread" for each GPU.
enum class Crew : std::uint8_t { reader, lanes, to_gpu, gpu, from_gpu, writer };
inline constexpr std::size_t kCrewCount = 6;

/// What the sentence about the wall calls things.
struct StepWords {
  std::string input = "input";  ///< "PNG files", "mjpeg video"
  std::string reading = "Reading the input";
  std::string output = "output";  ///< "PNG files"
  std::string coding = "Coding the frames";
};

struct StepUse {
  Step step = Step::read;
  int threads = 1;          ///< of its crew
  double busy_seconds = 0;  ///< of all threads together
  double percent = 0;       ///< of what these threads could have done, at most 100
  double crew_percent = 0;  ///< the same with all steps of the crew
};

struct StepReport {
  double seconds = 0;
  std::int64_t frames = 0;
  std::vector<StepUse> steps;  ///< those that were taken, in order
  std::optional<Step> wall;    ///< the step that took most of the busiest crew
  std::string sentence;        ///< about the wall; empty if nothing was measured

  /// "read 0 %, decode_input 97 %, code 3 %, write 1 %"
  std::string text() const;
  nlohmann::json json() const;
};

/// Adds up the time that threads spend in steps. Any thread may add at any time.
class StepMeter {
 public:
  using Clock = std::chrono::steady_clock;

  StepMeter() { threads_.fill(1); }

  /// How many threads a crew has; 1 unless it is set. Call it before the steps begin.
  void set_threads(Crew crew, int threads) noexcept;

  void add(Step step, Clock::duration busy) noexcept {
    busy_[index(step)].fetch_add(std::chrono::nanoseconds(busy).count(), std::memory_order_relaxed);
  }
  void add_seconds(Step step, double busy) noexcept {
    add(step, std::chrono::nanoseconds(static_cast<std::int64_t>(busy * 1e9)));
  }

  /// What devices did while one thread coded a frame and waited for them. Frames of several lanes
  /// wait for each other, so the sum of their times would be more than a device was busy: times
  /// that overlap count once.
  void add_device(std::span<const DeviceSpan> spans);

  /// Runs `work` and adds the time that it took.
  template <typename Body>
  auto time(Step step, const Body& work) {
    const Timer timer(*this, step);
    return work();
  }

  /// The same for work of which a part is a step of its own: `take_converted` says how long this
  /// thread converted samples since it was called last; what was before the work counts nowhere.
  template <typename Body, typename Take>
  auto time(Step step, const Body& work, const Take& take_converted) {
    static_cast<void>(take_converted());
    const Clock::time_point start = Clock::now();
    auto result = work();
    const Clock::duration all = Clock::now() - start;
    const Clock::duration converted = std::min<Clock::duration>(take_converted(), all);
    add(Step::convert, converted);
    add(step, all - converted);
    return result;
  }

  /// The same for the coding of a frame, with the work of devices as steps of their own.
  template <typename Body, typename Take>
  auto time_coding(const Body& work, const Take& take_converted) {
    const DeviceSpans device;
    auto result = time(Step::code, work, take_converted);
    add_device(device.spans);
    return result;
  }

  /// Of `frames` frames in `seconds`.
  StepReport report(double seconds, std::int64_t frames, const StepWords& words) const;

 private:
  class Timer {
   public:
    Timer(StepMeter& meter, Step step) noexcept : meter_(meter), step_(step) {}
    ~Timer() { meter_.add(step_, Clock::now() - start_); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    StepMeter& meter_;
    Step step_;
    Clock::time_point start_ = Clock::now();
  };

  double busy_seconds(Step step) const;
  static constexpr std::size_t index(Step step) noexcept { return static_cast<std::size_t>(step); }

  std::array<std::atomic<std::int64_t>, kStepCount> busy_{};  // nanoseconds
  std::array<int, kCrewCount> threads_{};
  mutable std::mutex device_mutex_;
  std::map<std::pair<Step, int>, BusyTime> on_device_;  // by step and device
};

}  // namespace zerorun::app
