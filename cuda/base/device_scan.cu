// Prefix sums over device arrays.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_scan.hpp"

#include <algorithm>
#include <limits>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

namespace zerorun {
namespace {

/// Sums are formed in the type of `out`: the initial value's type decides.
template <typename In, typename Out>
cudaError_t scan(void* temp, std::size_t& temp_bytes, const In* in, Out* out, std::int64_t count,
                 cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveScan(temp, temp_bytes, in, out, cuda::std::plus<>{}, Out{0},
                                        static_cast<int>(count), stream);
}

Status check_count(std::int64_t count) {
  if (count <= std::numeric_limits<int>::max()) return Status::ok();
  return Status(Errc::out_of_memory, "the frame is too large for one scan of the CUDA backend");
}

template <typename In, typename Out>
Status run(const In* in, Out* out, std::int64_t count, void* temp, std::int64_t temp_bytes,
           cudaStream_t stream) {
  if (count == 0) return Status::ok();
  ZR_TRY(check_count(count));
  auto bytes = static_cast<std::size_t>(temp_bytes);
  ZR_CUDA_TRY(scan(temp, bytes, in, out, count, stream));
  return Status::ok();
}

}  // namespace

Status device_scan_temp_bytes(std::int64_t count, std::int64_t& bytes) {
  ZR_TRY(check_count(count));
  std::size_t narrow = 0, widening = 0, wide = 0;
  const std::uint32_t* in = nullptr;
  std::uint32_t* out32 = nullptr;
  std::uint64_t* out64 = nullptr;
  ZR_CUDA_TRY(scan(nullptr, narrow, in, out32, count, nullptr));
  ZR_CUDA_TRY(scan(nullptr, widening, in, out64, count, nullptr));
  ZR_CUDA_TRY(scan(nullptr, wide, static_cast<const std::uint64_t*>(out64), out64, count, nullptr));
  bytes = static_cast<std::int64_t>(std::max({narrow, widening, wide, std::size_t{1}}));
  return Status::ok();
}

Status device_exclusive_scan(const std::uint32_t* in, std::uint32_t* out, std::int64_t count,
                             void* temp, std::int64_t temp_bytes, cudaStream_t stream) {
  return run(in, out, count, temp, temp_bytes, stream);
}

Status device_exclusive_scan(const std::uint32_t* in, std::uint64_t* out, std::int64_t count,
                             void* temp, std::int64_t temp_bytes, cudaStream_t stream) {
  return run(in, out, count, temp, temp_bytes, stream);
}

Status device_exclusive_scan(const std::uint64_t* in, std::uint64_t* out, std::int64_t count,
                             void* temp, std::int64_t temp_bytes, cudaStream_t stream) {
  return run(in, out, count, temp, temp_bytes, stream);
}

}  // namespace zerorun
