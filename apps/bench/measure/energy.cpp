// SPDX-License-Identifier: MIT
#include "apps/bench/measure/energy.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "codec/base/cuda_device.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {
namespace {

constexpr int kCoreClock = 1, kMemoryClock = 2;

class NvmlCounter final : public EnergyCounter {
 public:
  NvmlCounter(std::string bus, const char* library) : nvml_(library), bus_(std::move(bus)) {}
  Result<double> joules() override {
    ZR_LET(value, nvml_.millijoules(bus_));
    return static_cast<double>(value) * 1e-3;
  }

 private:
  const Nvml nvml_;
  const std::string bus_;
};

std::optional<double> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  double number = 0;
  if (!(file >> number) || number < 0) return std::nullopt;
  return number;
}

/// One package of a CPU: microjoules in a file, which begin again after `range` of them.
class RaplPackage {
 public:
  explicit RaplPackage(std::filesystem::path folder)
      : folder_(std::move(folder)),
        range_(read_number(folder_ / "max_energy_range_uj").value_or(0)) {}

  std::optional<double> microjoules() {
    const auto value = read_number(folder_ / "energy_uj");
    if (!value) return std::nullopt;
    if (last_ && *value < *last_) passed_ += range_;
    last_ = value;
    return passed_ + *value;
  }

 private:
  std::filesystem::path folder_;
  double range_, passed_ = 0;
  std::optional<double> last_;
};

class RaplCounter final : public EnergyCounter {
 public:
  explicit RaplCounter(std::vector<RaplPackage> packages) : packages_(std::move(packages)) {}
  Result<double> joules() override {
    double sum = 0;
    for (RaplPackage& package : packages_) {
      const auto value = package.microjoules();
      if (!value)
        return Status(Errc::open_failed,
                      "the energy counter of the CPU (RAPL) may be read by the administrator only");
      sum += *value;
    }
    return sum * 1e-6;
  }

 private:
  std::vector<RaplPackage> packages_;
};

/// A package, as opposed to its parts ("intel-rapl:0:1"), which it contains, and to the platform.
bool is_package(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  std::ifstream file(folder / "name");
  std::string what;
  return std::count(name.begin(), name.end(), ':') == 1 && file >> what &&
         what.starts_with("package");
}

template <typename Counter>
Result<std::unique_ptr<EnergyCounter>> checked(std::unique_ptr<Counter> counter) {
  if (const auto first = counter->joules(); !first) return first.status();
  return std::unique_ptr<EnergyCounter>(std::move(counter));
}

/// The sum of several counters.
class SumCounter final : public EnergyCounter {
 public:
  void add(std::unique_ptr<EnergyCounter> counter) { counters_.push_back(std::move(counter)); }
  Result<double> joules() override {
    double sum = 0;
    for (const auto& counter : counters_) {
      ZR_LET(value, counter->joules());
      sum += value;
    }
    return sum;
  }

 private:
  std::vector<std::unique_ptr<EnergyCounter>> counters_;
};

Result<std::unique_ptr<EnergyCounter>> open_counter(const std::string& device) {
  if (device == "cpu") return open_rapl_counter("/sys/class/powercap");
  const auto name = parse_device_names(device);
  if (!name || cuda_bus == nullptr) return Status(Errc::cuda_not_built);
  auto sum = std::make_unique<SumCounter>();
  for (const int index : name->list.empty() ? std::vector{name->index} : name->list) {
    ZR_LET(bus, cuda_bus(index));
    ZR_LET(counter, open_nvml_counter(bus, "libnvidia-ml.so.1"));
    sum->add(std::move(counter));
  }
  return std::unique_ptr<EnergyCounter>(std::move(sum));
}

}  // namespace

template <typename Function>
Function* Nvml::find(const char* name) const {
  return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
}

