// The entropy coding primitives on a GPU, beside CUB, one CPU core and a device copy: sizes and
// data, and the kernels that make and compare it.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/primitives_support.cuh"

namespace zerorun::app::bench {
namespace {

__device__ std::uint64_t hash(std::uint64_t i) {  // SplitMix64
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

__global__ void changes_kernel(std::uint32_t* out, std::uint64_t size, unsigned mean_run) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    out[i] = hash(i) % mean_run == 0;
}

__global__ void symbols_kernel(std::uint8_t* out, std::uint64_t size, const std::uint8_t* table) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < size;
       i += std::uint64_t{gridDim.x} * blockDim.x)
    out[i] = table[hash(i) >> 48];
}

void measure_copy(PrimitiveRows& rows) {
  const std::uint64_t bytes = std::uint64_t{1} << 30;
  DeviceArray<std::uint8_t> from(bytes), to(bytes);
  check(cudaMemset(from.get(), 1, bytes));
  const auto input = static_cast<double>(bytes);
  rows.push_back({"copy", "device", "1 GiB", input, 2 * input, launch_times([&] {
                    check(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice));
                  })});
}

}  // namespace

void make_changes(std::uint32_t* out, std::uint64_t size, unsigned mean_run) {
  changes_kernel<<<kGrid, kBlock>>>(out, size, mean_run);
  check(cudaGetLastError());
}

void make_symbols(std::uint8_t* out, std::uint64_t size, const std::uint8_t* table) {
  symbols_kernel<<<kGrid, kBlock>>>(out, size, table);
  check(cudaGetLastError());
}

std::vector<PrimitiveRow> measure_primitives(int device_number, bool quick) {
  check(cudaSetDevice(device_number));
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 28;
  PrimitiveRows rows;
  measure_copy(rows);
  for (const unsigned mean_run : {1u, 8u, 1000u})
    for (std::uint64_t size = quick ? kLarge : 1 << 10; size <= kLarge; size *= 4)
      measure_runs(rows, size, mean_run);
  for (const unsigned one_in : {2u, 16u}) measure_compact(rows, kLarge, one_in);
  measure_scan(rows, kLarge);
  for (const double bits : {0.0, 1.0, 2.0, 4.0, 6.0, 7.5, 8.0}) {
    for (std::uint64_t size = quick ? kLarge : 1 << 18; size < kLarge; size *= 16)
      measure_codes(rows, size, bits, false);
    measure_codes(rows, kLarge, bits, !quick);
    measure_codes(rows, 4 * kLarge, bits, false);
  }
  return rows;
}

}  // namespace zerorun::app::bench
