// Self-synchronising rows, after Weissenberger and Schmidt, "Accelerating JPEG Decompression on
// GPUs" (2021). Each row is first walked from a guess; then every row whose predecessor turned out
// to end elsewhere is walked again from there, until nothing changes.
// SPDX-License-Identifier: MIT
#include "cuda/fused_decode/sync_rows.hpp"

#include <cub/block/block_scan.cuh>

#include "cuda/check.hpp"
#include "cuda/fused_decode/shared_copy.cuh"
#include "cuda/launch.hpp"

namespace zerorun {
namespace {

/// With the code tables, three such CTAs fit into a processor's shared memory.
constexpr int kThreads = 256;
/// Rows before the chunk that are walked too, so that the chunk's own first row is mostly found
/// without waiting for the chunk before: 16 Kibit, where one decoder in some 1000 needs more than
/// 8 Kibit to synchronise at q90.
constexpr int kWarmRows = kThreads - static_cast<int>(kChunkRows);
constexpr std::uint32_t kPublished = 1u << 31;

struct Shared {
  union {
    WordPair words[padded_place(words_of_rows(kThreads)) + 1];
    cub::BlockScan<std::uint32_t, kThreads>::TempStorage max_scan;  ///< before the words are there
    cub::BlockScan<std::uint64_t, kThreads>::TempStorage sum_scan;  ///< after they were needed
  };
  std::uint32_t start[kThreads], end[kThreads];  ///< bits; the end is the interval's, 0: no row
  std::uint32_t interval[kThreads];
  bool head[kThreads];                            ///< first of its interval
  std::uint32_t tally[kThreads];                  ///< blocks << 16 | pairs
  std::uint16_t entry[kThreads], exit[kThreads];  ///< pack() of states
  std::uint16_t list[kThreads];
  std::uint32_t listed[2];
  std::uint32_t first_word, own_first_word;
  bool last_chunk, restart;
};

/// Bits count from the CTA's first word.
struct Bits {
  const WordPair* words;
  __device__ std::uint32_t operator()(std::uint32_t bit) const {
    return window_of(words[padded_place(bit / 32)], bit);
  }
};

struct SkipTables {
  const std::uint32_t* entries;
  const LongCodes* codes;
  __device__ std::uint32_t skip(std::uint32_t table, std::uint32_t index) const {
    return entries[table << kSkipBits | index];
  }
  __device__ const LongCodes& long_codes(std::uint32_t table) const { return codes[table]; }
};

extern __shared__ __align__(16) std::uint32_t dynamic_shared[];

/// Of the CTA's shared memory, in words.
__host__ __device__ constexpr std::uint32_t entry_words(std::uint32_t pairs) {
  return 2 * pairs << kSkipBits;
}
__host__ __device__ constexpr std::uint32_t code_words(std::uint32_t pairs) {
  return 2 * pairs * static_cast<std::uint32_t>(sizeof(LongCodes) / 4);
}
constexpr std::uint32_t kSharedWords = (sizeof(Shared) + 15) / 16 * 4;

__device__ SkipTables load_tables(const SyncRowsArgs& a, std::uint32_t* to) {
  const std::uint32_t pairs = a.pairs_of.pairs, entries = entry_words(pairs);
  copy_words<kThreads>(a.tables->skip[kDcSide], to, entries / 2);
  copy_words<kThreads>(a.tables->skip[kAcSide], to + entries / 2, entries / 2);
  std::uint32_t* const codes = to + entries;
  copy_codes<kThreads>(*a.tables, pairs, codes);
  return {to, reinterpret_cast<const LongCodes*>(codes)};
}

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

/// Fills the thread's places in start, end, interval and head; returns whether there is such a row.
__device__ bool place_row(const SyncRowsArgs& a, Shared& s, std::int64_t first_row,
                          std::uint32_t row_end) {
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t base =
      find_interval(a, static_cast<std::uint32_t>(max(first_row, std::int64_t{0})));
  s.interval[thread] = 0;
  __syncthreads();
  const std::uint32_t next = base + 1 + thread;
  if (next < a.intervals) {
    const std::int64_t at = first_row_of(next, a.interval_first[next]) - first_row;
    if (at < kThreads) s.interval[at] = next;
  }
  __syncthreads();
  std::uint32_t interval;
  cub::BlockScan<std::uint32_t, kThreads>(s.max_scan)
      .InclusiveScan(s.interval[thread], interval, cuda::maximum<>{});
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
  __syncthreads();  // all have read what stood there
  s.start[thread] = start;
  s.end[thread] = exists ? end : 0;
  s.interval[thread] = interval;
  s.head[thread] = exists && index == 0;
  s.entry[thread] = 0;  // the guess; of an interval's first row it is true
  return exists;
}

/// The words of all rows of the CTA.
__device__ void load_words(const SyncRowsArgs& a, Shared& s, bool exists) {
  if (threadIdx.x == 0) s.first_word = s.own_first_word = kNoWord;
  __syncthreads();
  if (exists) {
    atomicMin(&s.first_word, s.start[threadIdx.x] / 32);
    if (threadIdx.x >= kWarmRows) atomicMin(&s.own_first_word, s.start[threadIdx.x] / 32);
  }
  const int rows = __syncthreads_count(exists);
  if (rows == 0) {
    wait_for_copies();
    return;
  }
  copy_word_pairs<kThreads>(a.words, a.word_count, s.first_word, words_of_rows(kThreads), s.words);
  wait_for_copies();
}

/// Walks a row from its entry.
__device__ void walk_row(const SyncRowsArgs& a, Shared& s, const SkipTables& tables,
                         std::uint32_t row) {
  const std::uint32_t origin = s.first_word * 32;
  const std::uint32_t start = s.start[row] - origin, end = s.end[row] - origin;
  const RowState state = unpack_row_state(s.entry[row]);
  std::uint32_t bit = start + state.overshoot, phase = state.phase, k = state.k;
  const RowSpan span{min(start + kRowBits, end), end};
  const RowTally tally = skip_row(Bits{s.words}, tables, a.pairs_of, span, bit, phase, k);
  s.tally[row] = tally.blocks << 16 | tally.pairs;
  s.exit[row] = static_cast<std::uint16_t>(pack({bit - span.stop, phase, k}));
}

/// Walks every row for which its thread says so, then those that have to be walked again.
__device__ void relax(const SyncRowsArgs& a, Shared& s, const SkipTables& tables, bool exists,
                      bool walk) {
  const std::uint32_t thread = threadIdx.x, lane = thread % 32;
  for (std::uint32_t round = 0;; ++round) {
    std::uint32_t& listed = s.listed[round % 2];
    const std::uint32_t votes = __ballot_sync(0xFFFFFFFF, walk);
    std::uint32_t place = 0;
    if (lane == 0 && votes != 0)
      place = atomicAdd(&listed, static_cast<std::uint32_t>(__popc(votes)));
    place = __shfl_sync(0xFFFFFFFF, place, 0) +
            static_cast<std::uint32_t>(__popc(votes & ((1u << lane) - 1)));
    if (walk) s.list[place] = static_cast<std::uint16_t>(thread);
    __syncthreads();
    if (listed == 0) return;
    if (thread < listed) {
      walk_row(a, s, tables, s.list[thread]);
    }
    __syncthreads();
    if (thread == 0) listed = 0;
    walk = exists && thread > 0 && !s.head[thread] && s.exit[thread - 1] != s.entry[thread];
    if (walk) s.entry[thread] = s.exit[thread - 1];
  }
}

/// The chunk's first row has been walked from where the chunk before ends, or else is again.
__device__ void join_chunks(const SyncRowsArgs& a, Shared& s, const SkipTables& tables,
                            bool exists) {
  const std::uint32_t chunk = blockIdx.x;
  if (threadIdx.x == 0) {
    volatile std::uint32_t* const exits = a.chunk_exit;
    if (chunk + 1 < a.chunks) exits[chunk] = kPublished | s.exit[kThreads - 1];
    s.restart = false;
    if (chunk > 0 && s.end[kWarmRows] != 0 && !s.head[kWarmRows]) {
      std::uint32_t before;
      do before = exits[chunk - 1];
      while (before == 0);
      before &= ~kPublished;
      if (before != s.exit[kWarmRows - 1]) {
        s.exit[kWarmRows - 1] = s.entry[kWarmRows] = static_cast<std::uint16_t>(before);
        s.restart = true;
      }
    }
  }
  __syncthreads();
  if (s.restart) relax(a, s, tables, exists, threadIdx.x == kWarmRows);
}

/// The last CTA that gets here adds up the chunks.
__device__ void place_chunks(const SyncRowsArgs& a, Shared& s) {
  std::uint64_t running = 0;
  for (std::uint32_t first = 0; first < a.chunks; first += kThreads) {
    const std::uint32_t chunk = first + threadIdx.x;
    const std::uint64_t own = chunk < a.chunks ? __ldcg(a.chunk_first + chunk) : 0;
    std::uint64_t before, sum;
    __syncthreads();
    cub::BlockScan<std::uint64_t, kThreads>(s.sum_scan).ExclusiveSum(own, before, sum);
    if (chunk < a.chunks) a.chunk_first[chunk] = running + before;
    running += sum;
  }
  if (threadIdx.x != 0) return;
  if (blocks_of(running) != a.blocks || pairs_of(running) > a.pair_capacity)
    atomicOr(&a.summary->faults, kFaultCount);
  a.block_pair[a.blocks] = pairs_of(running);
}

__device__ void store_rows(const SyncRowsArgs& a, Shared& s, bool exists) {
  const std::uint32_t thread = threadIdx.x;
  const bool own = thread >= kWarmRows;
  const std::uint32_t tally = own && exists ? s.tally[thread] : 0;
  __syncthreads();  // the sums take the place of the words
  std::uint64_t before, sum;
  cub::BlockScan<std::uint64_t, kThreads>(s.sum_scan)
      .ExclusiveSum(pack_counts(tally >> 16, tally & 0xFFFF), before, sum);
  if (own) {
    const std::uint32_t start = s.start[thread], end = s.end[thread];
    const RowState entry = unpack_row_state(s.entry[thread]);
    a.rows[blockIdx.x * kChunkRows + thread - kWarmRows] = {start + entry.overshoot,
                                                            end,
                                                            s.interval[thread],
                                                            blocks_of(before),
                                                            pairs_of(before),
                                                            entry.phase,
                                                            entry.k,
                                                            s.head[thread],
                                                            start + kRowBits >= end};
  }
  if (thread == 0) {
    a.chunk_word[blockIdx.x] = s.own_first_word;
    a.chunk_first[blockIdx.x] = sum;
    __threadfence();
    s.last_chunk = atomicAdd(&a.summary->chunks_done, 1) + 1 == a.chunks;
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kThreads)
    sync_rows_kernel(const __grid_constant__ SyncRowsArgs a) {
  Shared& s = *reinterpret_cast<Shared*>(dynamic_shared);
  const SkipTables tables = load_tables(a, dynamic_shared + kSharedWords);
  if (threadIdx.x < 2) s.listed[threadIdx.x] = 0;
  wait_for_previous_kernel();
  if (a.summary->faults != 0) {  // before this kernel's last CTA nobody adds any
    wait_for_copies();
    return;
  }
  const std::uint32_t rows = first_row_of(a.intervals, a.summary->clean_bytes);
  const std::int64_t first_row = std::int64_t{blockIdx.x} * kChunkRows - kWarmRows;
  const bool exists = place_row(a, s, first_row, rows);
  load_words(a, s, exists);
  __syncthreads();
  relax(a, s, tables, exists, exists);
  join_chunks(a, s, tables, exists);
  store_rows(a, s, exists);
  if (s.last_chunk) place_chunks(a, s);
}

std::size_t shared_bytes(std::uint32_t pairs) {
  return sizeof(std::uint32_t) * (kSharedWords + entry_words(pairs) + code_words(pairs));
}

}  // namespace

Status prepare_sync_rows() {
  ZR_CUDA_TRY(cudaFuncSetAttribute(sync_rows_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes(kMaxTablePairs))));
  ZR_CUDA_TRY(cudaFuncSetAttribute(sync_rows_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  return Status::ok();
}

Status sync_rows(const SyncRowsArgs& args, cudaStream_t stream) {
  ZR_CUDA_TRY(launch_behind(sync_rows_kernel,
                            LaunchShape{args.chunks, kThreads, shared_bytes(args.pairs_of.pairs)},
                            stream, args));
  return Status::ok();
}

}  // namespace zerorun
