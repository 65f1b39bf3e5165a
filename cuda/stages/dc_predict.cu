// CUDA twin of codec/decode/dc_predict.cpp: one scan over the MCUs that starts anew in each
// interval.
// SPDX-License-Identifier: MIT
#include "codec/decode/dc_predict.hpp"

#include <cub/device/device_scan.cuh>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256;

/// Sums of DC differences, modulo 2^16 as DC itself; whether they start at an interval's beginning,
/// in 16 bits, because padding would be copied undefined.
struct DcSums {
  std::uint16_t dc[kMaxComponents];
  std::uint16_t starts_interval;

  ZR_HD void add(int component, int value) {
    dc[component] = static_cast<std::uint16_t>(dc[component] + value);
  }
};

/// Sums before an interval's beginning do not count after it.
struct SegmentedSum {
  ZR_HD DcSums operator()(const DcSums& a, DcSums b) const {
    if (b.starts_interval != 0) return b;
    for (int c = 0; c < kMaxComponents; ++c) b.add(c, a.dc[c]);
    b.starts_interval = a.starts_interval;
    return b;
  }
};

__device__ bool starts_interval(const DcPredictArgs& a, std::int64_t mcu) {
  return (a.first_mcu + mcu) % a.layout.interval_mcus() == 0;
}

/// sums[0] is the carry, sums[m + 1] the sum of MCU m; the last MCU's is not needed.
__global__ void __launch_bounds__(kThreads) sum_kernel(DcPredictArgs a, DcSums* sums) {
  const std::int64_t element = grid_thread();
  if (element >= a.mcu_count) return;
  DcSums sum{};
  if (element == 0) {
    for (int c = 0; c < a.layout.components; ++c) sum.add(c, a.carry[c]);
  } else {
    const std::int64_t mcu = element - 1;
    const std::int16_t* diff = a.diff + mcu * a.layout.blocks_per_mcu;
    for (int i = 0; i < a.layout.blocks_per_mcu; ++i) sum.add(a.layout.block_component[i], diff[i]);
    sum.starts_interval = starts_interval(a, mcu) ? 1 : 0;
  }
  sums[element] = sum;
}

/// After the scan sums[m] is everything before MCU m, the carry included.
__global__ void __launch_bounds__(kThreads) predict_kernel(DcPredictArgs a, const DcSums* sums) {
  const std::int64_t mcu = grid_thread();
  if (mcu >= a.mcu_count) return;
  DcSums sum = starts_interval(a, mcu) ? DcSums{} : sums[mcu];
  std::int64_t block = mcu * a.layout.blocks_per_mcu;
  for (int i = 0; i < a.layout.blocks_per_mcu; ++i, ++block) {
    const int c = a.layout.block_component[i];
    sum.add(c, a.diff[block]);
    a.coefficients[block * kBlockSize] = static_cast<std::int16_t>(sum.dc[c]);
  }
  if (mcu + 1 != a.mcu_count) return;
  for (int c = 0; c < a.layout.components; ++c) a.carry[c] = static_cast<std::int16_t>(sum.dc[c]);
}

}  // namespace

Status dc_predict_cuda(const DcPredictArgs& a, Exec& exec) {
  if (a.mcu_count == 0) return Status::ok();
  const cudaStream_t stream = stream_of(exec);
  const auto scan = [&](void* temp, std::size_t& temp_bytes, DcSums* sums) {
    return cub::DeviceScan::InclusiveScan(temp, temp_bytes, sums, sums, SegmentedSum{}, a.mcu_count,
                                          stream);
  };
  std::size_t temp_bytes = 0;
  ZR_CUDA_TRY(scan(nullptr, temp_bytes, nullptr));
  DcSums* sums = nullptr;
  std::byte* temp = nullptr;
  ZR_TRY(scratch_of(exec).carve(scratch_array(sums, a.mcu_count),
                                scratch_array(temp, static_cast<std::int64_t>(temp_bytes))));
  const unsigned ctas = grid_size(a.mcu_count, kThreads);
  ZR_LAUNCH(sum_kernel, ctas, kThreads, stream, a, sums);
  ZR_CUDA_TRY(scan(temp, temp_bytes, sums));
  ZR_LAUNCH(predict_kernel, ctas, kThreads, stream, a, sums);
  return Status::ok();
}

}  // namespace zerorun
