// How busy each step of a command was, and which one was the wall: the step that all others waited
// for.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

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

#include "codec/base/device_spans.hpp"
#include "zerorun/convert.hpp"

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

/// The thread pool that takes a step. Steps of the same pool share its threads, so they are busy
/// one after another. Upload, kernels and download run at the same time: each counts as a pool of
/// its own, with a "thread" for each GPU.
enum class StepPool : std::uint8_t { reader, lanes, to_gpu, gpu, from_gpu, writer };
inline constexpr std::size_t kPoolCount = 6;

/// What the sentence about the wall calls things.
struct StepWords {
  std::string input = "input";  ///< "PNG files", "mjpeg video"
  std::string reading = "Reading the input";
  std::string output = "output";  ///< "PNG files"
  std::string coding = "Coding the frames";
};

struct StepUse {
  Step step = Step::read;
  int threads = 1;          ///< of its pool
  double busy_seconds = 0;  ///< of all threads together
  double percent = 0;       ///< of what these threads could have done, at most 100
  double pool_percent = 0;  ///< the same with all steps of the pool
};

struct StepReport {
  double seconds = 0;
  std::int64_t frames = 0;
  std::vector<StepUse> steps;  ///< those that were taken, in order
  std::optional<Step> wall;    ///< the step that took most of the busiest pool
  std::string sentence;        ///< about the wall; empty if nothing was measured

  /// "read 0 %, decode_input 97 %, code 3 %, write 1 %"
  std::string text() const;
  nlohmann::json json() const;
};

/// The time during which at least one span ran. Spans come in about the order of their beginnings.
class BusyTime {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void add(Time begin, Time end);
  double seconds() const;

 private:
  struct Span {
    Time begin, end;
  };
  /// Far more than the frames that can be on their way to a device at a time. Older spans are
  /// forgotten: a span that comes so late counts from their end.
  static constexpr std::size_t kMostOpen = 256;

  std::vector<Span> open_;  // in order, with gaps between them
  std::chrono::nanoseconds settled_{0};
  Time settled_until_ = Time::min();
};

/// Adds up the time that threads spend in steps. Any thread may add at any time.
class StepMeter {
 public:
  using Clock = std::chrono::steady_clock;

  StepMeter() { threads_.fill(1); }

  /// How many threads a pool has; 1 unless it is set. Call it before the steps begin.
  void set_threads(StepPool pool, int threads) noexcept;

  void add(Step step, Clock::duration busy) noexcept {
    busy_[index(step)].fetch_add(std::chrono::nanoseconds(busy).count(), std::memory_order_relaxed);
  }

  /// Adds what devices did while one thread coded a frame and waited for them. Frames of several
  /// lanes wait for each other, so the sum of their times would be more than a device was busy:
  /// times that overlap count once.
  void add_device(std::span<const DeviceSpan> spans);

  /// Of `frames` frames in `seconds`.
  StepReport report(double seconds, std::int64_t frames, const StepWords& words) const;

 private:
  double busy_seconds(Step step) const;
  static constexpr std::size_t index(Step step) noexcept { return static_cast<std::size_t>(step); }

  std::array<std::atomic<std::int64_t>, kStepCount> busy_{};  // nanoseconds
  std::array<int, kPoolCount> threads_{};
  mutable std::mutex device_mutex_;
  std::map<std::pair<Step, int>, BusyTime> on_device_;  // by step and device
};

/// The clock of one thread: each step lasts until the next one begins, or until the clock goes. In
/// the steps of a lane, converting samples is a step of its own. So is what devices do while a
/// frame is coded.
class StepClock {
 public:
  using TakeConverted = std::chrono::nanoseconds (*)();

  /// Without a meter it does nothing. `take_converted` says how long this thread converted samples
  /// since it was called last.
  explicit StepClock(StepMeter* meter, TakeConverted take_converted = io::take_convert_time)
      : meter_(meter), take_converted_(take_converted) {}
  ~StepClock() { end(); }
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

  void begin(Step step);

 private:
  void end();

  StepMeter* const meter_;
  const TakeConverted take_converted_;
  std::optional<Step> step_;
  std::optional<DeviceSpans> device_;  // while a frame is coded
  StepMeter::Clock::time_point start_;
};

}  // namespace zerorun::app
