// Kernels of the tests.
// SPDX-License-Identifier: MIT
#include "tests/cuda/test_kernels.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cuda/base/launch.hpp"

namespace zerorun::test {
namespace {

__device__ std::uint64_t now() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void trap_kernel() { asm("trap;"); }

constexpr unsigned kThreads = 256;

__global__ void write_kernel(std::uint32_t* to, std::uint32_t words, std::uint32_t value,
                             std::uint32_t nanoseconds) {
  let_next_kernel_begin();
  for (const std::uint64_t begin = now(); now() - begin < nanoseconds;) continue;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < words) to[i] = value;
}

constexpr std::uint64_t kMostNanoseconds = 30'000'000'000;

__global__ void wait_kernel(volatile int* begun, volatile int* ended, const volatile int* stop) {
  begun[blockIdx.x] = 1;
  const std::uint64_t begin = now();
  while (*stop == 0 && now() - begin < kMostNanoseconds) __nanosleep(1000);
  ended[blockIdx.x] = 1;
}

}  // namespace

bool break_device(int device) {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  trap_kernel<<<1, 1>>>();
  const bool is_broken = cudaDeviceSynchronize() != cudaSuccess;
  cudaGetLastError();
  cudaSetDevice(before);
  cudaGetLastError();
  return is_broken;
}

cudaError_t write_late(std::uint32_t* to, std::uint32_t words, std::uint32_t value,
                       std::uint32_t nanoseconds, cudaStream_t stream) {
  return launch_alone(write_kernel, {grid_size(words, kThreads), kThreads}, stream, to, words,
                      value, nanoseconds);
}

BusyDevice::BusyDevice() {
  int device = 0, processors = 0, shared_bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (!flags_.reserve(1) || !stream_.create()) return;
  *flags_.data() = {};
  if (cudaFuncSetAttribute(wait_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           shared_bytes) != cudaSuccess)
    return;
  ctas_ = std::min(processors, static_cast<int>(flags_.data()->begun.size()) + 1) - 1;
  if (ctas_ == 0) return;
  Flags* const flags = flags_.data();
  wait_kernel<<<static_cast<unsigned>(ctas_), 1, static_cast<std::size_t>(shared_bytes),
                stream_.get()>>>(flags->begun.data(), flags->ended.data(), &flags->stop);
  if (cudaGetLastError() != cudaSuccess) ctas_ = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(ctas_ == 0 ? 0 : 30);
  while (!is_busy() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

BusyDevice::~BusyDevice() {
  if (ctas_ == 0) return;
  const_cast<volatile int&>(flags_.data()->stop) = 1;
  cudaStreamSynchronize(stream_.get());
}

bool BusyDevice::is_busy() const {
  if (ctas_ == 0) return false;
  const Flags& flags = *flags_.data();
  const auto are_all = [this](const std::array<int, 1024>& of_ctas, int value) {
    const volatile int* const first = of_ctas.data();
    return std::all_of(first, first + ctas_, [=](int flag) { return flag == value; });
  };
  return are_all(flags.begun, 1) && are_all(flags.ended, 0);
}

}  // namespace zerorun::test
