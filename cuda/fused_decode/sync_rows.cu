// Rows of Huffman-coded bits that synchronise themselves, after Weissenberger and Schmidt,
// "Accelerating JPEG Decompression on GPUs" (2021), but with a guess for each block of the MCU and
// with maps instead of repetition: row_ends.hpp. With one guess a row, each walked again until its
// neighbour no longer changed, a CTA went through 35 rounds for a 4K photo at q90; now it takes
// four to eight.
// SPDX-License-Identifier: MIT
#include "cuda/fused_decode/sync_rows.hpp"

#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_scan.cuh>

#include "cuda/check.hpp"
#include "cuda/fused_decode/row_ends.hpp"
#include "cuda/fused_decode/shared_tables.cuh"
#include "cuda/launch.hpp"

namespace zerorun {
namespace {

/// Three such CTAs fit into a processor, by shared memory and by registers. Frames of 3840x2160 at
/// q90, eight at once, on an H200: 66 us each; 74 with two CTAs of 512 threads, which are no faster
/// with a single frame.
constexpr int kThreads = 384;
constexpr int kWarps = kThreads / 32;
/// Rows before the chunk that are walked too, so that its own first row is mostly found without
/// waiting for the chunk before: 9 Kibit.
constexpr std::uint32_t kWarmRows = 32;
constexpr std::uint32_t kRows = kWarmRows + kChunkRows;
static_assert(kWarmRows % kSegmentRows == 0 && kRows % 32 == 0 && kRows <= 256 &&
              kRows <= kThreads);
/// A scan in which more rows than these have to be walked one after the other is given up; the
/// staged decoder is the better one for it. All of a small image of noise may be.
constexpr std::uint32_t kMostLateWalks = 256, kMostLateWalksOfChunk = 2;
constexpr std::uint32_t kPublished = 1u << 31;

using RowMax = cub::BlockScan<std::uint32_t, kThreads>;
using CountSum = cub::BlockScan<std::uint64_t, kThreads>;
using SkipTables = SharedTables<kSkipBits>;
using ListPlace = cub::WarpScan<std::uint32_t>;

struct Shared {
  union {
    std::uint32_t words[words_of_rows(kRows)];
    typename RowMax::TempStorage max_scan;    ///< before the words are there
    typename CountSum::TempStorage sum_scan;  ///< after they were needed
  };
  std::uint32_t start[kRows], end[kRows];  ///< bits; the end is the interval's, 0: no row
  std::uint32_t tally[kRows];              ///< as a step; before, the intervals that begin there
  typename ListPlace::TempStorage list_place[kWarps];
  std::uint32_t listed[2];
  std::uint32_t first_word, own_first_word;
  std::uint32_t first_number, first_state;           ///< before the chunk's first own row
  std::uint8_t segment_first[kRows / kSegmentRows];  ///< number before the segment, of own ones
  bool published, last_chunk;
  RowEnds<kRows> ends;  ///< the last: not all of its lines may be there