Nvml::Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    status_ = Status(Errc::no_device, "NVML cannot be loaded, because there is no NVIDIA driver");
    return;
  }
  const auto init = find<int()>("nvmlInit_v2");
  const int error = init == nullptr ? -1 : init();
  if (error == 0) return;
  status_ = Status(Errc::no_device, fmt::format("NVML does not start (its error {})", error));
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  if (const auto shutdown = find<int()>("nvmlShutdown"); status_ && shutdown != nullptr) shutdown();
  dlclose(library_);
}

std::string Nvml::driver_version() const {
  char text[96] = {};
  const auto get = find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  return status_ && get != nullptr && get(text, sizeof text) == 0 ? text : "";
}

void* Nvml::handle(const std::string& bus) const {
  void* found = nullptr;
  const auto by_bus = find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
  return status_ && by_bus != nullptr && by_bus(bus.c_str(), &found) == 0 ? found : nullptr;
}

std::string Nvml::clocks(const std::string& bus) const {
  unsigned core = 0, memory = 0;
  void* const device = handle(bus);
  const auto clock = find<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
  if (device == nullptr || clock == nullptr || clock(device, kCoreClock, &core) != 0 ||
      clock(device, kMemoryClock, &memory) != 0)
    return {};
  return fmt::format("{} MHz, memory {} MHz", core, memory);
}

Result<std::uint64_t> Nvml::millijoules(const std::string& bus) const {
  if (!status_) return status_;
  void* const device = handle(bus);
  if (device == nullptr)
    return Status(Errc::no_device, fmt::format("NVML knows no device at {}", bus));
  const auto energy = find<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  unsigned long long value = 0;
  const int error = energy == nullptr ? -1 : energy(device, &value);
  if (error == 0) return std::uint64_t{value};
  return Status(Errc::device_unsuitable,
                fmt::format("NVML has no energy counter of it (its error {})", error));
}

Result<std::unique_ptr<EnergyCounter>> open_nvml_counter(const std::string& bus,
                                                         const char* library) {
  return checked(std::make_unique<NvmlCounter>(bus, library));
}

Result<std::unique_ptr<EnergyCounter>> open_rapl_counter(const std::string& folder) {
  std::vector<RaplPackage> packages;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (is_package(entry.path())) packages.emplace_back(entry.path());
  if (packages.empty())
    return Status(Errc::no_device, "the system shows no energy counter of the CPU (RAPL)");
  return checked(std::make_unique<RaplCounter>(std::move(packages)));
}

FrameEnergy energy_of(double joules, double seconds, double frames, double idle_watts) {
  FrameEnergy energy;
  energy.joules = joules / frames;
  energy.above_idle_joules = std::max(joules - idle_watts * seconds, 0.0) / frames;
  energy.idle_watts = idle_watts;
  energy.watts = seconds > 0 ? joules / seconds : 0;
  energy.seconds = seconds;
  return energy;
}

double EnergyMeter::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void EnergyMeter::wait(double seconds) const {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

Result<double> EnergyMeter::idle_watts(const std::string& source, EnergyCounter& counter) {
  for (const auto& [name, watts] : idle_)
    if (name == source) return watts;
  const double begin = now();
  ZR_LET(before, counter.joules());
  wait(idle_seconds_);
  ZR_LET(after, counter.joules());
  const double watts = (after - before) / (now() - begin);
  idle_.emplace_back(source, watts);
  return watts;
}

Result<FrameEnergy> EnergyMeter::measure(const std::string& source, EnergyCounter& counter,
                                         double frames, const std::function<Status()>& run) {
  ZR_LET(idle, idle_watts(source, counter));
  const double begin = now();
  ZR_LET(before, counter.joules());
  ZR_TRY(run());
  ZR_LET(after, counter.joules());
  FrameEnergy energy = energy_of(after - before, now() - begin, frames, idle);
  energy.source = source;
  return energy;
}

Result<EnergyCounter*> EnergyCounters::find(const std::string& device) {
  for (const Entry& entry : entries_) {
    if (entry.device != device) continue;
    if (!entry.counter) return entry.counter.status();
    return (*entry.counter).get();
  }
  entries_.push_back({device, open_counter(device)});
  return find(device);
}

}  // namespace zerorun::app::bench
