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
#include "cuda/decode/scan_plan.hpp"

namespace zerorun {
namespace {

using namespace chunk_sync;

extern __shared__ __align__(4 * kSyncCopyUnit) std::uint32_t dynamic_shared[];

/// Whether the kernel begins beside unstuff_scan(), and is followed itself.
__device__ inline bool follows_bus(const WalkArgs& a) { return a.tile_states != nullptr; }

/// The interval of a subsequence: the last one that begins there or before.
__device__ std::uint32_t find_interval(const WalkArgs& a, std::uint32_t intervals,
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
template <typename Shared>
__device__ ScanProgress await_chunk(const WalkArgs& a, Shared& s, std::int64_t first_sub) {
  if (!follows_bus(a)) {
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
template <typename Shared>
__device__ void place_subsequences(const WalkArgs& a, Shared& s, std::int64_t first_sub,
                                   const ScanProgress& progress) {
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t base = find_interval(
      a, progress.intervals, static_cast<std::uint32_t>(max(first_sub, std::int64_t{0})));
  std::uint32_t interval = base;
  if (progress.intervals > 1) {
    if (thread < Shared::kSubsequences) s.tally[thread] = 0;
    __syncthreads();
    const std::uint32_t next = base + 1 + thread;
    if (thread < Shared::kSubsequences && next < progress.intervals) {
      const std::int64_t at = first_subsequence_of(next, a.interval_first[next]) - first_sub;
      if (at < Shared::kSubsequences) s.tally[at] = next;
    }
    __syncthreads();
    std::uint32_t own = thread < Shared::kSubsequences ? s.tally[thread] : 0;
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
  if (thread >= Shared::kSubsequences) return;
  s.interval_step[thread] = static_cast<std::uint16_t>(interval - base);
  s.start[thread] = start;
  s.end[thread] = exists ? end : 0;
  s.ends.head[thread] = exists && index == 0;
  s.ends.count[thread] = 0;
  s.ends.open[thread] = exists && start + kSubsequenceBits < end;
}

/// Loads the words of all subsequences of the CTA.
template <typename Shared>
__device__ void load_words(const WalkArgs& a, Shared& s, const ScanProgress& progress) {
  const bool exists = threadIdx.x < Shared::kSubsequences && s.exists(threadIdx.x);
  if (threadIdx.x == 0) s.first_word = kNoWord;
  __syncthreads();
  if (is_first_of_warp(exists))
    atomicMin(&s.first_word, first_word_of<kSyncCopyUnit>(s.start[threadIdx.x]));
  if (__syncthreads_or(exists))
    copy_clean_words<kSyncCopyUnit>(a.words, progress.words(), s.first_word,
                                    last_subsequence(a) + 1, s.words, kThreads);
  wait_for_copies();
}

/// Whether the scan has faults for which the CTA need not begin. The CTAs of all chunks behind it,
/// which would wait for it, do not begin either. This kernel's own faults are counted apart.
__device__ inline bool is_hopeless(const WalkArgs& a, const ScanProgress& progress) {
  return follows_bus(a) ? !progress.fits(a) : a.summary->faults != 0;
}

/// Lists walks over subsequence `to` from ends `from` to `until` - 1 of the one before.
template <typename Shared>
__device__ void list_walks(Shared& s, std::uint32_t& listed, std::uint32_t to, std::uint32_t from,
                           std::uint32_t until) {
  if (from == until) return;
  std::uint32_t place = add_at(shared_address(&listed), until - from);
#pragma unroll 1
  for (; from < until; ++from) s.item(place++) = static_cast<std::uint16_t>(from << 8 | to);
}

/// Whether walks over a subsequence are listed for the ends of the one before.
template <typename Shared>
__device__ bool follows_another(const Shared& s, std::uint32_t sub) {
  return sub < Shared::kSubsequences && s.exists(sub) && !s.ends.head[sub];
}

/// The seed of a guess, if each has so many; without a division of integers.
__device__ inline std::uint32_t divide(std::uint32_t items, std::uint32_t guesses) {
  // Half an item is at least 0.05 of a seed, far more than the rounding of so small numbers.
  return static_cast<std::uint32_t>(
      __fdividef(static_cast<float>(items) + 0.5f, static_cast<float>(guesses)));
}

/// Walks every `guess_stride`-th subsequence from each block of the MCU as a guess, unless it is a
/// head, and lists the first walks of walk_ends(): from the ends of the guesses, and over the
/// heads.
template <typename Shared>
__device__ void walk_guesses(const WalkArgs& a, Shared& s, const SkipTables& tables) {
  const std::uint32_t stride = a.guess_stride;
  const std::uint32_t stride_log2 = 31 - __clz(static_cast<int>(stride));
  const std::uint32_t seeds = (last_subsequence(a) + 1) >> stride_log2;
  const auto guesses = static_cast<std::uint32_t>(a.cycle.period);
  // The guesses of a subsequence go to one warp: their walks have about as many steps.
  for (std::uint32_t item = threadIdx.x; item < guesses * seeds; item += kThreads) {
    const std::uint32_t seed = divide(item, guesses), sub = seed << stride_log2;
    const std::uint32_t phase = item - seed * guesses;
    if (s.ends.head[sub] || !s.ends.open[sub]) continue;
    WalkTally tally;
    s.ends.line[phase].reached[sub] =
        static_cast<std::uint16_t>(walk(a, s, tables, sub, {0, phase, 0}, tally));
  }
  __syncthreads();
  for (std::uint32_t seed = threadIdx.x; seed < seeds; seed += kThreads) {
    const std::uint32_t sub = seed << stride_log2;
    s.ends.collect(sub, guesses);
    if (follows_another(s, sub + 1)) list_walks(s, s.listed[0], sub + 1, 0, s.ends.count[sub]);
  }
  const std::uint32_t sub = threadIdx.x;
  if (sub < Shared::kSubsequences && s.ends.head[sub]) list_walks(s, s.listed[0], sub, 0, 1);
  __syncthreads();
}

/// The end of the round's first walk, if so few walks are left and it passed so many blocks that
/// other subsequences may end in the same state.
template <typename Shared>
__device__ std::uint16_t choose_offer(Shared& s, std::uint32_t listed) {
  if (listed > kOfferWalks) return kNoOffer;
  const std::uint32_t to = s.item(0) & 255;
  const auto& line = s.ends.line[s.item(0) >> 8];
  const bool repeats = tally_of_step(line.step[to]).blocks >= kOfferBlocks;
  return repeats && s.ends.open[to] ? line.reached[to] : kNoOffer;
}

/// Walks every subsequence from all ends of the subsequence before, until no new end turns up. A
/// barrier between walks and ends, and one between ends and walks, divide the rounds. Ends that
/// find no room are left to find_entries(). Returns false, to all threads, after kMostRounds.
template <typename Shared>
__device__ bool walk_ends(const WalkArgs& a, Shared& s, const SkipTables& tables) {
  const std::uint32_t sub = threadIdx.x;
  const bool has_column = sub < Shared::kSubsequences;  // all of a warp or none
  const bool is_head = has_column && s.ends.head[sub];
  const bool matches = has_column && s.ends.open[sub] && (is_head || sub > 0);
  // Ends before the subsequence that were walked from, and its own whose walks are listed.
  std::uint32_t walked = 0, listed_ends = has_column ? s.ends.count[sub] : 0;
  for (std::uint32_t round = 0; round < kMostRounds; ++round) {
    const std::uint32_t listed = s.listed[round % 2];
    std::uint32_t& listed_next = s.listed[1 - round % 2];
    const std::uint32_t entries = !matches ? 0 : is_head ? 1 : s.ends.count[sub - 1];
    if (listed == 0) return true;
    for (std::uint32_t item = threadIdx.x; item < listed; item += kThreads) {
      const std::uint32_t to = s.item(item) & 255, number = s.item(item) >> 8;
      const std::uint32_t from = s.ends.head[to] ? 0u : s.ends.line[number].state[to - 1];
      WalkTally tally;
      s.ends.line[number].reached[to] =
          static_cast<std::uint16_t>(walk(a, s, tables, to, unpack_walk_state(from), tally));
      s.ends.line[number].step[to] = make_step(tally);
    }
    if (threadIdx.x == 0) {
      if (round >= kOfferRounds) s.offered = choose_offer(s, listed);
      listed_next = 0;  // all have read it a round ago
    }
    __syncthreads();
    if (has_column) {
      if (entries != walked) {
        s.ends.match(sub, walked, entries, a.most_ends);
        walked = entries;
      }
      if (round >= kOfferRounds && s.offered != kNoOffer) s.ends.offer(sub, s.offered);
      const std::uint32_t count = s.ends.count[sub];
      if (count != listed_ends && follows_another(s, sub + 1))
        list_walks(s, listed_next, sub + 1, listed_ends, count);
      listed_ends = count;
    }
    __syncthreads();
  }
  return false;
}

/// The map strategy. Finds the state before each own subsequence, and its tally.
template <typename Shared>
__device__ void find_starts_by_maps(const WalkArgs& a, Shared& s, const SkipTables& tables) {
  walk_guesses(a, s, tables);
  if (walk_ends(a, s, tables)) {
    join_chunks(a, s);
    find_entries(a, s, tables);
    return;
  }
  if (threadIdx.x < Shared::kSubsequences) s.end[threadIdx.x] = 0;  // none exists any more
  if (threadIdx.x == 0) {
    give_up(a);
    publish(a, s, 0);
  }
  __syncthreads();
}

/// Of a CTA's shared memory, for scans of two pairs of tables.
constexpr std::size_t usual_bytes(std::uint32_t room) {
  return sync_shared_bytes(2, room == kLargeRoom ? kSparseEnds : kMostEnds, room);
}
static_assert(bounded_ctas(kSyncCtas, kThreads, usual_bytes(kLargeRoom), 90) == kSyncCtas &&
                  bounded_ctas(kSyncCtas, kThreads, usual_bytes(kMediumRoom), 90) == kSyncCtas,
              "as measured on Hopper");

/// `kRoom`: subsequences that a CTA has at most. `kCollects`: it decodes them, too.
template <std::uint32_t kRoom, bool kCollects, Strategy kStrategy>
__global__ void __launch_bounds__(kThreads, bounded_ctas(kSyncCtas, kThreads, usual_bytes(kRoom)))
    sync_subsequences_kernel(const __grid_constant__ WalkArgs a) {
  auto& s = *reinterpret_cast<ChunkMemory<kRoom>*>(dynamic_shared);
  std::uint32_t* const for_tables = dynamic_shared + sync_words(a.most_ends, kRoom);
  if (kCollects && follows_bus(a)) let_next_kernel_begin();
  const SkipTables tables = load_steps(a.tables, a.cycle, for_tables, kThreads);
  if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
  if (threadIdx.x == 0) s.ends.most = a.most_ends;
  const std::int64_t first_sub =
      std::int64_t{blockIdx.x} * a.chunk_subsequences - kWarmSubsequences;
  const ScanProgress progress = await_chunk(a, s, first_sub);
  std::uint64_t counts = 0;
  if (!is_hopeless(a, progress)) {
    place_subsequences(a, s, first_sub, progress);
    load_words(a, s, progress);
    __syncthreads();
    if constexpr (kStrategy == Strategy::exhaustive)
      find_starts_by_all_walks(a, s, tables);
    else
      find_starts_by_maps(a, s, tables);
    if constexpr (kCollects)
      counts = decode_chunk(a, s, for_tables);
    else
      leave_chunk(a, s);
  } else {
    wait_for_copies();
  }
  if (kCollects && follows_bus(a)) {
    publish_readable(a, counts);
    // The kernel behind this one waits for this one alone.
    wait_for_previous_kernel();
  }
}

template <std::uint32_t kRoom, bool kCollects, Strategy kStrategy>
SharedPermission& permission() {
  static SharedPermission of_kernel(
      reinterpret_cast<const void*>(sync_subsequences_kernel<kRoom, kCollects, kStrategy>));
  return of_kernel;
}

template <std::uint32_t kRoom, bool kCollects, Strategy kStrategy>
Status launch(const WalkArgs& args, std::size_t shared_bytes, LaunchChain& chain) {
  const LaunchShape shape{args.chunks, kThreads, shared_bytes};
  ZR_TRY((permission<kRoom, kCollects, kStrategy>().raise(shared_bytes)));
  ZR_CUDA_TRY(chain.add(sync_subsequences_kernel<kRoom, kCollects, kStrategy>, shape, args));
  return Status::ok();
}

}  // namespace

Status prepare_sync_subsequences() {
  ZR_TRY((permission<kMediumRoom, true, Strategy::map>().prepare()));
  ZR_TRY((permission<kLargeRoom, true, Strategy::map>().prepare()));
  ZR_TRY((permission<kLargeRoom, false, Strategy::map>().prepare()));
  return permission<kLargeRoom, false, Strategy::exhaustive>().prepare();
}

Status sync_subsequences(const WalkArgs& args, std::size_t shared_bytes, LaunchChain& chain) {
  if (args.exhaustive)
    return launch<kLargeRoom, false, Strategy::exhaustive>(args, shared_bytes, chain);
  if (!args.collects) return launch<kLargeRoom, false, Strategy::map>(args, shared_bytes, chain);
  return sync_room(args.chunk_subsequences) == kMediumRoom
             ? launch<kMediumRoom, true, Strategy::map>(args, shared_bytes, chain)
             : launch<kLargeRoom, true, Strategy::map>(args, shared_bytes, chain);
}

}  // namespace zerorun
