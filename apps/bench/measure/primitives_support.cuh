// What the measurements of the primitives share: device arrays, timing by events, test data.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/measure/primitives.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/timing.hpp"
#include "zerorun/cuda_entropy.hpp"

namespace zerorun::app::bench {

namespace device = zerorun::cuda_entropy;
namespace serial = zerorun::entropy;

inline void check(cudaError_t error) {
  if (error != cudaSuccess) fail(Exit::failed, cudaGetErrorString(error));
}

inline void check(const Status& status) {
  if (!status) fail(Exit::failed, status.message());
}

inline void require(bool condition, const char* what) {
  if (!condition) fail(Exit::mismatch, std::string("wrong result: ") + what);
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::uint64_t size) {
    check(cudaMalloc(&data_, std::max<std::size_t>(1, size * sizeof(T))));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return data_; }
  T at(std::uint64_t i) const {
    T value;
    check(cudaMemcpy(&value, data_ + i, sizeof(T), cudaMemcpyDeviceToHost));
    return value;
  }
  std::vector<T> first(std::uint64_t count) const {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
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
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  const auto once = [&] {
    check(cudaEventRecord(begin));
    launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    return static_cast<double>(ms) * 1e3;
  };
  once();
  const double estimate = std::max(1.0, once());
  const int repeats = static_cast<int>(std::clamp(60e3 / estimate, 7.0, 101.0));
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(once());
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
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
    check(cudaMalloc(&scratch_, std::max<std::size_t>(1, bytes_)));
  }
  ~Prepared() { cudaFree(scratch_); }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  void operator()() const {
    std::size_t bytes = bytes_;
    check(call_(scratch_, bytes));
  }

 private:
  Call call_;
  std::size_t bytes_ = 0;
  void* scratch_ = nullptr;
};

/// Where runs of a mean length begin: 1, elsewhere 0.
void make_changes(std::uint32_t* out, std::uint64_t size, unsigned mean_run);
/// Symbols by a table of 65536 entries, in which each stands as often as it is likely.
void make_symbols(std::uint8_t* out, std::uint64_t size, const std::uint8_t* table);
bool same(const std::uint8_t* a, const std::uint8_t* b, std::uint64_t size);
bool same(const std::int32_t* a, const std::int32_t* b, std::uint64_t size);
bool same(const std::uint32_t* a, const std::uint32_t* b, std::uint64_t size);

void measure_runs(PrimitiveRows& rows, std::uint64_t size, unsigned mean_run);
void measure_compact(PrimitiveRows& rows, std::uint64_t size, unsigned one_in);
void measure_scan(PrimitiveRows& rows, std::uint64_t size);
void measure_codes(PrimitiveRows& rows, std::uint64_t size, double bits, bool all_forms);

}  // namespace zerorun::app::bench
