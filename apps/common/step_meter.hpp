// How busy each step of a command was, and which one was the wall: the step that all others waited
// for.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>
#include <nlohmann/json.hpp>

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

#include "codec/base/step_times.hpp"
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

/// The thread pool that takes a step. Steps of the same pool share its threads, so they are busy
/// one after another. Upload, kernels and download run at the same time: each counts as a pool of
/// its own, with a "thread" for each GPU.
enum class StepPool : std::uint8_t { reader, lanes, to_gpu, gpu, from_gpu, writer };
inline constexpr std::size_t kPoolCount = 6;

struct StepFacts {
  const char* name;
  StepPool pool;
  const char* activity;  ///< the subject of the sentence, with members of StepWords
};
inline constexpr StepFacts kSteps[] = {{"read", StepPool::reader, "{reading}"},
                                       {"load", StepPool::lanes, "{reading}"},
                                       {"decode_input", StepPool::lanes, "Decoding the {input}"},
                                       {"convert", StepPool::lanes, "Converting the samples"},
                                       {"code", StepPool::lanes, "{coding}"},
                                       {"upload", StepPool::to_gpu, "Copying to the GPU"},
                                       {"kernels", StepPool::gpu, "Running the kernels of the GPU"},
                                       {"download", StepPool::from_gpu, "Copying from the GPU"},
                                       {"compress", StepPool::lanes, "Compressing the {output}"},
                                       {"store", StepPool::lanes, "Writing the output"},
                                       {"write", StepPool::writer, "Writing the output"}};
constexpr const StepFacts& facts_of(Step step) { return kSteps[static_cast<std::size_t>(step)]; }

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
  std::string text() const {
    std::string text;
    for (const StepUse& use : steps)
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", facts_of(use.step).name,
                          use.percent);
    return text;
  }
  nlohmann::json json() const {
    nlohmann::json list = nlohmann::json::array();
    for (const StepUse& use : steps)
      list.push_back({{"step", facts_of(use.step).name},
                      {"threads", use.threads},
                      {"busy_seconds", use.busy_seconds},
                      {"percent", use.percent},
                      {"pool_percent", use.pool_percent}});
    nlohmann::json json = {{"seconds", seconds}, {"steps", std::move(list)}};
    if (wall) json["wall"] = facts_of(*wall).name;
    if (!sentence.empty()) json["sentence"] = sentence;
    return json;
  }

  /// Sets `wall` and `sentence`.
  void find_wall(const StepWords& words) {
    // Compares the pools first: the steps of a pool share its threads, so their sum fills these.
    const auto most = std::ranges::max_element(
        steps, {}, [](const StepUse& use) { return std::pair(use.pool_percent, use.percent); });
    if (most == steps.end()) return;
    wall = most->step;
    const std::string subject =
        fmt::format(fmt::runtime(facts_of(*wall).activity), fmt::arg("reading", words.reading),
                    fmt::arg("input", words.input), fmt::arg("output", words.output),
                    fmt::arg("coding", words.coding));
    // Below this share no step held the others up: they waited for each other, or the run was too
    // short.
    constexpr double kWallPercent = 50.0;
    sentence =
        most->pool_percent < kWallPercent
            ? fmt::format(
                  "No step was busy most of the time. {} was the busiest, for {:.0f} % of it.",
                  subject, most->percent)
            : fmt::format("{} was the slowest step: {}.", subject, load(*most));
  }

 private:
  /// What the wall did: "it kept 15.6 of 16 threads busy".
  std::string load(const StepUse& use) const {
    const double rate = seconds > 0 ? static_cast<double>(frames) / seconds : 0.0;
    if (use.step == Step::read) return fmt::format("it delivered {:.1f} frames/s", rate);
    if (use.step == Step::write) return fmt::format("it took {:.1f} frames/s", rate);
    if (use.threads == 1) return fmt::format("it was busy {:.0f} % of the time", use.percent);
    return fmt::format("it kept {:.1f} of {} {} busy", use.percent * use.threads / 100.0,
                       use.threads,
                       facts_of(use.step).pool == StepPool::lanes ? "threads" : "GPUs");
  }
};

