// The clock is steady_clock on the host: what a caller of the coder would see.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/measure.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/common/timing.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {
namespace {

constexpr std::size_t kLeastFrames = 20, kMostFrames = 5000;

/// start(index) and finish() of one frame.
Status one_frame(Lane& lane, std::size_t index) {
  ZR_TRY(lane.start(index));
  return lane.finish();
}

class Crew {
 public:
  Crew(const std::vector<std::unique_ptr<Lane>>& lanes, Drive drive, std::size_t frame_count)
      : lanes_(lanes), drive_(drive), frame_count_(frame_count) {}

  /// The time of `frames` frames on all lanes.
  Result<double> run(std::size_t frames) {
    return drive_ == Drive::one_thread ? run_here(frames) : run_in_threads(frames);
  }

 private:
  Result<double> run_here(std::size_t frames) {
    const Stopwatch watch;
    for (std::size_t i = 0; i < frames; ++i)
      ZR_TRY(lanes_[i % lanes_.size()]->start(i % frame_count_));
    for (const auto& lane : lanes_) ZR_TRY(lane->finish());
    return watch.microseconds();
  }

  Result<double> run_in_threads(std::size_t frames) {
    std::atomic<std::size_t> next{0};
    std::optional<Stopwatch> watch;
    std::barrier ready(static_cast<std::ptrdiff_t>(lanes_.size()),
                       [&watch]() noexcept { watch.emplace(); });
    std::mutex mutex;
    Status first_error;
    const auto keep = [&](Status status) {
      const std::scoped_lock lock(mutex);
      if (first_error) first_error = std::move(status);
    };
    const auto drive = [&](Lane& lane) {
      Status status = lane.attach();
      ready.arrive_and_wait();
      while (status) {
        const std::size_t i = next.fetch_add(1);
        if (i >= frames) break;
        status = lane.start(i % frame_count_);
      }
      if (status) status = lane.finish();
      if (!status) keep(std::move(status));
    };
    std::vector<std::thread> threads;
    try {
      for (const auto& lane : lanes_) threads.emplace_back(drive, std::ref(*lane));
    } catch (const std::system_error&) {
      next = frames;  // those that were started wait for the others, and have nothing to do
      keep(Status(Errc::out_of_memory, "for so many threads"));
      for (std::size_t i = threads.size(); i < lanes_.size(); ++i) ready.arrive_and_drop();
    }
    for (std::thread& thread : threads) thread.join();
    if (!first_error) return first_error;
    return watch->microseconds();
  }

  const std::vector<std::unique_ptr<Lane>>& lanes_;
  Drive drive_;
  std::size_t frame_count_;
};

/// Warms up with more and more frames; returns the time of one as it is in the end.
Result<double> warm_up(Crew& crew, std::size_t least, double seconds) {
  const Stopwatch watch;
  for (std::size_t frames = least;; frames *= 2) {
    auto took = crew.run(frames);
    if (!took) return took;
    if (watch.seconds() >= seconds) return *took / static_cast<double>(frames);
  }
}

}  // namespace

Result<Series> measure_latency(Lane& lane, std::size_t frame_count, const Limits& limits) {
  ZR_TRY(lane.attach());
  const Stopwatch warming;
  for (std::size_t i = 0; i < frame_count || warming.seconds() < limits.warm_up_seconds; ++i)
    ZR_TRY(one_frame(lane, i % frame_count));
  Series series;
  const auto wanted = static_cast<std::size_t>(limits.frames);
  const Stopwatch whole;
  for (std::size_t i = 0;; ++i) {
    const bool enough = i >= kMostFrames || (i >= kLeastFrames && whole.seconds() > limits.seconds);
    if (wanted > 0 ? i >= wanted : enough) return series;
    const Stopwatch watch;
    ZR_TRY(one_frame(lane, i % frame_count));
    series.microseconds.push_back(watch.microseconds());
  }
}

Result<Series> measure_throughput(const std::vector<std::unique_ptr<Lane>>& lanes, Drive drive,
                                  std::size_t frame_count, std::size_t multiple,
                                  const Limits& limits) {
  Crew crew(lanes, drive, frame_count);
  const auto rounded = [multiple](std::size_t n) {
    return (n + multiple - 1) / multiple * multiple;
  };
  const std::size_t least = rounded(std::max(2 * lanes.size(), frame_count));
  const auto one = warm_up(crew, least, limits.warm_up_seconds);
  if (!one) return one.status();
  Series series;
  const double repetition = limits.seconds * 1e6 / limits.repetitions;
  series.frames_per_sample =
      limits.frames > 0
          ? static_cast<std::size_t>(limits.frames)
          : std::max(least, rounded(static_cast<std::size_t>(std::llround(repetition / *one))));
  for (int r = 0; r < limits.repetitions; ++r) {
    const auto took = crew.run(series.frames_per_sample);
    if (!took) return took.status();
    series.microseconds.push_back(*took / static_cast<double>(series.frames_per_sample));
  }
  return series;
}

}  // namespace zerorun::app::bench
