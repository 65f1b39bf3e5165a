// Run-length decode: each CTA fills a window of the output from the runs that reach into it, with
// cub::BlockRunLengthDecode. Serial twin: codec/entropy/primitives.cpp.
// SPDX-License-Identifier: MIT
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include "cuda/base/scratch.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/warp.cuh"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 256;
constexpr int kRunsPerThread = 2;
constexpr int kRuns = kThreads * kRunsPerThread;
constexpr int kItemsPerThread = 8;
constexpr int kItems = kThreads * kItemsPerThread;  // decoded at a time
constexpr int kWindow = 8 * kItems;                 // output elements of a CTA

using Decoder = cub::BlockRunLengthDecode<std::int32_t, kThreads, kRunsPerThread, kItemsPerThread>;
using Scan = cub::BlockScan<unsigned, kThreads>;
using Store =
    cub::BlockStore<std::int32_t, kThreads, kItemsPerThread, cub::BLOCK_STORE_WARP_TRANSPOSE>;

struct Args {
  const std::int32_t* values;
  const std::uint32_t* lengths;
  const std::uint64_t* offsets;  // first element of each run
  std::uint64_t runs;            // at least 1
  std::int32_t* out;
  std::uint64_t capacity;
  Outcome* outcome;
};

struct Shared {
  Decoder::TempStorage decoder;
  union {
    Scan::TempStorage scan;
    Store::TempStorage store;
  } cub;
  std::int32_t values[kRuns];
  unsigned lengths[kRuns];
  std::uint64_t first_run;
};

/// The last run that starts at or before `element`; it is not empty if the element exists. By one
/// warp, whose 32 lanes replace five steps of a binary search by one.
__device__ std::uint64_t find_run(const std::uint64_t* offsets, std::uint64_t runs,
                                  std::uint64_t element) {
  // offsets[low] <= element, and the answer is in [low, low + count).
  std::uint64_t low = 0, count = runs;
  while (count > 1) {
    const std::uint64_t step = ceil_div(count, 32);
    const std::uint64_t probe = (threadIdx.x % 32) * step;
    const bool before = probe < count && offsets[low + probe] <= element;
    const unsigned found = __ballot_sync(kFullWarp, before);  // lanes 0..k: offsets ascend
    const std::uint64_t skip = static_cast<unsigned>(31 - __clz(static_cast<int>(found))) * step;
    low += skip;
    count = count - skip < step ? count - skip : step;
  }
  return low;
}

/// Elements of a run inside [begin, end).
__device__ unsigned clip(std::uint64_t offset, std::uint64_t length, std::uint64_t begin,
                         std::uint64_t end) {
  const std::uint64_t from = offset > begin ? offset : begin;
  const std::uint64_t to = offset + length < end ? offset + length : end;
  return to > from ? static_cast<unsigned>(to - from) : 0;
}

/// Loads the next kRuns runs, clips them, and drops those that are then empty, since
/// BlockRunLengthDecode allows empty runs at its end only. Returns how many are left; the places
/// after them have length 0.
__device__ unsigned gather_runs(const Args& a, Shared& s, std::uint64_t first, std::uint64_t begin,
                                std::uint64_t end) {
  std::int32_t values[kRunsPerThread];
  unsigned lengths[kRunsPerThread], places[kRunsPerThread];
#pragma unroll
  for (int i = 0; i < kRunsPerThread; ++i) {
    const std::uint64_t run = first + threadIdx.x * kRunsPerThread + static_cast<unsigned>(i);
    const bool exists = run < a.runs;
    values[i] = exists ? a.values[run] : 0;
    lengths[i] = exists ? clip(a.offsets[run], a.lengths[run], begin, end) : 0;
    places[i] = lengths[i] > 0;
  }
  unsigned kept = 0;
  Scan(s.cub.scan).ExclusiveSum(places, places, kept);
#pragma unroll
  for (int i = 0; i < kRunsPerThread; ++i) s.lengths[threadIdx.x * kRunsPerThread + i] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kRunsPerThread; ++i) {
    if (lengths[i] == 0) continue;
    s.values[places[i]] = values[i];
    s.lengths[places[i]] = lengths[i];
  }
  __syncthreads();
  return kept;
}

