// The search for the best sizes, and its table.
// SPDX-License-Identifier: MIT
#include "apps/bench/tune/tune.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun::app::bench {
namespace {

constexpr int kRounds = 5;

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Search {
 public:
  explicit Search(const TuneBench& bench) : bench_(bench), begin_(bench.seconds()) {}

  TuneResult run() {
    for (const TuneStep& step : bench_.steps) add(step);
    result_.seconds = seconds();
    return std::move(result_);
  }

 private:
  double seconds() const { return bench_.seconds() - begin_; }

  void add(const TuneStep& step) {
    TunedSize& size = result_.sizes.emplace_back();
    size.tunable = step.tunable;
    size.chosen = step.candidates[0];
    if (seconds() > kMostTuneSeconds) {
      size.reason = "there was no time left";
    } else if (const Status status = measure(step, size); !status) {
      size.reason = status.message();
      size.candidates.clear();
    }
    if (size.chosen != step.candidates[0]) result_.policy.set(step.tunable, size.chosen);
  }

  Status measure(const TuneStep& step, TunedSize& size) {
    ZR_LET(work, bench_.prepare(step.tunable));
    size.work = work;
    std::vector<std::vector<double>> times(step.candidates.size());
    for (int round = 0; round < kRounds; ++round) {
      if (round > 0 && seconds() > kMostTuneSeconds) break;
      ZR_TRY(measure_round(step, times));
    }
    for (std::size_t i = 0; i < times.size(); ++i)
      if (!times[i].empty()) size.candidates.push_back({step.candidates[i], median(times[i])});
    choose(size);
    return Status::ok();
  }

  /// A candidate that does not work on this GPU has no time. The first one has to work.
  Status measure_round(const TuneStep& step, std::vector<std::vector<double>>& times) const {
    for (std::size_t i = 0; i < times.size(); ++i) {
      TuningPolicy policy = result_.policy;
      policy.set(step.tunable, step.candidates[i]);
      const auto time = bench_.measure(step.tunable, policy);
      if (time)
        times[i].push_back(*time);
      else if (i == 0)
        return time.status();
    }
    return Status::ok();
  }

  static void choose(TunedSize& size) {
    const double own = size.candidates[0].microseconds;
    const auto best = std::min_element(size.candidates.begin(), size.candidates.end(),
                                       [](const TunedCandidate& a, const TunedCandidate& b) {
                                         return a.microseconds < b.microseconds;
                                       });
    if (best->microseconds < own * (1 - kLeastGain)) size.chosen = best->value;
  }

  const TuneBench& bench_;
  const double begin_;
  TuneResult result_;
};

std::string size_text(const TunedSize& size) {
  std::string text = fmt::format("{:<22}", range_of(size.tunable).name);
  if (!size.reason.empty()) return text + fmt::format(" not measured: {}\n", size.reason);
  for (const TunedCandidate& candidate : size.candidates)
    text += fmt::format(" {}{}: {:.2f}", candidate.value == size.chosen ? "*" : "", candidate.value,
                        candidate.microseconds);
  return text + fmt::format("   ({})\n", size.work);
}

}  // namespace

TuneResult tune(const TuneBench& bench) { return Search(bench).run(); }

std::string tune_text(const std::string& device, const TuneResult& result) {
  std::string text = fmt::format(
      "{}: microseconds a frame with each size, * is the one to take; the first one is built in, "
      "and "
      "another one must be {:.0f} % faster\n",
      device, 100 * kLeastGain);
  for (const TunedSize& size : result.sizes) text += size_text(size);
  return text +
         fmt::format("{:.0f} seconds\n\n{}", result.seconds, policy_text(device, result.policy));
}

}  // namespace zerorun::app::bench
