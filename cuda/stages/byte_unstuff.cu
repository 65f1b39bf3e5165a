// CUDA twin of codec/decode/byte_unstuff.cpp: flag, scan, scatter. A thread does sixteen bytes.
// SPDX-License-Identifier: MIT
#include "codec/decode/byte_unstuff.hpp"

#include <cub/device/device_scan.cuh>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/stuffed_bytes.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = kStuffedBytesPerThread;
constexpr std::uint64_t kNoStop = ~std::uint64_t{0};

/// Clean bytes and borders of a range.
struct Counts {
  std::uint64_t bytes, borders;
};
struct AddCounts {
  __host__ __device__ Counts operator()(const Counts& a, const Counts& b) const {
    return {a.bytes + b.bytes, a.borders + b.borders};
  }
};

/// Index of the thread's first byte in the input.
__device__ std::int64_t first_byte(const StuffedBytes& input) {
  return grid_thread() * kPerThread - input.lead;
}

/// Counts of each thread up to the first marker in its bytes, and the first marker of all. Counts
/// of threads after that marker are never used.
__global__ void __launch_bounds__(kThreads)
    count_kernel(StuffedBytes input, Counts* counts, unsigned long long* stop) {
  const std::int64_t first = first_byte(input);
  const StuffedFlags flags = classify(input, first, load_window(input, first));
  if (flags.stop < kPerThread) atomicMin(stop, static_cast<unsigned long long>(first + flags.stop));
  counts[grid_thread()] = {static_cast<std::uint64_t>(__popc(flags.emit)),
                           static_cast<std::uint64_t>(__popc(flags.border))};
}

/// `counts`: of all threads before.
__global__ void __launch_bounds__(kThreads)
    scatter_kernel(StuffedBytes input, ByteUnstuffArgs a, const Counts* counts,
                   const unsigned long long* stop) {
  const bool stopped = *stop != kNoStop;
  const auto end = static_cast<std::int64_t>(stopped ? *stop : a.in_bytes);
  const std::int64_t first = first_byte(input);
  const StuffedWindow window = load_window(input, first);
  const StuffedFlags flags = classify(input, first, window);
  if (grid_thread() == 0) a.segments[0].first_byte = a.segments[0].source_byte = 0;
  if (first >= end && grid_thread() > 0) return;
  const StuffedWindow emitted = emitted_bytes(window, flags);
  auto [at, segment] = counts[grid_thread()];
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    if ((flags.emit >> i & 1) != 0) a.bytes[at++] = emitted.byte(i);
    if ((flags.border >> i & 1) != 0) {
      a.segments[segment].marker = window.byte(i);
      ++segment;
      a.segments[segment].first_byte = at;
      a.segments[segment].source_byte = static_cast<std::uint64_t>(first + i + 1);
    }
  }
  if (end > first + kPerThread) return;
  // The thread with the last byte ends the last segment, in front of the FF of a marker.
  const std::uint64_t consumed = stopped ? *stop - 1 : a.in_bytes;
  a.segments[segment].marker = 0;
  a.segments[segment + 1] = {at, consumed, 0};
  *a.segment_total = segment + 1;
  *a.consumed_bytes = consumed;
}

}  // namespace

Status byte_unstuff_cuda(const ByteUnstuffArgs& a, Exec& exec) {
  const auto lead = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in) % kPerThread);
  const StuffedBytes input{a.in, static_cast<std::int64_t>(a.in_bytes), lead};
  const unsigned ctas = grid_size(input.in_bytes + lead, kThreads * kPerThread);
  const std::int64_t threads = std::int64_t{ctas} * kThreads;
  const cudaStream_t stream = stream_of(exec);
  const auto scan = [&](void* temp, std::size_t& temp_bytes, Counts* counts) {
    return cub::DeviceScan::ExclusiveScan(temp, temp_bytes, counts, counts, AddCounts{},
                                          Counts{0, 0}, threads, stream);
  };
  std::size_t temp_bytes = 0;
  ZR_CUDA_TRY(scan(nullptr, temp_bytes, nullptr));
  Counts* counts = nullptr;
  unsigned long long* stop = nullptr;
  std::byte* temp = nullptr;
  ZR_TRY(scratch_of(exec).carve(scratch_array(counts, threads), scratch_array(stop, 1),
                                scratch_array(temp, static_cast<std::int64_t>(temp_bytes))));
  ZR_CUDA_TRY(cudaMemsetAsync(stop, 0xFF, sizeof *stop, stream));
  ZR_LAUNCH(count_kernel, ctas, kThreads, stream, input, counts, stop);
  ZR_CUDA_TRY(scan(temp, temp_bytes, counts));
  ZR_LAUNCH(scatter_kernel, ctas, kThreads, stream, input, a, counts, stop);
  return Status::ok();
}

}  // namespace zerorun
