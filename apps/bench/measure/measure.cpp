// The clock is steady_clock on the host: what a caller of the coder would see.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/measure.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "apps/bench/measure/statistics.hpp"
#include "apps/common/timing.hpp"
#include "codec/arith/integer.hpp"

namespace zerorun::app::bench {
namespace {

constexpr std::size_t kLeastFrames = 20, kMostFrames = 5000;

Status too_many_threads() { return Status(Errc::out_of_memory, "for so many threads"); }

class Crew {
 public:
  Crew(const std::vector<std::unique_ptr<Runner>>& runners, Drive drive, std::size_t frame_count)
      : runners_(runners), drive_(drive), frame_count_(frame_count) {}

  /// The time of `frames` frames on all runners.
  Result<double> run(std::size_t frames) {
    return drive_ == Drive::one_thread ? run_here(frames) : run_in_threads(frames);
  }

 private:
  Result<double> run_here(std::size_t frames) {
    const Stopwatch watch;
    for (std::size_t i = 0; i < frames; ++i)
      ZR_TRY(runners_[i % runners_.size()]->start(i % frame_count_));
    for (const auto& runner : runners_) ZR_TRY(runner->finish());
    return watch.microseconds();
  }

  Result<double> run_in_threads(std::size_t frames) {
    std::atomic<std::size_t> next{0};
    std::optional<Stopwatch> watch;
    std::barrier ready(static_cast<std::ptrdiff_t>(runners_.size()),
                       [&watch]() noexcept { watch.emplace(); });
    std::vector<Status> found(runners_.size());
    const auto drive = [&](std::size_t number) {
      Runner& runner = *runners_[number];
      Status status = runner.attach();
      ready.arrive_and_wait();
      while (status) {
        const std::size_t i = next.fetch_add(1);
        if (i >= frames) break;
        status = runner.start(i % frame_count_);
      }
      found[number] = status ? runner.finish() : std::move(status);
    };
    std::vector<std::thread> threads;
    try {
      for (std::size_t i = 0; i < runners_.size(); ++i) threads.emplace_back(drive, i);
    } catch (const std::system_error&) {
      next = frames;  // the threads that started wait for the others, and have nothing to do
      for (std::size_t i = threads.size(); i < runners_.size(); ++i) {
        ready.arrive_and_drop();
        found[i] = too_many_threads();
      }
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& status : found) ZR_TRY(status);
    return watch->microseconds();
  }

  const std::vector<std::unique_ptr<Runner>>& runners_;
  Drive drive_;
  std::size_t frame_count_;
};

/// Warms up with more and more frames; returns the time of one frame in the last round.
Result<double> warm_up(Crew& crew, std::size_t least, double seconds) {
  const Stopwatch watch;
  for (std::size_t frames = least;; frames *= 2) {
    auto took = crew.run(frames);
    if (!took) return took;
    if (watch.seconds() >= seconds) return *took / static_cast<double>(frames);
  }
}

/// Calls `one(index, counts)` with the frames in turn: until all were warm, then for the samples.
template <typename One>
Status repeat(std::size_t frame_count, const Limits& limits, const One& one) {
  const Stopwatch warming;
  for (std::size_t i = 0; i < frame_count || warming.seconds() < limits.warm_up_seconds; ++i)
    ZR_TRY(one(i % frame_count, false));
  const auto wanted = static_cast<std::size_t>(limits.frames);
  const Stopwatch whole;
  for (std::size_t i = 0;; ++i) {
    const bool enough = i >= kMostFrames || (i >= kLeastFrames && whole.seconds() > limits.seconds);
    if (wanted > 0 ? i >= wanted : enough) return Status::ok();
    ZR_TRY(one(i % frame_count, true));
  }
}

}  // namespace

Status in_threads(std::size_t count, const std::function<Status(std::size_t)>& work) {
  std::vector<Status> found(count);
  std::vector<std::thread> threads;
  try {
    for (std::size_t i = 1; i < count; ++i)
      threads.emplace_back([&found, &work, i] { found[i] = work(i); });
  } catch (const std::system_error&) {
    found.back() = too_many_threads();
  }
  if (count > 0) found[0] = work(0);
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : found) ZR_TRY(status);
  return Status::ok();
}

Status measure_latency(Runner& runner, std::size_t frame_count, const Limits& limits, Row& row) {
  ZR_TRY(runner.attach());
  return repeat(frame_count, limits, [&](std::size_t index, bool counts) -> Status {
    const Stopwatch watch;
    ZR_TRY(runner.start(index));
    ZR_TRY(runner.finish());
    if (counts) row.microseconds.push_back(watch.microseconds());
    return Status::ok();
  });
}

Status measure_steps(const RunSteps& run, std::size_t frame_count, const Limits& limits, Row& row) {
  std::vector<StepTime> steps;
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> times;
  ZR_TRY(repeat(frame_count, limits, [&](std::size_t index, bool counts) -> Status {
    steps.clear();
    if (Status status = run(index, steps); !status) return status;
    std::map<std::string, double> now;
    for (const StepTime& step : steps) {
      if (times.try_emplace(step.step).second) order.push_back(step.step);
      now[step.step] += step.microseconds;
    }
    if (!counts) return Status::ok();
    double sum = 0;
    for (const std::string& step : order) {  // a step that the frame did not have took 0
      times[step].push_back(now[step]);
      sum += now[step];
    }
    row.microseconds.push_back(sum);
    return Status::ok();
  }));
  for (const std::string& step : order)
    row.stages.push_back({step, summarise(times.at(step)).median});
  return Status::ok();
}

Status measure_throughput(const std::vector<std::unique_ptr<Runner>>& runners, Drive drive,
                          std::size_t frame_count, std::size_t multiple, const Limits& limits,
                          Row& row) {
  Crew crew(runners, drive, frame_count);
  const std::size_t least = round_up(std::max(2 * runners.size(), frame_count), multiple);
  const auto one = warm_up(crew, least, limits.warm_up_seconds);
  if (!one) return one.status();
  const double repetition = limits.seconds * 1e6 / limits.repetitions;
  const auto fitting = static_cast<std::size_t>(std::llround(repetition / *one));
  row.frames_per_sample = limits.frames > 0 ? static_cast<std::size_t>(limits.frames)
                                            : std::max(least, round_up(fitting, multiple));
  for (int r = 0; r < limits.repetitions; ++r) {
    const auto took = crew.run(row.frames_per_sample);
    if (!took) return took.status();
    row.microseconds.push_back(*took / static_cast<double>(row.frames_per_sample));
  }
  return Status::ok();
}

Status measure_energy(const std::vector<std::unique_ptr<Runner>>& runners, Drive drive,
                      std::size_t frame_count, std::size_t multiple, double seconds,
                      EnergyMeter& meter, EnergyCounter& counter, Row& row) {
  const double one = summarise(row.microseconds).median;
  const auto frames =
      round_up(std::max<std::size_t>(static_cast<std::size_t>(seconds * 1e6 / one), runners.size()),
               multiple);
  Crew crew(runners, drive, frame_count);
  auto energy = meter.measure(row.device, counter, static_cast<double>(frames),
                              [&] { return crew.run(frames).status(); });
  if (energy) row.energy = *std::move(energy);
  return energy.status();
}

}  // namespace zerorun::app::bench
