// Prefix sums over device arrays.
// SPDX-License-Identifier: MIT
#include "cuda/base/scratch.hpp"

#include <algorithm>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

namespace zerorun {
namespace {

/// The type of the initial value is the type of the sums.
template <typename In, typename Out>
cudaError_t scan(void* temp, std::size_t& temp_bytes, const In* in, Out* out, std::int64_t count,
                 cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveScan(temp, temp_bytes, in, out, cuda::std::plus<>{}, Out{0},
                                        count, stream);
}

}  // namespace

Status device_scan_temp_bytes(std::int64_t count, std::int64_t& bytes) {
  std::size_t narrow = 0, widening = 0, wide = 0;
  std::uint32_t* const in32 = nullptr;
  std::uint64_t* const in64 = nullptr;
  ZR_CUDA_TRY(scan(nullptr, narrow, in32, in32, count, nullptr));
  ZR_CUDA_TRY(scan(nullptr, widening, in32, in64, count, nullptr));
  ZR_CUDA_TRY(scan(nullptr, wide, in64, in64, count, nullptr));
  bytes = static_cast<std::int64_t>(std::max({narrow, widening, wide, std::size_t{1}}));
  return Status::ok();
}

template <typename In, typename Out>
Status device_exclusive_scan(const In* in, Out* out, std::int64_t count, void* temp,
                             std::int64_t temp_bytes, cudaStream_t stream) {
  if (count == 0) return Status::ok();
  auto bytes = static_cast<std::size_t>(temp_bytes);
  return ZR_CUDA_STATUS(scan(temp, bytes, in, out, count, stream));
}

template Status device_exclusive_scan(const std::uint32_t*, std::uint32_t*, std::int64_t, void*,
                                      std::int64_t, cudaStream_t);
template Status device_exclusive_scan(const std::uint32_t*, std::uint64_t*, std::int64_t, void*,
                                      std::int64_t, cudaStream_t);
template Status device_exclusive_scan(const std::uint64_t*, std::uint64_t*, std::int64_t, void*,
                                      std::int64_t, cudaStream_t);

}  // namespace zerorun
