// Scans and stream compaction, by CUB. Serial twins: codec/entropy/scan.cpp. The program
// samples/scan_compaction.cu shows and times the textbook forms.
// SPDX-License-Identifier: MIT
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {
namespace {

/// Makes a CUB call: once to measure its scratch, and once more to launch it if there is scratch.
template <typename Call>
Status run_cub(void* d_scratch, std::size_t& scratch_bytes, const Call& call) {
  std::size_t needed = 0;
  ZR_CUDA_TRY(call(nullptr, needed));
  CallerScratch scratch(d_scratch);
  char* const temporary = scratch.take<char>(needed);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  return ZR_CUDA_STATUS(call(temporary, needed));
}

}  // namespace

Status exclusive_scan(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
                      std::uint64_t size, std::uint32_t* d_out, cudaStream_t stream) {
  return run_cub(d_scratch, scratch_bytes, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(temporary, bytes, d_in, d_out, size, stream);
  });
}

Status inclusive_scan(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
                      std::uint64_t size, std::uint32_t* d_out, cudaStream_t stream) {
  return run_cub(d_scratch, scratch_bytes, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(temporary, bytes, d_in, d_out, size, stream);
  });
}

Status compact(void* d_scratch, std::size_t& scratch_bytes, const std::int32_t* d_in,
               const std::uint8_t* d_flags, std::uint64_t size, std::int32_t* d_out,
               std::uint64_t* d_kept, cudaStream_t stream) {
  return run_cub(d_scratch, scratch_bytes, [&](void* temporary, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(temporary, bytes, d_in, d_flags, d_out, d_kept,
                                      static_cast<std::int64_t>(size), stream);
  });
}

}  // namespace zerorun::cuda_entropy