/// The time during which at least one span ran. Spans come in about the order of their beginnings.
class BusyTime {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void add(Time begin, Time end) {
    begin = std::max(begin, settled_until_);
    if (end <= begin) return;
    // Those that touch the new one become part of it.
    const auto first = std::ranges::lower_bound(open_, begin, {}, &Span::end);
    const auto last = std::ranges::upper_bound(first, open_.end(), end, {}, &Span::begin);
    if (first == last) {
      open_.insert(first, {begin, end});
    } else {
      first->begin = std::min(first->begin, begin);
      first->end = std::max(std::prev(last)->end, end);
      open_.erase(std::next(first), last);
    }
    if (open_.size() <= kMostOpen) return;
    settled_ += open_.front().end - open_.front().begin;
    settled_until_ = open_.front().end;
    open_.erase(open_.begin());
  }
  double seconds() const {
    std::chrono::nanoseconds all = settled_;
    for (const Span& span : open_) all += span.end - span.begin;
    return std::chrono::duration<double>(all).count();
  }

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
  void set_threads(StepPool pool, int threads) noexcept {
    threads_[static_cast<std::size_t>(pool)] = std::max(1, threads);
  }

  void add(Step step, Clock::duration busy) noexcept {
    busy_[static_cast<std::size_t>(step)].fetch_add(std::chrono::nanoseconds(busy).count(),
                                                    std::memory_order_relaxed);
  }

  /// Adds what devices did while one thread coded a frame and waited for them. Frames of several
  /// lanes wait for each other, so the sum of their times would be more than a device was busy:
  /// times that overlap count once.
  void add_device(std::span<const DeviceSpan> spans) {
    const std::lock_guard lock(device_mutex_);
    for (const DeviceSpan& span : spans) {
      // Upload, kernels and download follow each other in both enumerations.
      const int step = static_cast<int>(Step::upload) + static_cast<int>(span.step);
      on_device_[{static_cast<Step>(step), span.device}].add(span.begin, span.end);
      add(Step::code, span.begin - span.end);
    }
  }

  /// Of `frames` frames in `seconds`.
  StepReport report(double seconds, std::int64_t frames, const StepWords& words) const {
    const auto percent_of = [seconds](double busy, int threads) {
      return seconds > 0 ? std::min(100.0, 100.0 * busy / (seconds * threads)) : 0.0;
    };
    StepReport report{
        .seconds = seconds, .frames = frames, .steps = {}, .wall = {}, .sentence = {}};
    std::array<double, kPoolCount> pool_seconds{};
    for (std::size_t i = 0; i < std::size(kSteps); ++i) {
      const double busy = busy_seconds(static_cast<Step>(i));
      if (!(busy > 0)) continue;
      const auto pool = static_cast<std::size_t>(kSteps[i].pool);
      pool_seconds[pool] += busy;
      report.steps.push_back(
          {static_cast<Step>(i), threads_[pool], busy, percent_of(busy, threads_[pool]), 0.0});
    }
    for (StepUse& use : report.steps)
      use.pool_percent =
          percent_of(pool_seconds[static_cast<std::size_t>(facts_of(use.step).pool)], use.threads);
    report.find_wall(words);
    return report;
  }

 private:
  double busy_seconds(Step step) const {
    double busy = static_cast<double>(busy_[static_cast<std::size_t>(step)].load()) * 1e-9;
    const std::lock_guard lock(device_mutex_);
    for (const auto& [key, time] : on_device_)
      if (key.first == step) busy += time.seconds();
    return busy;
  }

  std::array<std::atomic<std::int64_t>, std::size(kSteps)> busy_{};  // nanoseconds
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

  void begin(Step step) {
    end();
    if (meter_ == nullptr) return;
    if (facts_of(step).pool == StepPool::lanes) static_cast<void>(take_converted_());
    if (step == Step::code) device_.emplace();
    step_ = step;
    start_ = StepMeter::Clock::now();
  }

 private:
  void end() {
    if (!step_) return;
    const StepMeter::Clock::duration all = StepMeter::Clock::now() - start_;
    StepMeter::Clock::duration converted{};
    if (facts_of(*step_).pool == StepPool::lanes)
      converted = std::min<StepMeter::Clock::duration>(take_converted_(), all);
    meter_->add(Step::convert, converted);
    meter_->add(*step_, all - converted);
    if (device_) meter_->add_device(device_->spans);
    device_.reset();
    step_.reset();
  }

  StepMeter* const meter_;
  const TakeConverted take_converted_;
  std::optional<Step> step_;
  std::optional<DeviceSpans> device_;  // while a frame is coded
  StepMeter::Clock::time_point start_;
};

}  // namespace zerorun::app