/// Decodes the gathered runs to out[at...] and returns the number of elements.
__device__ unsigned decode_runs(const Args& a, Shared& s, unsigned kept, std::uint64_t at) {
  std::int32_t values[kRunsPerThread];
  unsigned lengths[kRunsPerThread];
#pragma unroll
  for (int i = 0; i < kRunsPerThread; ++i) {
    const unsigned run = threadIdx.x * kRunsPerThread + static_cast<unsigned>(i);
    lengths[i] = s.lengths[run];
    values[i] = run < kept ? s.values[run] : 0;
  }
  unsigned total = 0;
  Decoder decoder(s.decoder, values, lengths, total);
  for (unsigned done = 0; done < total; done += kItems) {
    std::int32_t items[kItemsPerThread];
    decoder.RunLengthDecode(items, done);
    const unsigned left = total - done;
    Store(s.cub.store)
        .Store(a.out + at + done, items, static_cast<int>(left < kItems ? left : kItems));
    __syncthreads();  // the next round uses the store's shared memory again
  }
  return total;
}

__global__ void __launch_bounds__(kThreads) run_length_decode_kernel(Args a) {
  __shared__ Shared s;
  const std::uint64_t total = a.offsets[a.runs - 1] + a.lengths[a.runs - 1];
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    a.outcome->count = total;
    if (total > a.capacity) report_fault(a.outcome, 0, Errc::output_too_small);
  }
  const std::uint64_t size = total < a.capacity ? total : a.capacity;
  std::uint64_t at = std::uint64_t{blockIdx.x} * kWindow;
  if (at >= size) return;
  const std::uint64_t end = at + kWindow < size ? at + kWindow : size;
  if (threadIdx.x < 32) {
    const std::uint64_t run = find_run(a.offsets, a.runs, at);
    if (threadIdx.x == 0) s.first_run = run;
  }
  __syncthreads();
  for (std::uint64_t run = s.first_run; at < end && run < a.runs; run += kRuns) {
    const unsigned kept = gather_runs(a, s, run, at, end);
    at += decode_runs(a, s, kept, at);
    __syncthreads();  // before the next runs are gathered
  }
}

}  // namespace

Status run_length_decode(void* d_scratch, std::size_t& scratch_bytes, const std::int32_t* d_values,
                         const std::uint32_t* d_lengths, std::uint64_t runs, std::int32_t* d_out,
                         std::uint64_t capacity, Outcome* d_outcome, cudaStream_t stream) {
  CallerScratch scratch(d_scratch);
  std::uint64_t* const offsets = scratch.take<std::uint64_t>(runs);
  const auto count = static_cast<std::int64_t>(runs);
  std::int64_t scan_bytes = 0;
  ZR_TRY(device_scan_temp_bytes(count, scan_bytes));
  char* const scan_scratch = scratch.take<char>(static_cast<std::uint64_t>(scan_bytes));
  const std::uint64_t windows = std::max<std::uint64_t>(1, ceil_div(capacity, kWindow));
  if (windows > kMaxGrid) return Status(Errc::invalid_argument, "at most 2^45 elements fit a grid");
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_TRY(reset(nullptr, 0, d_outcome, stream));
  if (runs == 0) return Status::ok();
  ZR_TRY(device_exclusive_scan(d_lengths, offsets, count, scan_scratch, scan_bytes, stream));
  ZR_LAUNCH(run_length_decode_kernel, static_cast<unsigned>(windows), kThreads, stream,
            {d_values, d_lengths, offsets, runs, d_out, capacity, d_outcome});
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
