// SPDX-License-Identifier: MIT
#include "apps/common/step_meter.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace zerorun::app {
namespace {

/// Below this share of the time no step held the others up: they waited for each other, or the run
/// was too short.
constexpr double kWallPercent = 50.0;

double percent_of(double busy, int threads, double seconds) {
  if (!(seconds > 0)) return 0.0;
  return std::min(100.0, 100.0 * busy / (seconds * threads));
}

struct StepFacts {
  const char* name;
  StepPool pool;
  const char* activity;  ///< the subject of the sentence, with members of StepWords
};
constexpr StepFacts kSteps[kStepCount] = {
    {"read", StepPool::reader, "{reading}"},
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

StepPool pool_of(Step step) noexcept { return kSteps[static_cast<std::size_t>(step)].pool; }

/// Upload, kernels and download follow each other in both enumerations.
Step step_of(DeviceStep step) noexcept {
  return static_cast<Step>(static_cast<int>(Step::upload) + static_cast<int>(step));
}

/// What the wall did: "it kept 15.6 of 16 threads busy".
std::string load(const StepUse& wall, double seconds, std::int64_t frames) {
  const double rate = seconds > 0 ? static_cast<double>(frames) / seconds : 0.0;
  if (wall.step == Step::read) return fmt::format("it delivered {:.1f} frames/s", rate);
  if (wall.step == Step::write) return fmt::format("it took {:.1f} frames/s", rate);
  if (wall.threads == 1) return fmt::format("it was busy {:.0f} % of the time", wall.percent);
  return fmt::format("it kept {:.1f} of {} {} busy", wall.percent * wall.threads / 100.0,
                     wall.threads, pool_of(wall.step) == StepPool::lanes ? "threads" : "GPUs");
}

std::string sentence_of(const StepUse& wall, const StepReport& report, const StepWords& words) {
  const std::string subject =
      fmt::format(fmt::runtime(kSteps[static_cast<std::size_t>(wall.step)].activity),
                  fmt::arg("reading", words.reading), fmt::arg("input", words.input),
                  fmt::arg("output", words.output), fmt::arg("coding", words.coding));
  if (wall.pool_percent < kWallPercent)
    return fmt::format("No step was busy most of the time. {} was the busiest, for {:.0f} % of it.",
                       subject, wall.percent);
  return fmt::format("{} was the slowest step: {}.", subject,
                     load(wall, report.seconds, report.frames));
}

}  // namespace

const char* name(Step step) noexcept { return kSteps[static_cast<std::size_t>(step)].name; }

std::string StepReport::text() const {
  std::string text;
  for (const StepUse& use : steps)
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name(use.step), use.percent);
  return text;
}

nlohmann::json StepReport::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const StepUse& use : steps)
    list.push_back({{"step", name(use.step)},
                    {"threads", use.threads},
                    {"busy_seconds", use.busy_seconds},
                    {"percent", use.percent},
                    {"pool_percent", use.pool_percent}});
  nlohmann::json json = {{"seconds", seconds}, {"steps", std::move(list)}};
  if (wall) json["wall"] = name(*wall);
  if (!sentence.empty()) json["sentence"] = sentence;
  return json;
}

void BusyTime::add(Time begin, Time end) {
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

double BusyTime::seconds() const {
  std::chrono::nanoseconds all = settled_;
  for (const Span& span : open_) all += span.end - span.begin;
  return std::chrono::duration<double>(all).count();
}

void StepMeter::set_threads(StepPool pool, int threads) noexcept {
  threads_[static_cast<std::size_t>(pool)] = std::max(1, threads);
}

void StepMeter::add_device(std::span<const DeviceSpan> spans) {
  const std::lock_guard lock(device_mutex_);
  for (const DeviceSpan& span : spans) {
    on_device_[{step_of(span.step), span.device}].add(span.begin, span.end);
    add(Step::code, span.begin - span.end);
  }
}

double StepMeter::busy_seconds(Step step) const {
  double busy = static_cast<double>(busy_[index(step)].load(std::memory_order_relaxed)) * 1e-9;
  const std::lock_guard lock(device_mutex_);
  for (const auto& [key, time] : on_device_)
    if (key.first == step) busy += time.seconds();
  return busy;
}

StepReport StepMeter::report(double seconds, std::int64_t frames, const StepWords& words) const {
  StepReport report;
  report.seconds = seconds;
  report.frames = frames;
  std::array<double, kPoolCount> pool_seconds{};
  for (std::size_t i = 0; i < kStepCount; ++i) {
    const double busy = busy_seconds(static_cast<Step>(i));
    if (!(busy > 0)) continue;
    const auto pool = static_cast<std::size_t>(pool_of(static_cast<Step>(i)));
    pool_seconds[pool] += busy;
    report.steps.push_back({static_cast<Step>(i), threads_[pool], busy,
                            percent_of(busy, threads_[pool], seconds), 0.0});
  }
  for (StepUse& use : report.steps) {
    const auto pool = static_cast<std::size_t>(pool_of(use.step));
    use.pool_percent = percent_of(pool_seconds[pool], use.threads, seconds);
  }
  // Compares the pools first: the steps of a pool share its threads, so their sum fills these.
  const auto wall = std::ranges::max_element(report.steps, {}, [](const StepUse& use) {
    return std::pair(use.pool_percent, use.percent);
  });
  if (wall == report.steps.end()) return report;
  report.wall = wall->step;
  report.sentence = sentence_of(*wall, report, words);
  return report;
}

void StepClock::begin(Step step) {
  end();
  if (meter_ == nullptr) return;
  if (pool_of(step) == StepPool::lanes) static_cast<void>(take_converted_());
  if (step == Step::code) device_.emplace();
  step_ = step;
  start_ = StepMeter::Clock::now();
}

void StepClock::end() {
  if (!step_) return;
  const StepMeter::Clock::duration all = StepMeter::Clock::now() - start_;
  StepMeter::Clock::duration converted{};
  if (pool_of(*step_) == StepPool::lanes)
    converted = std::min<StepMeter::Clock::duration>(take_converted_(), all);
  meter_->add(Step::convert, converted);
  meter_->add(*step_, all - converted);
  if (device_) meter_->add_device(device_->spans);
  device_.reset();
  step_.reset();
}

}  // namespace zerorun::app
