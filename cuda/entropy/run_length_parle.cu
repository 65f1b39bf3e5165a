// Run-length encode by the four kernels of PARLE (Balevic, "Fine-grain parallelization of entropy
// coding on GPGPUs", 2009): mask, inclusive scan, compaction, scatter. It keeps every array in
// between for the reader; run_length_encode.cu is the one to use. Serial twin:
// codec/entropy/run_length.cpp.
// SPDX-License-Identifier: MIT
#include <cub/device/device_scan.cuh>

#include "cuda/base/launch.hpp"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 256;

__device__ std::uint64_t first_index() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t index_step() { return std::uint64_t{gridDim.x} * blockDim.x; }

/// mask[i] = 1 where element i starts a run: it differs from the one before, or is the first.
template <typename Index>
__global__ void mask_kernel(const std::int32_t* in, std::uint64_t size, Index* mask) {
  for (std::uint64_t i = first_index(); i < size; i += index_step())
    mask[i] = i == 0 || in[i] != in[i - 1];
}

/// Element i belongs to run scanned[i] - 1. starts[r] becomes the first element of run r; the entry
/// after the last run becomes the size, so that every run ends where the next one starts.
template <typename Index>
__global__ void compact_kernel(const Index* scanned, std::uint64_t size, Index* starts,
                               Outcome* outcome) {
  for (std::uint64_t i = first_index(); i < size; i += index_step()) {
    if (i == 0 || scanned[i] != scanned[i - 1]) starts[scanned[i] - 1] = static_cast<Index>(i);
    if (i + 1 == size) {
      starts[scanned[i]] = static_cast<Index>(size);
      outcome->count = scanned[i];
    }
  }
}

/// Value and length of every run.
template <typename Index>
__global__ void scatter_kernel(const Index* starts, const std::int32_t* in, std::int32_t* values,
                               std::uint32_t* lengths, std::uint64_t capacity, Outcome* outcome) {
  const std::uint64_t runs = outcome->count;
  if (first_index() == 0 && runs > capacity)
    report_fault(outcome, capacity, Errc::output_too_small);
  for (std::uint64_t r = first_index(); r < runs; r += index_step()) {
    const Index begin = starts[r];
    const std::uint64_t length = starts[r + 1] - begin;
    if (length >> 32 != 0) report_fault(outcome, r, Errc::invalid_argument);
    if (r >= capacity) continue;
    values[r] = in[begin];
    lengths[r] = static_cast<std::uint32_t>(length);
  }
}

/// `Index` holds numbers up to `size`.
template <typename Index>
Status parle(void* d_scratch, std::size_t& scratch_bytes, const std::int32_t* d_in,
             std::uint64_t size, std::int32_t* d_values, std::uint32_t* d_lengths,
             std::uint64_t capacity, Outcome* d_outcome, cudaStream_t stream) {
  CallerScratch scratch(d_scratch);
  Index* const mask = scratch.take<Index>(size);
  Index* const scanned = scratch.take<Index>(size);
  Index* const starts = scratch.take<Index>(size + 1);
  std::size_t cub_bytes = 0;
  ZR_CUDA_TRY(cub::DeviceScan::InclusiveSum(nullptr, cub_bytes, mask, scanned, size, stream));
  char* const cub_scratch = scratch.take<char>(cub_bytes);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_TRY(reset(nullptr, 0, d_outcome, stream));
  if (size == 0) return Status::ok();

  unsigned grid = 0;
  ZR_CUDA_TRY(persistent_grid(mask_kernel<Index>, kThreads, 0, ceil_div(size, kThreads), grid));
  ZR_LAUNCH(mask_kernel<Index>, grid, kThreads, stream, d_in, size, mask);
  ZR_CUDA_TRY(cub::DeviceScan::InclusiveSum(cub_scratch, cub_bytes, mask, scanned, size, stream));
  ZR_LAUNCH(compact_kernel<Index>, grid, kThreads, stream, scanned, size, starts, d_outcome);
  ZR_LAUNCH(scatter_kernel<Index>, grid, kThreads, stream, starts, d_in, d_values, d_lengths,
            capacity, d_outcome);
  return Status::ok();
}

}  // namespace

Status run_length_encode_parle(void* d_scratch, std::size_t& scratch_bytes,
                               const std::int32_t* d_in, std::uint64_t size, std::int32_t* d_values,
                               std::uint32_t* d_lengths, std::uint64_t capacity, Outcome* d_outcome,
                               cudaStream_t stream) {
  const auto run = size >> 32 == 0 ? parle<std::uint32_t> : parle<std::uint64_t>;
  return run(d_scratch, scratch_bytes, d_in, size, d_values, d_lengths, capacity, d_outcome,
             stream);
}

}  // namespace zerorun::cuda_entropy
