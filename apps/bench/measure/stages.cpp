// Sums of stages and their medians.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/stages.hpp"

#include "apps/bench/measure/statistics.hpp"
#include "apps/common/timing.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {

void StageClock::add(const std::string& stage, double microseconds) {
  const auto [place, is_new] = times_.try_emplace(stage);
  if (is_new) order_.push_back(stage);
  now_[stage] += microseconds;
}

void StageClock::next_frame(bool keep) {
  if (keep) {
    double sum = 0;
    for (const std::string& stage : order_) {
      times_[stage].push_back(now_[stage]);
      sum += now_[stage];
    }
    sums_.push_back(sum);
  }
  now_.clear();
}

std::vector<StageTime> StageClock::medians() const {
  std::vector<StageTime> stages;
  for (const std::string& stage : order_)
    stages.push_back({stage, summarise(times_.at(stage)).median});
  return stages;
}

Status measure_stages(const StagedContender& contender, std::size_t frame_count,
                      const Limits& limits, StageClock& clock) {
  constexpr int kLeast = 20;
  auto run = contender.open();
  if (!run) return run.status();
  const Stopwatch warming;
  for (std::size_t i = 0; i < frame_count || warming.seconds() < limits.warm_up_seconds; ++i) {
    ZR_TRY((*run)(i % frame_count, clock));
    clock.next_frame(false);
  }
  const Stopwatch watch;
  for (int i = 0;
       limits.frames > 0 ? i < limits.frames : i < kLeast || watch.seconds() < limits.seconds;
       ++i) {
    ZR_TRY((*run)(static_cast<std::size_t>(i) % frame_count, clock));
    clock.next_frame(true);
  }
  return Status::ok();
}

}  // namespace zerorun::app::bench
