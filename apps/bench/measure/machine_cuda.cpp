// Facts about the devices, from the CUDA runtime and NVML, and what moving bytes to them takes.
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "apps/bench/files/files.hpp"
#include "apps/bench/measure/device.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/common/figures.hpp"

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

namespace {

/// What a thread copies with.
class Lane {
 public:
  Status open(int device, std::size_t bytes) {
    ZR_CUDA_TRY(cudaSetDevice(device));
    ZR_TRY(host_.allocate(bytes, CudaMemory::pinned));
    ZR_TRY(device_.allocate(bytes, CudaMemory::device));
    return make_stream(stream_);
  }
  std::byte* host() const noexcept { return host_.data(); }
  Status copy(std::size_t bytes, bool up) const {
    std::byte* const from = up ? host_.data() : device_.data();
    std::byte* const to = up ? device_.data() : host_.data();
    ZR_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get()));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return Status::ok();
  }

 private:
  CudaArray<std::byte> host_, device_;
  StreamOwner stream_;
};

/// Calls `work(lane, index)` for 0 .. count - 1, each lane in a thread of its own. A lane can copy
/// `bytes` bytes.
template <typename Work>
Result<double> time_lanes(int device, std::size_t bytes, std::size_t count, const Work& work) {
  std::vector<Lane> lanes(static_cast<std::size_t>(floor_threads()));
  for (Lane& lane : lanes) ZR_TRY(lane.open(device, std::max<std::size_t>(bytes, 1)));
  std::atomic<std::size_t> next{0};
  const Stopwatch watch;
  const auto copy_some = [&](std::size_t lane) -> Status {
    ZR_CUDA_TRY(cudaSetDevice(device));
    for (std::size_t i = next++; i < count; i = next++) ZR_TRY(work(lanes[lane], i));
    return Status::ok();
  };
  ZR_TRY(in_threads(lanes.size(), copy_some));
  return watch.seconds();
}

}  // namespace

Result<double> time_reading_to_device(const ReadWork& work, int device) {
  OpenPieces open;
  ZR_TRY(open.open(work));
  const auto copy_piece = [&open](const Lane& lane, std::size_t i) -> Status {
    ZR_TRY(read_piece(open.pieces()[i], lane.host()));
    return lane.copy(open.pieces()[i].bytes, true);
  };
  return time_lanes(device, open.largest(), open.pieces().size(), copy_piece);
}

Status start_alone(int device) { return Lane().open(device, 100'000'000); }

Result<double> time_download(int device, std::int64_t frames, std::size_t bytes) {
  return time_lanes(device, bytes, static_cast<std::size_t>(frames),
                    [bytes](const Lane& lane, std::size_t) { return lane.copy(bytes, false); });
}

}  // namespace zerorun::app::bench
