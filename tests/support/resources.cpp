// What a call cost: processor time and memory, from the Linux kernel.
// SPDX-License-Identifier: MIT
#include "tests/support/resources.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

namespace zerorun::test {
namespace {

/// A line of /proc/self/status in bytes.
std::size_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::stoul(line.substr(key.size() + 1)) * 1024;
  return 0;
}

}  // namespace

double process_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double time_limit(double seconds) {
  constexpr double kHangs = 60;
  return std::getenv("ZERORUN_TIMED") != nullptr ? seconds : kHangs;
}

PeakMemory::PeakMemory() : start_bytes_(0) {
  std::ofstream("/proc/self/clear_refs") << "5";  // sets VmHWM back to VmRSS (proc(5))
  start_bytes_ = status_bytes("VmRSS");
}

std::size_t PeakMemory::growth_bytes() const {
  const std::size_t peak = status_bytes("VmHWM");
  return peak > start_bytes_ ? peak - start_bytes_ : 0;
}

}  // namespace zerorun::test
