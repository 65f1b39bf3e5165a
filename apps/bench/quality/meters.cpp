// The meters of `bench --curves`: on the CPU, on a GPU, or on both beside each other.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/meters.hpp"

#include <fmt/core.h>

#include <utility>

#include "apps/bench/options.hpp"
#include "apps/common/failure.hpp"

namespace zerorun::app::bench {

MeterChoice choose_meters(const Options& options, const Selection& selection) {
  MeterChoice choice;
  choice.automatic = options.devices.empty();
  if (!selection.cuda.empty())
    choice.cuda = selection.cuda.front();
  else if (!selection.teams.empty())
    choice.cuda = selection.teams.front().front();
  // Without --device the selection has the CPU beside each GPU, for coders.
  choice.cpu = !choice.cuda || (!choice.automatic && selection.cpu);
  return choice;
}

MakeCudaMeter real_cuda_meter() {
  return [](int device) -> Result<std::unique_ptr<rd::CudaMeter>> {
    if (rd::make_cuda_meter == nullptr)
      return Status(Errc::not_built, "the metrics on a GPU are not in this build");
    return rd::make_cuda_meter(device);
  };
}

Meters::Meters(const MeterChoice& choice, const MakeCudaMeter& make_cuda) : choice_(choice) {
  if (!choice.cuda) return;
  auto made = make_cuda(*choice.cuda);
  if (made)
    cuda_ = *std::move(made);
  else
    take_cpu_instead(made.status());
}

void Meters::take_cpu_instead(const Status& status) {
  if (!choice_.automatic) fail(exit_for(status, Exit::device), status.message());
  note_ = fmt::format("the metrics are measured on the CPU: {}", status.message());
  cuda_.reset();
  choice_.cpu = true;
}

void Meters::set_original(const rd::Image& original) {
  if (cuda_)
    if (const Status status = cuda_->set_original(original); !status) take_cpu_instead(status);
  cpu_.reset();  // its memory goes before the next takes as much
  if (choice_.cpu) cpu_.emplace(original);
}

rd::Scores Meters::measure_cpu(const rd::Image& distorted) {
  const Stopwatch watch;
  const rd::Scores scores = cpu_->measure(distorted);
  const double microseconds = watch.microseconds();
  const std::lock_guard lock(times_lock_);
  cpu_times_.add(microseconds);
  return scores;
}

rd::Scores Meters::measure_cuda(const rd::Image& distorted) {
  const std::lock_guard lock(cuda_lock_);
  const Stopwatch watch;
  const auto sums = cuda_->sums(distorted);
  if (!sums) fail(exit_for(sums.status(), Exit::device), sums.status().message());
  const rd::Scores scores = rd::scores_of(*sums, {distorted.width, distorted.height});
  cuda_times_.add(watch.microseconds());
  return scores;
}

rd::Scores Meters::measure(const rd::Image& distorted) {
  if (!cuda_) return measure_cpu(distorted);
  const rd::Scores scores = measure_cuda(distorted);
  if (!cpu_) return scores;
  const double difference = rd::difference(scores, measure_cpu(distorted));
  // Not "above": a NaN is a difference, too.
  if (!(difference <= rd::kSameScores))
    fail(Exit::mismatch, fmt::format("the metrics of the CPU and of cuda:{} differ by {:.3g}",
                                     *choice_.cuda, difference));
  return scores;
}

std::vector<MeterTime> Meters::times() const {
  std::vector<MeterTime> out;
  const auto add = [&out](std::string device, const FrameTimes& times) {
    if (times.count() > 0)
      out.push_back({std::move(device), times.count(), times.distribution().median});
  };
  add("cpu", cpu_times_);
  if (choice_.cuda) add(fmt::format("cuda:{}", *choice_.cuda), cuda_times_);
  return out;
}

}  // namespace zerorun::app::bench
