// Work in numbered steps, on several threads.
// SPDX-License-Identifier: MIT
#include "tests/campaign/numbered_work.hpp"
#include "zerorun/backend.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

namespace zerorun::test {
namespace {

constexpr auto kHangs = std::chrono::seconds(60);
constexpr int kMostFindings = 20;  // the first ones say what is wrong

int thread_count(int wanted) {
  const char* const text = std::getenv("ZERORUN_CAMPAIGN_THREADS");
  if (wanted == 0 && text != nullptr) wanted = std::atoi(text);
  return wanted > 0 ? wanted : usable_processors();
}

}  // namespace

void Counts::add(const Counts& other) noexcept {
  refused += other.refused;
  damaged += other.damaged;
  clean += other.clean;
  different += other.different;
  concealed += other.concealed;
  on_cpu += other.on_cpu;
}

std::string Counts::text() const {
  std::string out = std::to_string(all()) + " streams: ";
  if (refused + damaged > 0)
    out += std::to_string(refused) + " refused, " + std::to_string(damaged) + " damaged (" +
           std::to_string(concealed) + " concealed), ";
  out += std::to_string(clean) + " exact; ";
  if (on_cpu > 0) out += std::to_string(on_cpu) + " by the CPU; ";
  return out + std::to_string(different) + " differences";
}

Ledger::Ledger(std::string path) : path_(std::move(path)) {
  std::ifstream in(path_);
  std::int64_t done = 0;
  Counts counts;
  in >> done >> counts.refused >> counts.damaged >> counts.clean >> counts.different >>
      counts.concealed >> counts.on_cpu;
  if (!in) return;
  done_ = done;
  counts_ = counts;
}

void Ledger::finish(std::int64_t first, std::int64_t count, const Counts& counts) {
  ahead_[first] = {count, counts};
  for (auto next = ahead_.find(done_); next != ahead_.end(); next = ahead_.find(done_)) {
    done_ += next->second.count;
    counts_.add(next->second.counts);
    ahead_.erase(next);
  }
}

/// By a rename: who ends the process while it saves loses no earlier progress.
void Ledger::save() const {
  if (path_.empty()) return;
  const std::string fresh = path_ + ".new";
  std::ofstream out(fresh);
  out << done_ << ' ' << counts_.refused << ' ' << counts_.damaged << ' ' << counts_.clean << ' '
      << counts_.different << ' ' << counts_.concealed << ' ' << counts_.on_cpu << '\n';
  out.close();
  if (out) std::filesystem::rename(fresh, path_);
}

NumberedWork::NumberedWork(WorkPlan plan)
    : plan_(std::move(plan)),
      ledger_(plan_.state),
      next_(ledger_.done()),
      places_(static_cast<std::size_t>(thread_count(plan_.threads))) {}

int NumberedWork::run(const std::function<Step()>& make) {
  std::thread watchdog([this] { watch(); });
  std::vector<std::thread> threads;
  for (Place& place : places_) threads.emplace_back([&] { work(place, make); });
  for (std::thread& thread : threads) thread.join();
  over_ = true;
  watchdog.join();
  ledger_.save();
  if (failed_ || ledger_.counts().different > 0) return 1;
  return ledger_.done() < plan_.steps ? 3 : 0;
}

void NumberedWork::work(Place& place, const std::function<Step()>& make) {
  const Step step = make();
  if (!step) failed_ = true;
  while (!failed_ && !is_time_over()) {
    const std::int64_t first = next_.fetch_add(plan_.group);
    const std::int64_t end = std::min(first + plan_.group, plan_.steps);
    if (first >= end) break;
    Counts counts;
    for (std::int64_t number = first; number < end; ++number) {
      place.since = Clock::now().time_since_epoch().count();
      place.number = number;
      step(number, counts);
    }
    place.number = -1;
    const std::lock_guard lock(mutex_);
    ledger_.finish(first, end - first, counts);
    if (first / plan_.group % 64 == 0) ledger_.save();
  }
}

bool NumberedWork::is_time_over() const {
  return plan_.minutes > 0 &&
         Clock::now() - begin_ > std::chrono::duration<double>(60 * plan_.minutes);
}

void NumberedWork::watch() const {
  while (!over_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (const Place& place : places_) {
      const std::int64_t number = place.number;
      const Clock::duration taken = Clock::now().time_since_epoch() - Clock::duration(place.since);
      if (number < 0 || taken < kHangs) continue;
      std::printf("step %lld hangs\n", static_cast<long long>(number));
      std::fflush(stdout);
      std::abort();
    }
  }
}

void NumberedWork::tell(const std::string& finding, std::span<const std::byte> jpeg) {
  const std::lock_guard lock(mutex_);
  if (++findings_ > kMostFindings) return;
  std::printf("different: %s\n", finding.c_str());
  std::fflush(stdout);
  if (plan_.findings.empty() || jpeg.empty()) return;
  std::ofstream(plan_.findings + "-" + std::to_string(findings_) + ".jpg", std::ios::binary)
      .write(reinterpret_cast<const char*>(jpeg.data()), static_cast<std::streamsize>(jpeg.size()));
}

std::string NumberedWork::text() const {
  return std::to_string(ledger_.done()) + " of " + std::to_string(plan_.steps) + " steps, " +
         ledger_.counts().text();
}

}  // namespace zerorun::test
