// Facts about the devices, from the CUDA runtime and NVML, and what moving bytes to them takes.
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <memory>

#include "apps/bench/files/files.hpp"
#include "apps/bench/measure/energy.hpp"
#include "apps/bench/measure/measure.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/common/timing.hpp"
#include "codec/base/try.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

std::string highest_clocks(int device) {
  int core = 0, memory = 0;
  cudaDeviceGetAttribute(&core, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, device);
  return fmt::format("{} MHz, memory {} MHz", core / 1000, memory / 1000);
}

}  // namespace

Result<std::string> cuda_bus(int device) {
  char bus[32] = {};
  if (cudaDeviceGetPCIBusId(bus, sizeof bus, device) == cudaSuccess) return std::string(bus);
  return Status(Errc::no_device, fmt::format("cuda:{} does not tell its place", device));
}

void add_cuda_facts(const std::vector<int>& cuda, Facts& facts) {
  int driver = 0, runtime = 0;
  if (const std::string version = Nvml().driver_version(); !version.empty())
    facts.emplace_back("driver", version);
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0)
    facts.emplace_back("CUDA of the driver", cuda_version(driver));
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess)
    facts.emplace_back("CUDA runtime", cuda_version(runtime));
  for (const int device : cuda) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    const std::string key = fmt::format("cuda:{}", device);
    facts.emplace_back(key,
                       fmt::format("{}, {} multiprocessors, L2 {} MiB", properties.name,
                                   properties.multiProcessorCount, properties.l2CacheSize >> 20));
    facts.emplace_back(key + " highest clocks", highest_clocks(device));
  }
}

void add_clocks(const std::vector<int>& cuda, Facts& facts) {
  const Nvml nvml;
  for (const int device : cuda) {
    const auto bus = cuda_bus(device);
    if (!bus) continue;
    if (const std::string clocks = nvml.clocks(*bus); !clocks.empty())
      facts.emplace_back(fmt::format("cuda:{} clocks behind the last row", device), clocks);
  }
}

// What the machine alone needs to move the bytes of a run over the bus to a GPU.

namespace {

Status checked(cudaError_t error) {
  return error == cudaSuccess ? Status::ok()
                              : Status(Errc::device_failure, cudaGetErrorString(error));
}

/// Pinned memory of the host, memory of the device, and a stream: what a thread copies with.
class Lane {
 public:
  Lane() = default;
  ~Lane() {
    if (device_ != nullptr) cudaFree(device_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Status open(int device, std::size_t bytes) {
    ZR_TRY(checked(cudaSetDevice(device)));
    ZR_TRY(host_.resize(bytes));
    ZR_TRY(checked(cudaMalloc(&device_, bytes)));
    return checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  std::byte* host() noexcept { return host_.data(); }
  Status copy(std::size_t bytes, bool up) {
    void* const host = host_.data();
    ZR_TRY(checked(up ? cudaMemcpyAsync(device_, host, bytes, cudaMemcpyHostToDevice, stream_)
                      : cudaMemcpyAsync(host, device_, bytes, cudaMemcpyDeviceToHost, stream_)));
    return checked(cudaStreamSynchronize(stream_));
  }

 private:
  HostBuffer host_{HostMemory::pinned};
  void* device_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

using Lanes = std::vector<std::unique_ptr<Lane>>;

Status open_lanes(int device, std::size_t bytes, Lanes& lanes) {
  for (int i = 0; i < floor_threads(); ++i)
    ZR_TRY(lanes.emplace_back(std::make_unique<Lane>())->open(device, bytes));
  return Status::ok();
}

/// Calls `work(lane, index)` for 0 .. count - 1, each lane in a thread of its own.
template <typename Body>
Result<double> time_lanes(Lanes& lanes, int device, std::size_t count, const Body& work) {
  std::atomic<std::size_t> next{0};
  const Stopwatch watch;
  const auto copy_some = [&](std::size_t lane) -> Status {
    ZR_TRY(checked(cudaSetDevice(device)));
    for (std::size_t i = next++; i < count; i = next++) ZR_TRY(work(*lanes[lane], i));
    return Status::ok();
  };
  ZR_TRY(in_threads(lanes.size(), copy_some));
  return watch.seconds();
}

}  // namespace

Result<double> time_reading_to_device(const ReadWork& work, int device) {
  OpenPieces open;
  ZR_TRY(open.open(work));
  Lanes lanes;
  ZR_TRY(open_lanes(device, std::max<std::size_t>(open.largest(), 1), lanes));
  return time_lanes(lanes, device, open.pieces().size(), [&](Lane& lane, std::size_t i) -> Status {
    ZR_TRY(read_piece(open.pieces()[i], lane.host()));
    return lane.copy(open.pieces()[i].bytes, true);
  });
}

Result<double> time_download(int device, std::int64_t frames, std::size_t bytes) {
  Lanes lanes;
  ZR_TRY(open_lanes(device, std::max<std::size_t>(bytes, 1), lanes));
  return time_lanes(lanes, device, static_cast<std::size_t>(frames),
                    [&](Lane& lane, std::size_t) { return lane.copy(bytes, false); });
}

}  // namespace zerorun::app::bench
