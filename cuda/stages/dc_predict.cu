// CUDA twin of codec/decode/dc_predict.cpp: one scan over the MCUs that starts anew in each
// interval.
// SPDX-License-Identifier: MIT
#include "codec/decode/dc_predict.hpp"

#include <cub/device/device_scan.cuh>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/tuning.hpp"

namespace zerorun {
namespace {

static_assert(kMaxComponents == 3);

/// Sums of three components, 16 bits each; bit 48 says that they start at an interval's beginning.
struct DcSums {
  std::uint64_t packed;
};
using tuning::kThreads;
constexpr std::uint64_t kStartsInterval = std::uint64_t{1} << 48;

/// Adds lanes modulo 2^16: carries stop below the top bit of each lane, which is added separately.
ZR_HD std::uint64_t add_lanes(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kTopBits = 0x800080008000;
  constexpr std::uint64_t kOthers = 0x7FFF7FFF7FFF;
  return ((a & kOthers) + (b & kOthers)) ^ ((a ^ b) & kTopBits);
}

/// Sums before an interval's beginning do not count after it.
struct SegmentedSum {
  __host__ __device__ DcSums operator()(DcSums a, DcSums b) const {
    if ((b.packed & kStartsInterval) != 0) return b;
    return {add_lanes(a.packed, b.packed) | (a.packed & kStartsInterval)};
  }
};

ZR_HD std::uint64_t lane(std::uint16_t value, int component) {
  return std::uint64_t{value} << (16 * component);
}

__device__ bool starts_interval(const DcPredictArgs& a, std::int64_t mcu) {
  return (a.first_mcu + mcu) % a.layout.interval_mcus() == 0;
}

/// sums[0] is the carry, sums[m + 1] the sum of MCU m; the last MCU's is not needed.
__global__ void __launch_bounds__(kThreads) sum_kernel(DcPredictArgs a, DcSums* sums) {
  const std::int64_t element = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (element >= a.mcu_count) return;
  std::uint64_t sum = 0;
  if (element == 0) {
    for (int c = 0; c < kMaxComponents; ++c) sum |= lane(static_cast<std::uint16_t>(a.carry[c]), c);
  } else {
    const std::int64_t mcu = element - 1;
    const std::int16_t* diff = a.diff + mcu * a.layout.blocks_per_mcu;
    for (int i = 0; i < a.layout.blocks_per_mcu; ++i)
      sum = add_lanes(sum, lane(static_cast<std::uint16_t>(diff[i]), a.layout.block_component[i]));
    if (starts_interval(a, mcu)) sum |= kStartsInterval;
  }
  sums[element].packed = sum;
}

/// After the scan sums[m] is everything before MCU m, the carry included.
__global__ void __launch_bounds__(kThreads) predict_kernel(DcPredictArgs a, const DcSums* sums) {
  const std::int64_t mcu = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (mcu >= a.mcu_count) return;
  std::uint64_t dc = starts_interval(a, mcu) ? 0 : sums[mcu].packed & (kStartsInterval - 1);
  std::int64_t block = mcu * a.layout.blocks_per_mcu;
  for (int i = 0; i < a.layout.blocks_per_mcu; ++i, ++block) {
    const int c = a.layout.block_component[i];
    dc = add_lanes(dc, lane(static_cast<std::uint16_t>(a.diff[block]), c));
    a.coefficients[block * kBlockSize] = static_cast<std::int16_t>(dc >> (16 * c));
  }
  if (mcu + 1 != a.mcu_count) return;
  for (int c = 0; c < kMaxComponents; ++c) a.carry[c] = static_cast<std::int16_t>(dc >> (16 * c));
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
