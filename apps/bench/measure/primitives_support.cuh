// What the measurements of the primitives share: device arrays, timing by events, test data.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/measure/device.hpp"
#include "apps/bench/measure/measure.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/timing.hpp"
#include "zerorun/cuda_entropy.hpp"

namespace zerorun::app::bench {

namespace device = zerorun::cuda_entropy;
namespace serial = zerorun::entropy;

inline void check(const Status& status) {
  if (!status) fail(Exit::failed, status.message());
}

inline void check(cudaError_t error) {
  if (error != cudaSuccess) fail(Exit::failed, cudaGetErrorString(error));
}

inline void require(bool condition, const char* what) {
  if (!condition) fail(Exit::mismatch, std::string("wrong result: ") + what);
}

template <typename T>
class DeviceArray : CudaArray<T> {
 public:
  explicit DeviceArray(std::uint64_t size) {
    check(this->allocate(std::max<std::uint64_t>(1, size), CudaMemory::device));
  }
  T* get() const { return this->data(); }
  std::vector<T> first(std::uint64_t count) const {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), get(), count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  T value() const { return first(1)[0]; }
};

/// "mean run 8, 2^28": sizes are powers of two.
inline std::string sized(const std::string& what, std::uint64_t size) {
  int power = 0;
  while ((std::uint64_t{1} << power) < size) ++power;
  return what + (what.empty() ? "2^" : ", 2^") + std::to_string(power);
}

using PrimitiveRows = std::vector<PrimitiveRow>;

/// Times of launches in microseconds, by events around each.
template <typename Launch>
std::vector<double> launch_times(const Launch& launch) {
  cudaEvent_t events[2];
  for (cudaEvent_t& event : events) check(cudaEventCreate(&event));
  const EventOwner begin(events[0]), end(events[1]);
  const auto once = [&] {
    check(cudaEventRecord(begin.get()));
    launch();
    check(cudaEventRecord(end.get()));
    check(cudaEventSynchronize(end.get()));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    return static_cast<double>(ms) * 1e3;
  };
  once();
  const double estimate = std::max(1.0, once());
  const int repeats = static_cast<int>(std::clamp(60e3 / estimate, 7.0, 101.0));
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(once());
  return times;
}

/// Three runs on the host.
template <typename Work>
std::vector<double> host_times(const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) {
    const Stopwatch watch;
    work();
    times.push_back(watch.microseconds());
  }
  return times;
}

/// A primitive's call with its scratch allocated once, for repeated launches.
template <typename Call>
class Prepared {
 public:
  explicit Prepared(Call call) : call_(call) {
    check(call_(nullptr, bytes_));
    check(scratch_.allocate(std::max<std::size_t>(1, bytes_), CudaMemory::device));
  }
  void operator()() const {
    std::size_t bytes = bytes_;
    check(call_(scratch_.data(), bytes));
  }

 private:
  Call call_;
  std::size_t bytes_ = 0;
  CudaArray<std::byte> scratch_;
};

/// Writes 1 where a run begins and 0 elsewhere; runs have the mean length `mean_run`.
void make_changes(std::uint32_t* out, std::uint64_t size, unsigned mean_run);
/// Writes symbols of a table of 65536 entries; each stands in it as often as it is likely.
void make_symbols(std::uint8_t* out, std::uint64_t size, const std::uint8_t* table);
constexpr unsigned kGrid = 2048, kBlock = 256;

template <typename T>
__global__ void differences_kernel(const T* a, const T* b, std::uint64_t size,
                                   unsigned long long* count) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    if (a[i] != b[i]) atomicAdd(count, 1ull);
}

/// Whether two device arrays are equal.
template <typename T>
bool same(const T* a, const T* b, std::uint64_t size) {
  DeviceArray<unsigned long long> count(1);
  check(cudaMemset(count.get(), 0, sizeof(unsigned long long)));
  differences_kernel<<<kGrid, kBlock>>>(a, b, size, count.get());
  check(cudaGetLastError());
  return count.value() == 0;
}

void measure_runs(PrimitiveRows& rows, std::uint64_t size, unsigned mean_run);
void measure_compact(PrimitiveRows& rows, std::uint64_t size, unsigned one_in);
void measure_scan(PrimitiveRows& rows, std::uint64_t size);
void measure_codes(PrimitiveRows& rows, std::uint64_t size, double bits, bool all_forms);

}  // namespace zerorun::app::bench
