// Work in numbered steps, on several threads, that goes on where an earlier run ended.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tests/support/jpeg_segments.hpp"

namespace zerorun::test {

/// What came out of streams on two backends.
struct Counts {
  std::int64_t refused = 0, damaged = 0, clean = 0, different = 0;
  std::int64_t concealed = 0;  ///< of those that are damaged
  std::int64_t on_cpu = 0;     ///< of all: the CUDA backend left a scan to the CPU

  std::int64_t all() const noexcept { return refused + damaged + clean + different; }
  void add(const Counts& other) noexcept;
  /// "12 streams: 3 refused, 5 damaged (4 concealed), 4 exact; 5 by the CPU; 0
  /// differences"
  std::string text() const;
};

/// Which steps are done and what came out of them, in a file: a first part of all steps, so that
/// one number says which.
class Ledger {
 public:
  /// An empty path: nothing is kept.
  explicit Ledger(std::string path);

  std::int64_t done() const noexcept { return done_; }
  const Counts& counts() const noexcept { return counts_; }
  /// Steps first .. first + count - 1 are done; earlier ones may still be under way.
  void finish(std::int64_t first, std::int64_t count, const Counts& counts);
  void save() const;

 private:
  struct Piece {
    std::int64_t count;
    Counts counts;
  };
  std::string path_;
  std::int64_t done_ = 0;
  Counts counts_;
  std::map<std::int64_t, Piece> ahead_;  ///< done before those in front of them
};

struct WorkPlan {
  std::int64_t steps = 0;
  std::string state;     ///< a file for the progress; empty: none
  std::string findings;  ///< streams that differ are kept as this with "-1.jpg"; empty: not
  double minutes = 0;    ///< 0: until all is done
  int threads = 0;       ///< 0: ZERORUN_CAMPAIGN_THREADS, or one a core
  int group = 1;         ///< steps that a thread takes at a time
};

/// Deals out steps to threads. A step that takes a minute ends the process with its number: a
/// kernel that does not end cannot be stopped otherwise.
class NumberedWork {
 public:
  using Step = std::function<void(std::int64_t number, Counts& counts)>;

  explicit NumberedWork(WorkPlan plan);

  /// Each thread calls `make` once for its own step function; an empty one ends the work.
  /// 0: all is done and nothing differs; 1: something differs; 3: there was no time for all.
  int run(const std::function<Step()>& make);

  /// For steps: prints a finding and keeps its stream. Thread-safe.
  void tell(const std::string& finding, std::span<const std::byte> jpeg);

  /// "640 of 1000 steps, 640 streams: ...". After run().
  std::string text() const;
  const Counts& counts() const noexcept { return ledger_.counts(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Place {
    std::atomic<std::int64_t> number{-1};
    std::atomic<Clock::rep> since{0};
  };

  void work(Place& place, const std::function<Step()>& make);
  bool is_time_over() const;
  void watch() const;

  const WorkPlan plan_;
  const Clock::time_point begin_ = Clock::now();
  Ledger ledger_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false}, over_{false};
  std::vector<Place> places_;
  std::mutex mutex_;
  int findings_ = 0;
};

}  // namespace zerorun::test
