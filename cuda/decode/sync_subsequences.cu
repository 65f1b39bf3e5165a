// Huffman-coded bits synchronise themselves, after Weissenberger and Schmidt, "Accelerating JPEG
// Decompression on GPUs" (2021), but with a guess for each block of the MCU and with maps instead
// of repetition: see subsequence_ends.hpp. A CTA needs four to eight rounds for a 4K photo at q90.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_kernels.hpp"

#include "cuda/base/architecture.cuh"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/shared_permission.hpp"
#include "cuda/decode/chunk_pairs.cuh"
#include "cuda/decode/exhaustive_walks.cuh"
#include "cuda/decode/map_chunk.cuh"

namespace zerorun {
namespace {

using namespace chunk_sync;

extern __shared__ __align__(4 * kSyncCopyUnit) std::uint32_t dynamic_shared[];

/// The interval of a subsequence: the last one that begins there or before.
__device__ std::uint32_t find_interval(const ScanArgs& a, std::uint32_t intervals,
                                       std::uint32_t sub) {
  std::uint32_t low = 0, high = intervals;
  while (high - low > 1) {
    const std::uint32_t step = (high - low + kThreads - 1) / kThreads;
    const std::uint32_t probe = low + (threadIdx.x + 1) * step;
    const bool before = probe < high && first_subsequence_of(probe, a.interval_first[probe]) <= sub;
    low += static_cast<std::uint32_t>(__syncthreads_count(before)) * step;
    high = min(low + step, high);
  }
  return low;
}

/// What is known of the scan: all, or as much as the CTA needs if it follows the bus. To all
/// threads.
__device__ ScanProgress await_chunk(const ScanArgs& a, ChunkMemory& s, std::int64_t first_sub) {
  if (!a.follows_bus) {
    wait_for_previous_kernel();
    return {a.summary->clean_bytes, a.intervals, true};
  }
  if (threadIdx.x < 32) {
    // All tiles say where intervals begin. Without restart markers only the CTA's own count.
    const std::uint32_t from =
        a.intervals > 1 ? 0 : static_cast<std::uint32_t>(max(first_sub, std::int64_t{0}));
    // So many whole subsequences, and one more, so that no codeword of the chunk ends behind them.
    // Each interval but the first begins with a subsequence, as if the one before ended with one.
    const std::int64_t needed = first_sub + last_subsequence(a) + 4;
    const ScanProgress progress = await_progress(
        a, first_word_of<kSyncCopyUnit>(from * kSubsequenceBits) * 4, [=](const ScanProgress& p) {
          return std::int64_t{p.bytes / kSubsequenceBytes} + p.intervals >= needed;
        });
    if (threadIdx.x == 0) s.progress = progress;
  }
  __syncthreads();
  return s.progress;
}

/// Finds start, end and interval of the CTA's subsequences, without reading a bit.
__device__ void place_subsequences(const ScanArgs& a, ChunkMemory& s, std::int64_t first_sub,
                                   const ScanProgress& progress) {
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t base = find_interval(
      a, progress.intervals, static_cast<std::uint32_t>(max(first_sub, std::int64_t{0})));
  std::uint32_t interval = base;
  if (progress.intervals > 1) {
    if (thread < kRoom) s.tally[thread] = 0;
    __syncthreads();
    const std::uint32_t next = base + 1 + thread;
    if (thread < kRoom && next < progress.intervals) {
      const std::int64_t at = first_subsequence_of(next, a.interval_first[next]) - first_sub;
      if (at < kRoom) s.tally[at] = next;
    }
    __syncthreads();
    std::uint32_t own = thread < kRoom ? s.tally[thread] : 0;
    const auto larger = [](std::uint32_t x, std::uint32_t y) { return max(x, y); };
    IntervalMax(s.max_scan).InclusiveScan(own, own, larger);
    interval = max(own, base);
  }
  const std::int64_t sub = first_sub + thread;
  const std::uint32_t sub_end =
      progress.ended ? first_subsequence_of(a.intervals, progress.bytes) : 0xFFFFFFFF;
  bool exists = sub >= 0 && sub < sub_end && thread <= last_subsequence(a);
  std::uint32_t start = 0, end = 0, index = 0;
  if (exists) {
    const std::uint32_t first_byte = interval == 0 ? 0 : a.interval_first[interval];
    index = static_cast<std::uint32_t>(sub) - first_subsequence_of(interval, first_byte);
    start = first_byte * 8 + index * kSubsequenceBits;
    end = progress.end_of(a, interval) * 8;
    exists = start < end;
  }
  if (thread == 0) s.base_interval = base;
  if (thread >= kRoom) return;
  s.interval_step[thread] = static_cast<std::uint16_t>(interval - base);
  s.start[thread] = start;
  s.end[thread] = exists ? end : 0;
  s.ends.head[thread] = exists && index == 0;
  s.ends.count[thread] = 0;
  s.ends.open[thread] = exists && start + kSubsequenceBits < end;
}

/// Loads the words of all subsequences of the CTA.
__device__ void load_words(const ScanArgs& a, ChunkMemory& s, const ScanProgress& progress) {
  const bool exists = threadIdx.x < kRoom && s.exists(threadIdx.x);
  if (threadIdx.x == 0) s.first_word = kNoWord;
  __syncthreads();
  if (is_first_of_warp(exists))
    atomicMin(&s.first_word, first_word_of<kSyncCopyUnit>(s.start[threadIdx.x]));
  if (__syncthreads_or(exists))
    copy_clean_words<kSyncCopyUnit>(a.words(), progress.words(), s.first_word,
                                    last_subsequence(a) + 1, s.words, kThreads);
  wait_for_copies();
}

/// Whether the scan has faults for which the CTA need not begin. The CTAs of all chunks behind it,
/// which would wait for it, do not begin either. This kernel's own faults are counted apart.
__device__ inline bool is_hopeless(const ScanArgs& a, const ScanProgress& progress) {
  return a.follows_bus ? !progress.fits(a) : a.summary->faults != 0;
}

/// A CTA's shared memory, for scans of two pairs of tables.
constexpr std::size_t kUsualBytes = sync_shared_bytes(2, kSparseEnds);
static_assert(bounded_ctas(kSyncCtas, kThreads, kUsualBytes, 90) == kSyncCtas,
              "as measured on Hopper");

/// `kCollects`: the kernel decodes the subsequences, too.
template <bool kCollects, Strategy kStrategy>
__global__ void __launch_bounds__(kThreads, bounded_ctas(kSyncCtas, kThreads, kUsualBytes))
    sync_subsequences_kernel(const __grid_constant__ ScanArgs a) {
  auto& s = *reinterpret_cast<ChunkMemory*>(dynamic_shared);
  std::uint32_t* const for_tables = dynamic_shared + sync_words(a.plan.most_ends);
  if (kCollects && a.follows_bus) let_next_kernel_begin();
  const SkipTables tables = load_steps(a.tables, a.cycle, for_tables, kThreads);
  if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
  if (threadIdx.x == 0) s.ends.most = a.plan.most_ends;
  const std::int64_t first_sub =
      std::int64_t{blockIdx.x} * a.plan.chunk_subsequences - kWarmSubsequences;
  const ScanProgress progress = await_chunk(a, s, first_sub);
  std::uint64_t counts = 0;
  if (!is_hopeless(a, progress)) {
    place_subsequences(a, s, first_sub, progress);
    load_words(a, s, progress);
    __syncthreads();
    if constexpr (kStrategy == Strategy::exhaustive)
      ExhaustiveChunk({a, s, tables}).find_starts();
    else
      MapChunk{{a, s, tables}}.find_starts();
    if constexpr (kCollects)
      counts = decode_chunk(a, s, for_tables);
    else
      leave_chunk(a, s);
  } else {
    wait_for_copies();
  }
  if (kCollects && a.follows_bus) {
    publish_readable(a, counts);
    // The kernel behind this one waits for this one alone.
    wait_for_previous_kernel();
  }
}

using SyncKernel = void (*)(ScanArgs);
struct PermittedKernel {
  SyncKernel kernel;
  SharedPermission permission{reinterpret_cast<const void*>(kernel)};
};
PermittedKernel& kernel_of(const ScanPlan& plan) {
  static PermittedKernel collecting{sync_subsequences_kernel<true, Strategy::map>};
  static PermittedKernel leaving{sync_subsequences_kernel<false, Strategy::map>};
  static PermittedKernel exhaustive{sync_subsequences_kernel<false, Strategy::exhaustive>};
  if (plan.strategy == Strategy::exhaustive) return exhaustive;
  return plan.collects ? collecting : leaving;
}

}  // namespace

Status prepare_sync_subsequences() {
  ScanPlan plan{};
  ZR_TRY(kernel_of(plan).permission.prepare());
  plan.collects = true;
  ZR_TRY(kernel_of(plan).permission.prepare());
  plan = {};
  plan.strategy = Strategy::exhaustive;
  return kernel_of(plan).permission.prepare();
}

Status sync_subsequences(const ScanArgs& args, LaunchChain& chain) {
  PermittedKernel& chosen = kernel_of(args.plan);
  const LaunchShape shape{args.plan.chunks, kThreads, args.plan.sync_bytes};
  ZR_TRY(chosen.permission.raise(shape.shared_bytes));
  ZR_CUDA_TRY(chain.add(chosen.kernel, shape, args));
  return Status::ok();
}

}  // namespace zerorun
