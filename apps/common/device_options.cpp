// How --device, --cpu and --threads are read, and what follows from them.
// SPDX-License-Identifier: MIT
#include "apps/common/device_options.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "apps/common/cli_names.hpp"
#include "apps/common/failure.hpp"
#include "codec/base/device_name.hpp"
#include "zerorun/backend.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app {
namespace {

/// On an H200 with 16 cores, 4, 8, 12 and 16 lanes encode 1896, 2815, 2604 and 2468 frames of
/// 3840x2160 a second from a y4m file in memory; from PPM files 8 and 16 lanes encode 873 and 1395,
/// because rows have to be taken apart. Each lane costs 5 ms at the start, for its pinned frame.
constexpr int kMinGpuLanes = 4, kMostPlaneLanes = 8, kMaxGpuLanes = 16;

/// For all coders of the program, those of JPEG input and --verify too: they are made with `best`.
void choose_cpu(const std::string& word) {
  std::string names(name(InstructionSet::best));
  bool known = word == names;
  for (const InstructionSet set : instruction_sets()) {
    known |= word == name(set);
    names += fmt::format(", {}", name(set));
  }
  if (!known)
    throw CLI::ValidationError(
        "--cpu", fmt::format("'{}' is not one of {}, which this machine has", word, names));
  ::setenv("ZERORUN_CPU", word.c_str(), 1);
}

}  // namespace

void add_device_options(CLI::App& app, DeviceOptions& device) {
  app.option_defaults()->group("Device");
  const auto read = [&device](const std::string& text) {
    const auto parsed = parse_device_names(text);
    if (!parsed)
      throw CLI::ValidationError(
          "--device",
          "'" + text + "' is not auto, cpu, cuda or cuda:N, nor a list as cuda:N,M or cuda:all");
    device.backend = parsed->backend;
    device.index = parsed->index;
    device.list = parsed->list;
    device.all_devices = parsed->all_devices;
    device.is_index_named = text.find(':') != std::string::npos;
  };
  app.add_option_function<std::string>(
         "--device", read,
         "Where frames are coded; all devices give the same bytes. auto: a GPU if usable and worth "
         "its start of 0.3 s, else the CPU (-v says why). cuda: a GPU, else exit 5. cuda:0,2 and "
         "cuda:all: several for one stream; if one fails, the others go on")
      ->type_name("auto|cpu|cuda[:N,...|:all]")
      ->default_str("auto");
  app.add_option_function<std::string>(
         "--cpu", choose_cpu,
         "Instruction set of the CPU's coders, one of those that `zerorun devices` lists; every "
         "one gives the same bytes. Instead of the environment's ZERORUN_CPU")
      ->type_name("best|scalar|sse4|avx2|avx512|neon")
      ->default_str("best");
  app.add_option("--threads", device.threads, "CPU threads; 0 is one per core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""))
      ->default_str("0");
}

int worker_count(const DeviceOptions& device, Backend backend) noexcept {
  // A GPU spreads one frame over all of its multiprocessors already.
  if (backend == Backend::cuda) return device.device_count();
  return device.threads > 0 ? device.threads : usable_processors();
}

int lane_count(const DeviceOptions& device, Backend backend, bool reads_planes) noexcept {
  const int threads = device.threads > 0 ? device.threads : usable_processors();
  if (backend != Backend::cuda) return threads;
  const int devices = device.device_count();
  if (device.threads > 0) return std::max(threads, devices);
  const int most = reads_planes ? kMostPlaneLanes : kMaxGpuLanes;
  return std::clamp(threads, kMinGpuLanes * devices, most * devices);
}

void find_all_devices(DeviceOptions& device) {
  DeviceName name{device.backend, device.index, device.list, device.all_devices};
  if (const Status status = zerorun::find_all_devices(name); !status)
    fail(Exit::device, status.message());
  device.index = name.index;
  device.list = name.list;
  device.all_devices = false;
}

std::optional<std::string> first_visible(const char* visible) {
  if (visible == nullptr) return "0";
  const std::string_view all = visible;
  const std::size_t comma = all.find(',');
  if (comma == all.npos) return std::nullopt;
  return std::string(all.substr(0, comma));
}

void hide_unused_devices(const DeviceOptions& device) {
  if (device.backend == Backend::cpu || device.index != 0 || !device.list.empty() ||
      device.all_devices)
    return;
  constexpr const char* kVariable = "CUDA_VISIBLE_DEVICES";
  if (const auto first = first_visible(std::getenv(kVariable)))
    ::setenv(kVariable, first->c_str(), 1);
}

DevicePlan device_plan(Backend backend, const DeviceOptions& device) {
  if (backend != Backend::cuda) return {};
  if (device.list.empty()) return {backend, {device.index}, false};
  return {backend, device.list, false};
}

Backend choose_backend(const DeviceOptions& device) {
  hide_unused_devices(device);
  auto plan = plan_devices(device.backend, device.index, device.list);
  if (!plan) fail(exit_for(plan.status(), Exit::device), plan.status().message());
  return plan->backend;
}

std::string device_text(Backend backend, const DeviceOptions& device) {
  if (backend == Backend::cuda) {
    const std::vector<int> all = device.list.empty() ? std::vector{device.index} : device.list;
    std::string text = fmt::format("cuda:{}", fmt::join(all, ","));
    const char* before = " ";
    for (const int index : all)
      if (const auto info = cuda_device(index)) text += std::exchange(before, ", ") + info->name;
    return text;
  }
  const int threads = worker_count(device, backend);
  return fmt::format("cpu, {} thread{}", threads, threads == 1 ? "" : "s");
}

}  // namespace zerorun::app
