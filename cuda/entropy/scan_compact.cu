// Scans and stream compaction, by CUB. Serial twins: codec/entropy/scan.cpp. The textbook forms are
// shown and timed in samples/scan_compaction.cu.
// SPDX-License-Identifier: MIT
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "cuda/entropy/launch.hpp"
#include "cuda/entropy/scan_lengths.hpp"

namespace zerorun::cuda_entropy {
namespace {

/// Runs a CUB call twice in one shape: to measure its scratch, or to launch it.
template <typename Call>
Status run_cub(void* d_scratch, std::size_t& scratch_bytes, const Call& call) {
  std::size_t needed = 0;
  ZR_ENTROPY_TRY(call(nullptr, needed));
  Scratch scratch(d_scratch);
  char* const temporary = scratch.take<char>(needed);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_ENTROPY_TRY(call(temporary, needed));
  return Status::ok();
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

cudaError_t scan_lengths(void* scratch, std::size_t& bytes, const std::uint32_t* lengths,
                         std::uint64_t size, std::uint64_t* offsets, cudaStream_t stream) {
  return cub::DeviceScan::ExclusiveScan(scratch, bytes, lengths, offsets, cuda::std::plus<>{},
                                        std::uint64_t{0}, size, stream);
}

}  // namespace zerorun::cuda_entropy