  __device__ bool exists(std::uint32_t row) const { return end[row] != 0; }
  __device__ std::uint16_t& item(std::uint32_t number) {
    return ends.line[number / kRows].item[number % kRows];
  }
  /// pack() of the state before a row, when there are no more items.
  __device__ std::uint16_t& entry(std::uint32_t row) { return item(row); }
};

extern __shared__ __align__(16) std::uint32_t dynamic_shared[];

/// Of a `Shared` with so many lines.
ZR_HD constexpr std::uint32_t shared_words(std::uint32_t ends) {
  constexpr std::uint32_t kLine = sizeof(RowEnds<kRows>::Line);
  return static_cast<std::uint32_t>(sizeof(Shared) - (kMostEnds - ends) * kLine + 15) / 16 * 4;
}
static_assert(3 * (4 * (shared_words(kUsualEnds) + SkipTables::words(2)) + 1024) <= 228 * 1024,
              "three CTAs in a processor of Hopper");

/// The interval that row `row` belongs to: the last one that begins there or before.
__device__ std::uint32_t find_interval(const SyncRowsArgs& a, std::uint32_t row) {
  std::uint32_t low = 0, high = a.intervals;
  while (high - low > 1) {
    const std::uint32_t step = (high - low + kThreads - 1) / kThreads;
    const std::uint32_t probe = low + (threadIdx.x + 1) * step;
    const bool before = probe < high && first_row_of(probe, a.interval_first[probe]) <= row;
    low += static_cast<std::uint32_t>(__syncthreads_count(before)) * step;
    high = min(low + step, high);
  }
  return low;
}

/// What is known of the rows before a bit is read; returns the interval of the thread's row.
__device__ std::uint32_t place_rows(const SyncRowsArgs& a, Shared& s, std::int64_t first_row,
                                    std::uint32_t row_end) {
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t base =
      find_interval(a, static_cast<std::uint32_t>(max(first_row, std::int64_t{0})));
  if (thread < kRows) s.tally[thread] = 0;
  __syncthreads();
  const std::uint32_t next = base + 1 + thread;
  if (thread < kRows && next < a.intervals) {
    const std::int64_t at = first_row_of(next, a.interval_first[next]) - first_row;
    if (at < kRows) s.tally[at] = next;
  }
  __syncthreads();
  std::uint32_t interval = thread < kRows ? s.tally[thread] : 0;
  RowMax(s.max_scan).InclusiveScan(interval, interval, cuda::maximum<>{});
  interval = max(interval, base);
  const std::int64_t row = first_row + thread;
  bool exists = row >= 0 && row < row_end;
  std::uint32_t start = 0, end = 0, index = 0;
  if (exists) {
    const std::uint32_t first_byte = a.interval_first[interval];
    index = static_cast<std::uint32_t>(row) - first_row_of(interval, first_byte);
    start = first_byte * 8 + index * kRowBits;
    end = a.interval_first[interval + 1] * 8;
    exists = start < end;
  }
  if (thread >= kRows) return interval;
  s.start[thread] = start;
  s.end[thread] = exists ? end : 0;
  s.ends.head[thread] = exists && index == 0;
  s.ends.open[thread] = exists && start + kRowBits < end;
  return interval;
}

/// The words of all rows of the CTA.
__device__ void load_words(const SyncRowsArgs& a, Shared& s) {
  const bool exists = threadIdx.x < kRows && s.exists(threadIdx.x);
  if (threadIdx.x == 0) s.first_word = s.own_first_word = kNoWord;
  __syncthreads();
  if (exists) {
    atomicMin(&s.first_word, s.start[threadIdx.x] / 32);
    if (threadIdx.x >= kWarmRows) atomicMin(&s.own_first_word, s.start[threadIdx.x] / 32);
  }
  if (__syncthreads_or(exists))
    copy_clean_words<kThreads>(a.words, clean_words(*a.summary), s.first_word, words_of_rows(kRows),
                               s.words);
  wait_for_copies();
}

/// Walks a row from the state before it; returns the one behind it.
__device__ std::uint32_t walk(const SyncRowsArgs& a, const Shared& s, const SkipTables& tables,
                              std::uint32_t row, const RowState& state, RowTally& tally) {
  const std::uint32_t start = s.start[row];
  const std::uint32_t origin = s.first_word * 32, end = s.end[row] - origin;
  const RowSpan span{min(start - origin + kRowBits, end), end};
  std::uint32_t bit = start - origin + state.overshoot, phase = state.phase, k = state.k;
  tally = skip_row(SharedWords(s.words), tables, span, bit, phase, k);
  return pack({bit - span.stop, phase, k});
}

/// Walks the heads, and every `guess_stride`-th row from each block of the MCU.
__device__ void walk_guesses(const SyncRowsArgs& a, Shared& s, const SkipTables& tables) {
  const std::uint32_t stride = a.guess_stride, seeds = stride != 0 ? kRows / stride : 0;
  const auto guesses = static_cast<std::uint32_t>(a.cycle.period);
  const auto walk_from = [&](std::uint32_t row, std::uint32_t phase) {
    RowTally tally;
    s.ends.line[phase].reached[row] =
        static_cast<std::uint16_t>(walk(a, s, tables, row, {0, phase, 0}, tally));
    if (s.ends.head[row]) s.ends.line[0].step[row] = make_step(tally);
  };
  for (std::uint32_t item = threadIdx.x; item < guesses * seeds; item += kThreads) {
    const std::uint32_t row = item % seeds * stride, phase = item / seeds;
    if (s.ends.head[row] ? phase == 0 : s.ends.open[row]) walk_from(row, phase);
  }
  const std::uint32_t row = threadIdx.x;
  const bool seed = stride != 0 && row % stride == 0;
  if (row < kRows && s.ends.head[row] && !seed) walk_from(row, 0);
  __syncthreads();
  if (row < kRows) s.ends.collect(row, seed ? guesses : 0);
  __syncthreads();
}

/// Walks every row from all ends of the row before.
__device__ void walk_ends(const SyncRowsArgs& a, Shared& s, const SkipTables& tables) {
  const std::uint32_t row = threadIdx.x;
  const bool follows = row > 0 && row < kRows && s.exists(row) && !s.ends.head[row];
  std::uint32_t walked = 0;
  for (std::uint32_t round = 0;; ++round) {
    std::uint32_t& listed = s.listed[round % 2];
    const std::uint32_t entries = follows ? s.ends.count[row - 1] : 0;
    std::uint32_t place, sum, base = 0;
    ListPlace(s.list_place[threadIdx.x / 32]).ExclusiveSum(entries - walked, place, sum);
    if (threadIdx.x % 32 == 0 && sum > 0) base = atomicAdd(&listed, sum);
    place += __shfl_sync(0xFFFFFFFF, base, 0);
    for (std::uint32_t number = walked; number < entries; ++number)
      s.item(place++) = static_cast<std::uint16_t>(number << 8 | row);
    __syncthreads();
    if (listed == 0) return;
    for (std::uint32_t item = threadIdx.x; item < listed; item += kThreads) {
      const std::uint32_t to = s.item(item) & 255, number = s.item(item) >> 8;
      RowTally tally;
      s.ends.line[number].reached[to] = static_cast<std::uint16_t>(
          walk(a, s, tables, to, unpack_row_state(s.ends.line[number].state[to - 1]), tally));
      s.ends.line[number].step[to] = make_step(tally);
    }
    __syncthreads();
    if (threadIdx.x == 0) listed = 0;
    if (follows) s.ends.match(row, walked, entries);
    walked = entries;
    __syncthreads();
  }
}

__device__ void publish(const SyncRowsArgs& a, std::uint32_t state) {
  volatile std::uint32_t* const exits = a.chunk_exit;
  exits[blockIdx.x] = kPublished | state;
}

/// Follows the chunk from the end `number` before its first row, segment by segment; by one thread.
__device__ void follow_chunk(Shared& s, std::uint32_t number) {
  s.first_number = number;
  for (std::uint32_t row = kWarmRows; row < kRows; row += kSegmentRows) {
    s.segment_first[row / kSegmentRows] = static_cast<std::uint8_t>(number);
    number = s.ends.follow_rows(row, row + kSegmentRows, number);
  }
}
/// The number of the end before a row of the chunk, when it was followed.
__device__ std::uint32_t number_before(const Shared& s, std::uint32_t row) {
  const std::uint32_t segment = row / kSegmentRows;
  return s.ends.follow_rows(segment * kSegmentRows, row, s.segment_first[segment]);
}

/// Tells the next chunk in which state the last row ends, if that is known already.
__device__ void publish_known_end(const SyncRowsArgs& a, Shared& s) {
  constexpr std::uint32_t kLast = kRows - 1;
  const std::uint32_t number = s.ends.head[kLast] ? 0 : number_before(s, kLast);
  s.published = number != kForeignEnd;
  if (s.published) publish(a, s.ends.line[number].reached[kLast]);
}

/// In which state the chunk's first row begins: the one to which all that is possible kWarmRows
/// earlier leads, unless the chunk before says another.
__device__ void join_chunks(const SyncRowsArgs& a, Shared& s) {
  for (std::uint32_t i = threadIdx.x; i < (kRows / kSegmentRows - 1) * (kMostEnds + 1);
       i += kThreads)
    s.ends.follow_segment(1 + i % (kRows / kSegmentRows - 1), i / (kRows / kSegmentRows - 1));
  __syncthreads();
  const bool needed = s.exists(kWarmRows) && !s.ends.head[kWarmRows];
  const bool asks = needed && blockIdx.x > 0;
  if (threadIdx.x < 32) {
    const std::uint32_t lane = threadIdx.x, count = s.ends.count[0];
    const std::uint32_t number =
        needed ? s.ends.follow_from_first(kWarmRows, lane < count ? lane : kForeignEnd) : 0;
    const std::uint32_t first = __shfl_sync(0xFFFFFFFF, number, 0);
    const bool agree =
        __all_sync(0xFFFFFFFF, lane >= count || number == first) && first != kForeignEnd;
    if (lane == 0) {
      s.published = false;
      follow_chunk(s, first);
      if (agree) publish_known_end(a, s);
    }
  } else if (threadIdx.x == 32) {  // meanwhile
    const volatile std::uint32_t* const exits = a.chunk_exit;
    std::uint32_t before = asks ? 0 : kPublished;
    while (before == 0) before = exits[blockIdx.x - 1];
    s.first_state = before & ~kPublished;
  }
  __syncthreads();
  if (asks && threadIdx.x == 0) {
    const std::uint32_t number = s.ends.find(kWarmRows - 1, s.first_state);
    if (number != s.first_number) follow_chunk(s, number);
  }
  __syncthreads();
}

/// Asked before each row that is walked by one thread alone.
__device__ bool may_walk_late(const SyncRowsArgs& a) {
  const bool may =
      atomicAdd(&a.summary->late_walks, 1) < kMostLateWalks + kMostLateWalksOfChunk * a.chunks;
  if (!may) a.summary->unsettled = 1;
  return may;
}

/// The rows one after the other from the first whose beginning is no end that was followed.
__device__ void settle(const SyncRowsArgs& a, Shared& s, const SkipTables& tables) {
  std::uint32_t number = s.first_number, state = s.first_state;
  for (std::uint32_t row = kWarmRows; row < kRows; ++row) {
    if (!s.exists(row)) continue;
    if (s.ends.head[row]) number = 0;
    if (number != kForeignEnd) {
      s.entry(row) = s.ends.head[row] ? std::uint16_t{0} : s.ends.line[number].state[row - 1];
      s.tally[row] = s.ends.line[number].step[row];
      state = s.ends.line[number].reached[row];
      number = s.ends.follow(row, number);
      continue;
    }
    if (!may_walk_late(a)) {
      s.end[row] = 0;
      continue;
    }
    RowTally tally;
    s.entry(row) = static_cast<std::uint16_t>(state);
    state = walk(a, s, tables, row, unpack_row_state(state), tally);
    s.tally[row] = make_step(tally);
    number = s.ends.find(row, state);
  }
  s.first_state = state;
}

/// The state before each row, and what the row has.
__device__ void find_entries(const SyncRowsArgs& a, Shared& s, const SkipTables& tables) {
  const std::uint32_t row = threadIdx.x;
  bool foreign = false;
  if (row >= kWarmRows && row < kRows && s.exists(row)) {
    const bool head = s.ends.head[row];
    const std::uint32_t number = head ? 0 : number_before(s, row);
    foreign = number == kForeignEnd;
    if (!foreign) {
      s.entry(row) = head ? std::uint16_t{0} : s.ends.line[number].state[row - 1];
      s.tally[row] = s.ends.line[number].step[row];
    }
  }
  foreign = __syncthreads_or(foreign);
  if (threadIdx.x == 0) {
    if (foreign) settle(a, s, tables);
    if (!s.published && !foreign) publish_known_end(a, s);
    if (!s.published) publish(a, s.first_state);
  }
  __syncthreads();
}

/// The last CTA that gets here adds up the chunks.
__device__ void place_chunks(const SyncRowsArgs& a, Shared& s) {
  std::uint64_t running = 0;
  for (std::uint32_t first = 0; first < a.chunks; first += kThreads) {
    const std::uint32_t chunk = first + threadIdx.x;
    const std::uint64_t own = chunk < a.chunks ? __ldcg(a.chunk_first + chunk) : 0;
    std::uint64_t before, sum;
    __syncthreads();
    CountSum(s.sum_scan).ExclusiveSum(own, before, sum);
    if (chunk < a.chunks) a.chunk_first[chunk] = running + before;
    running += sum;
  }
  if (threadIdx.x != 0) return;
  if (__ldcg(&a.summary->unsettled) != 0) atomicOr(&a.summary->faults, kFaultSync);
  if (blocks_of(running) != a.blocks || pairs_of(running) > a.pair_capacity)
    atomicOr(&a.summary->faults, kFaultCount);
  a.chunk_first[a.chunks] = running;
  a.block_pair[a.blocks] = pairs_of(running);
}

__device__ void store_rows(const SyncRowsArgs& a, Shared& s, std::uint32_t interval) {
  const std::uint32_t row = threadIdx.x;
  const bool own = row >= kWarmRows && row < kRows;
  const RowTally tally = own && s.exists(row) ? tally_of_step(s.tally[row]) : RowTally{0, 0};
  std::uint64_t before, sum;
  CountSum(s.sum_scan).ExclusiveSum(pack_counts(tally.blocks, tally.pairs), before, sum);
  if (own) {
    const std::uint32_t start = s.start[row], end = s.end[row];
    const RowState entry = unpack_row_state(end != 0 ? s.entry(row) : 0);
    a.rows[blockIdx.x * kChunkRows + row - kWarmRows] = {
        start + entry.overshoot, end,         interval, blocks_of(before),
        pairs_of(before),        entry.phase, entry.k,  s.ends.head[row],
        !s.ends.open[row]};
  }
  if (threadIdx.x == 0) {
    a.chunk_word[blockIdx.x] = s.own_first_word;
    a.chunk_first[blockIdx.x] = sum;
    __threadfence();
    s.last_chunk = atomicAdd(&a.summary->chunks_done, 1) + 1 == a.chunks;
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kThreads, 3)
    sync_rows_kernel(const __grid_constant__ SyncRowsArgs a) {
  Shared& s = *reinterpret_cast<Shared*>(dynamic_shared);
  const SkipTables tables = load_tables<kThreads, kSkipBits>(
      a.tables, a.tables->skip, a.cycle, dynamic_shared + shared_words(a.most_ends));
  if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
  if (threadIdx.x == 0) s.ends.most = a.most_ends;
  wait_for_previous_kernel();
  if (a.summary->faults != 0) {  // before this kernel's last CTA nobody adds any
    wait_for_copies();
    return;
  }
  const std::uint32_t rows = first_row_of(a.intervals, a.summary->clean_bytes);
  const std::uint32_t interval =
      place_rows(a, s, std::int64_t{blockIdx.x} * kChunkRows - kWarmRows, rows);
  load_words(a, s);
  __syncthreads();
  walk_guesses(a, s, tables);
  walk_ends(a, s, tables);
  join_chunks(a, s);
  find_entries(a, s, tables);
  store_rows(a, s, interval);
  if (s.last_chunk) place_chunks(a, s);
}

std::size_t shared_bytes(std::uint32_t ends, std::uint32_t pairs) {
  return sizeof(std::uint32_t) * (shared_words(ends) + SkipTables::words(pairs));
}

}  // namespace

Status prepare_sync_rows() {
  ZR_CUDA_TRY(cudaFuncSetAttribute(sync_rows_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes(kMostEnds, kMaxTablePairs))));
  ZR_CUDA_TRY(cudaFuncSetAttribute(sync_rows_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  return Status::ok();
}

Status sync_rows(const SyncRowsArgs& args, cudaStream_t stream) {
  const auto pairs = static_cast<std::uint32_t>(args.cycle.pairs);
  ZR_CUDA_TRY(launch_behind(sync_rows_kernel,
                            LaunchShape{args.chunks, kThreads, shared_bytes(args.most_ends, pairs)},
                            stream, args));
  return Status::ok();
}

}  // namespace zerorun
