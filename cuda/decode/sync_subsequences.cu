// Huffman-coded bits synchronise themselves, after Weissenberger and Schmidt, "Accelerating JPEG
// Decompression on GPUs" (2021), but with a guess for each block of the MCU and with maps instead
// of repetition: see chunk_states.hpp. A CTA needs four to eight rounds for a 4K photo at q90.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_kernels.hpp"

#include "cuda/base/device_limits.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/this_device.hpp"
#include "cuda/decode/chunk_sync.cuh"
#include "cuda/decode/own_subsequence.cuh"

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

/// Returns, to all threads, what is known of the scan: all of it, or as much as the CTA needs if it
/// follows the bus.
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

// When a CTA knows where its subsequences begin, it leaves them to decode_subsequences(), or
// decodes them to pairs itself. The words of bits are still in shared memory. The pairs are
// collected where the ends of the walks were, while one warp learns from the chunks before where
// they belong, and go to device memory in whole lines.

static_assert(kSymbolIndexBits <= kSkipBits, "symbol tables take the place of the skip tables");
static_assert(kWarmSubsequences >= 32, "the first warp has no subsequence, and looks back");

/// In place of where a block's first pair is collected: the block does not begin in the chunk.
inline constexpr std::uint16_t kBeginsElsewhere = 0xFFFF;
static_assert(4 * sync_words(kMostEnds) <= kBeginsElsewhere);

__device__ inline bool has_own(const ScanArgs& a) {
  return threadIdx.x >= kWarmSubsequences && threadIdx.x <= last_subsequence(a);
}

/// Returns the thread's subsequence with what is before it in the chunk, and the chunk's counts,
/// which it publishes. After its barrier the memory from s.start on is free.
__device__ OwnSubsequence place_own(const ScanArgs& a, ChunkMemory& s, std::uint64_t& sum) {
  const std::uint32_t sub = threadIdx.x, last = last_subsequence(a);
  OwnSubsequence own{};
  if (has_own(a) && s.exists(sub)) {
    own.entry = s.entry(sub);
    own.exit = sub == last ? s.published_end : s.entry(sub + 1);
    own.bit = s.start[sub] + unpack_walk_state(own.entry).overshoot;
    own.stop = s.start[sub] + kSubsequenceBits + unpack_walk_state(own.exit).overshoot;
    own.end = s.end[sub];
    own.interval = s.interval(sub);
    const WalkTally tally = tally_of_step(s.tally[sub]);
    own.blocks = static_cast<std::uint16_t>(tally.blocks);
    own.pairs = static_cast<std::uint16_t>(tally.pairs);
    own.is_first = s.ends.head[sub];
    own.is_last = !s.ends.open[sub];
  }
  std::uint64_t place;
  CountSum(s.sum_scan).ExclusiveSum(pack_counts(own.blocks, own.pairs), place, sum);
  own.block = blocks_of(place);
  own.pair = pairs_of(place);
  if (threadIdx.x == 0) publish_counts(a, sum);
  return own;
}

/// Leaves the chunk, whose entries are found, to decode_subsequences().
__device__ void leave_chunk(const ScanArgs& a, ChunkMemory& s) {
  std::uint64_t sum;
  const OwnSubsequence own = place_own(a, s, sum);
  if (has_own(a))
    a.own[blockIdx.x * a.plan.chunk_subsequences + threadIdx.x - kWarmSubsequences] = own;
}

/// A chunk with wide levels is decoded again, directly: a branch for them takes 4 of the 82 us of a
/// 1920x1080 photo at q90 (H200).
struct CollectedPairs {
  /// What stands for a block is the address that gets its first pair, and for a pair its bytes from
  /// the chunk's first one, so that no step computes them.
  static constexpr std::uint32_t kBlockUnits = sizeof(std::uint16_t);
  static constexpr std::uint32_t kPairUnits = sizeof(std::uint16_t);

  SharedAddress pairs, blocks;
  /// Blocks from this one on are not to be stored: a damaged interval may end inside one that has
  /// the number of the next interval's first.
  SharedAddress blocks_end = 0;
  std::uint32_t most = 0;  ///< SSSS of all levels that may be wide

  __device__ PairTarget place(const PairTarget& target) const {
    return {blocks + target.block * kBlockUnits, target.pair * kPairUnits};
  }
  __device__ void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition && block < blocks_end) store_half(block, static_cast<std::uint16_t>(pair));
  }
  __device__ std::uint32_t put(std::uint32_t number, const WalkPair& first,
                               const WalkPair& second) {
    store_pair(number, first);
    most = max(most, first.ssss);
    store_pair(number, second);
    return number;
  }
  __device__ void finish(std::uint32_t) const {}
  __device__ bool has_wide() const { return most > kMostNarrowSsss << kFirstSsssShift; }

 private:
  __device__ void store_pair(std::uint32_t& number, const WalkPair& pair) const {
    if (!pair.exists) return;
    store_half(pairs + number, pack_pair(pair.index, pair.level));
    number += kPairUnits;
  }
};

