// `zerorun devices`: the CPU and the CUDA devices of this machine.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/commands.hpp"
#include "apps/common/figures.hpp"
#include "zerorun/backend.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app {
namespace {

/// Why there is no CUDA device in the list.
std::string no_cuda_reason() {
  const auto backend = resolve_backend(Backend::cuda);
  return backend ? "" : backend.status().message();
}

std::vector<std::string> instruction_set_names() {
  std::vector<std::string> names;
  for (const InstructionSet set : instruction_sets()) names.emplace_back(name(set));
  return names;
}

void print_json(const std::vector<DeviceInfo>& devices) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  list.push_back({{"device", "cpu"},
                  {"usable", true},
                  {"threads", usable_processors()},
                  {"instruction_sets", instruction_set_names()},
                  {"instruction_set", name(*resolve_instruction_set())}});
  for (const DeviceInfo& d : devices) {
    nlohmann::ordered_json entry = {
        {"device", fmt::format("cuda:{}", d.index)},
        {"usable", d.usable.is_ok()},
        {"name", d.name},
        {"compute_capability", fmt::format("{}.{}", d.compute_major, d.compute_minor)},
        {"multiprocessors", d.multiprocessors},
        {"memory_bytes", d.memory_bytes}};
    if (!d.usable) entry["reason"] = d.usable.message();
    list.push_back(entry);
  }
  nlohmann::ordered_json all = {{"devices", list}};
  if (devices.empty()) all["no_cuda"] = no_cuda_reason();
  fmt::print("{}\n", json_text(all, 2));
}

void print_table(const std::vector<DeviceInfo>& devices) {
  fmt::print("{:<8} {:<28} {:>10} {:>6} {:>12}  {}\n", "device", "name", "capability", "units",
             "memory", "state");
  fmt::print("{:<8} {:<28} {:>10} {:>6} {:>12}  {}\n", "cpu", "processors it may use",
             name(*resolve_instruction_set()), usable_processors(), "",
             fmt::format("usable, has {}", fmt::join(instruction_set_names(), ", ")));
  for (const DeviceInfo& d : devices) {
    const double gib = static_cast<double>(d.memory_bytes) / (1024.0 * 1024.0 * 1024.0);
    fmt::print("{:<8} {:<28} {:>10} {:>6} {:>8.1f} GiB  {}\n", fmt::format("cuda:{}", d.index),
               d.name, fmt::format("{}.{}", d.compute_major, d.compute_minor), d.multiprocessors,
               gib, d.usable ? "usable" : d.usable.message());
  }
  if (devices.empty()) fmt::print("cuda     none: {}\n", no_cuda_reason());
}

}  // namespace

Command add_devices(CLI::App& program) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand("devices", "List the CPU and the CUDA devices");
  command->add_flag("--json", *as_json, "Print JSON");
  return [as_json] {
    const std::vector<DeviceInfo> devices = cuda_devices();
    if (*as_json) {
      print_json(devices);
    } else {
      print_table(devices);
    }
    return Exit::done;
  };
}

}  // namespace zerorun::app
