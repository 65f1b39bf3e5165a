// How many scans the process is decoding on a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace zerorun {

/// A scan that the process is decoding on a device, while this lives. Thread-safe.
class ScanInFlight {
 public:
  explicit ScanInFlight(int device) : all_(of(device)), others_(all_.fetch_add(1)) {}
  ScanInFlight(const ScanInFlight&) = delete;
  ScanInFlight& operator=(const ScanInFlight&) = delete;
  ~ScanInFlight() { all_.fetch_sub(1); }

  /// Whether there was no other when it began.
  bool is_alone() const { return others_ == 0; }

 private:
  static std::atomic<int>& of(int device) {
    static std::array<std::atomic<int>, 64> all{};
    return all[static_cast<std::size_t>(device) % all.size()];
  }

  std::atomic<int>& all_;
  const int others_;
};

}  // namespace zerorun