/// Decodes the chunk, whose entries are found. All threads have passed a barrier since they used
/// the skip tables, whose memory is `for_tables`. Returns pack_counts() up to the chunk's end; or
/// 0, if the scan was given up.
__device__ std::uint64_t decode_chunk(const ScanArgs& a, ChunkMemory& s,
                                      std::uint32_t* for_tables) {
  std::uint64_t sum;
  const OwnSubsequence own = place_own(a, s, sum);
  const SymbolTables tables = load_tables<false>(a, for_tables, kThreads);
  const std::uint32_t blocks = blocks_of(sum), pairs = pairs_of(sum);
  const std::uint32_t blocks_from = (pairs + kMostWalkPairs) / 2 * 2;
  const bool fits = blocks_from + blocks + kMostWalkPairs <= s.pair_room(a.plan.most_ends);
  std::uint16_t* const collected = s.pair_memory();
  if (threadIdx.x == 0 && fits)
    collected[blocks_from] = collected[blocks_from + blocks] = kBeginsElsewhere;
  const volatile std::uint32_t& unsettled = a.summary->unsettled;
  wait_for_copies();
  if (__syncthreads_or(threadIdx.x == 0 && unsettled != 0)) return 0;

  const SharedWords bits(s.words);
  const std::uint32_t origin = s.first_word * 32;
  const PairTarget local{own.block, own.pair};
  CollectedPairs sink{shared_address(collected), shared_address(collected + blocks_from)};
  const SharedAddress behind = sink.place({own.block + own.blocks, 0}).block;
  sink.blocks_end = kept(own.is_last ? behind : 0xFFFFFFFFu);
  std::uint32_t faults = 0;
  if (threadIdx.x < 32) {
    const std::uint64_t before = count_before(a, sum);
    if (threadIdx.x == 0) s.before = before;
  } else if (fits && own.end != 0) {
    faults = decode_own(bits, origin, tables, own, local, sink);
  }
  const bool any_wide = __syncthreads_or(sink.has_wide());
  if (own.end != 0 && !has_right_blocks(a, own, s.interval(threadIdx.x), s.before))
    faults |= kFaultCount;
  if (!fits_scan(a, s.before + sum)) {
    faults |= kFaultCount;
  } else if (fits && !any_wide) {
    const std::uint32_t first_block = blocks_of(s.before), first_pair = pairs_of(s.before);
    for (std::uint32_t i = threadIdx.x; i < pairs; i += kThreads)
      a.pairs[first_pair + i] = collected[i];
    for (std::uint32_t i = threadIdx.x; i <= blocks; i += kThreads) {
      const std::uint16_t at = collected[blocks_from + i];
      if (at != kBeginsElsewhere)
        a.block_pair[first_block + i] = first_pair + at / CollectedPairs::kPairUnits;
    }
  } else if (own.end != 0) {
    faults |= decode_directly(a, bits, origin, tables, own, s.before);
  }
  if (faults != 0) atomicOr(&a.summary->walk_faults, faults);
  return s.before + sum;
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
  const SkipTables tables = load_tables<true>(a, for_tables, kThreads);
  if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
  if (threadIdx.x == 0) s.ends.most = a.plan.most_ends;
  const std::int64_t first_sub =
      std::int64_t{blockIdx.x} * a.plan.chunk_subsequences - kWarmSubsequences;
  const ScanProgress progress = await_chunk(a, s, first_sub);
  std::uint64_t counts = 0;
  // With a fault the CTAs of all chunks behind this one, which would wait for it, do not begin
  // either. This kernel's own faults are counted apart.
  const bool fits = !progress.ended || progress.intervals == a.intervals;
  if (a.follows_bus ? fits : a.summary->faults == 0) {
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
    // The next kernel waits for this one only, so this one waits for the one before.
    wait_for_previous_kernel();
  }
}

constexpr auto kSync = sync_subsequences_kernel<false, Strategy::map>;
constexpr auto kSyncAndDecode = sync_subsequences_kernel<true, Strategy::map>;
constexpr auto kSyncExhaustively = sync_subsequences_kernel<false, Strategy::exhaustive>;

template <auto kKernel>
Status launch(const ScanArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.plan.chunks, kThreads, args.plan.sync_bytes};
  ZR_TRY(permission_of<kKernel>().raise(shape.shared_bytes));
  return ZR_CUDA_STATUS(launch_behind(kKernel, shape, stream, args));
}

}  // namespace

Status prepare_sync_subsequences() {
  ZR_TRY(permission_of<kSync>().prepare());
  ZR_TRY(permission_of<kSyncAndDecode>().prepare());
  return permission_of<kSyncExhaustively>().prepare();
}

Status sync_subsequences(const ScanArgs& args, cudaStream_t stream) {
  if (args.plan.strategy == Strategy::exhaustive) return launch<kSyncExhaustively>(args, stream);
  return args.plan.collects ? launch<kSyncAndDecode>(args, stream) : launch<kSync>(args, stream);
}

}  // namespace zerorun
