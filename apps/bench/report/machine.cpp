// Facts about the machine, from the system.
// SPDX-License-Identifier: MIT
#include <fmt/chrono.h>
#include <fmt/core.h>
#include <sys/utsname.h>

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>

#include "apps/bench/peers/libjpeg.hpp"
#include "apps/bench/report/report.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

/// The text after "KEY ... :" in a file such as /proc/cpuinfo; empty if there is none.
std::string value_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const auto colon = line.find(':');
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && begin != std::string::npos) return line.substr(begin);
  }
  return {};
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void add_if_known(Facts& facts, const char* key, std::string value) {
  if (!value.empty()) facts.emplace_back(key, std::move(value));
}

/// "24684092 kB" as "23.5 GiB".
std::string memory_text(const std::string& kibibytes) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(kibibytes.data(), kibibytes.data() + kibibytes.size(), value);
  if (error != std::errc()) return {};
  return fmt::format("{:.1f} GiB", value / (1 << 20));
}

}  // namespace

double machine_load() {
  double minute = 0;
  return getloadavg(&minute, 1) == 1 ? minute : -1;
}

Facts machine_facts(const std::vector<int>& cuda) {
  Facts facts;
  facts.emplace_back("date",
                     fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr))));
  facts.emplace_back("zerorun", version());
  facts.emplace_back("compiler", fmt::format("{} {}", ZERORUN_COMPILER, ZERORUN_BUILD_TYPE));
  if (have_libjpeg()) facts.emplace_back("peer", libjpeg_version());
  add_if_known(facts, "cpu", value_of("/proc/cpuinfo", "model name"));
  facts.emplace_back("cores", std::to_string(usable_processors()));
  add_if_known(facts, "cpu clock",
               first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  add_if_known(facts, "memory", memory_text(value_of("/proc/meminfo", "MemTotal")));
  if (const double load = machine_load(); load >= 0)
    facts.emplace_back("load before", fmt::format("{:.2f}", load));
  utsname system{};
  if (uname(&system) == 0)
    facts.emplace_back("system",
                       fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  if (!cuda.empty()) add_cuda_facts(cuda, facts);
  return facts;
}

}  // namespace zerorun::app::bench
