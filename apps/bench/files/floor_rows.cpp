// Measures the floors of a way and keeps each as a row.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>

#include "apps/bench/files/files.hpp"
#include "apps/bench/measure/statistics.hpp"

namespace zerorun::app::bench {
namespace {

int cuda_index(const std::string& device) {
  return device.starts_with("cuda:") ? std::stoi(device.substr(5)) : -1;
}

void raise(double microseconds, const std::string& name, WholeWay& way) {
  if (microseconds <= way.floor_us) return;
  way.floor_us = microseconds;
  way.floor = name;
}

}  // namespace

/// Microseconds a frame, the median; 0 if it cannot be measured. Measured once for each name.
double Floors::measure(const std::string& name, const std::string& device, std::int64_t bytes,
                       const std::function<Result<double>()>& time) {
  Row row;
  row.coder = "floor";
  row.device = device;
  row.path = name;
  row.mode = Mode::whole;
  row.at_once = floor_threads();
  row.unit = "threads";
  for (const Row& other : result_.rows)
    if (other.id() == row.id()) return summarise(other.microseconds).median;
  const auto frames = static_cast<double>(setting_.frames);
  row.input_bytes = static_cast<double>(bytes) / frames;
  row.frames_per_sample = static_cast<std::size_t>(setting_.frames);
  for (int i = 0; i <= setting_.repetitions; ++i) {
    setting_.folder.clear("floor", true);
    const auto seconds = time();
    if (!seconds) {
      result_.notes.push_back(row.id() + ": " + seconds.status().message());
      return 0.0;
    }
    if (i > 0) row.microseconds.push_back(*seconds * 1e6 / frames);  // the first one warms up
  }
  setting_.folder.clear("floor");
  row.command = result_.command;
  result_.rows.push_back(std::move(row));
  return summarise(result_.rows.back().microseconds).median;
}

void Floors::of_reading(const ReadWork& work, const std::string& device, WholeWay& way) {
  std::int64_t bytes = 0;
  for (const std::string& file : work.files) bytes += input_files(file).bytes;
  const int cuda = cuda_index(device);
  if (cuda >= 0 && time_reading_to_device != nullptr) {
    raise(measure("page-cache>device", device, bytes,
                  [&] { return time_reading_to_device(work, cuda); }),
          "page-cache>device", way);
    return;
  }
  raise(measure("page-cache>memory", "cpu", bytes, [&] { return time_reading(work); }),
        "page-cache>memory", way);
}

void Floors::of_writing(Layout layout, std::int64_t bytes, const std::string& kind, WholeWay& way) {
  if (layout == Layout::none || bytes <= 0) return;
  const std::string name = "memory>" + kind;
  const auto each = static_cast<std::size_t>(bytes / setting_.frames);
  raise(measure(name, "cpu", bytes,
                [&] {
                  return time_writing(setting_.folder.path("floor"), layout, setting_.frames, each);
                }),
        name, way);
}

void Floors::of_download(std::int64_t bytes, const std::string& device, WholeWay& way) {
  const int cuda = cuda_index(device);
  if (cuda < 0 || time_download == nullptr) return;
  const auto each = static_cast<std::size_t>(bytes / setting_.frames);
  raise(measure("device>pinned", device, bytes,
                [&] { return time_download(cuda, setting_.frames, each); }),
        "device>pinned", way);
}

}  // namespace zerorun::app::bench
