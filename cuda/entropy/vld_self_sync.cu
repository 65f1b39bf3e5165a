// Variable-length decode without an index, after Weissenberger and Schmidt, "Massively Parallel
// Huffman Decoding on GPUs" (2018). The bits are cut into subsequences. Each thread walks over one
// of them from a guessed start, tells its right neighbour where its last codeword ends, and walks
// again as long as its left neighbour's answer changes: within a CTA at once, from CTA to CTA in
// the next round. Then all symbols are written. Serial twin: codec/entropy/variable_length.cpp.
//
// Most codes synchronise after a few codewords and agree after one round. Others do not
// (all codewords of 7 bits, for example). But the first codeword of a subsequence starts at one of
// 32 positions: decoding from all of them gives a map of 32 entries to 32 exits, and the maps are
// applied one after the other. That takes a fixed amount of work.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_scan.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/entropy/caller_scratch.hpp"
#include "cuda/entropy/vld_subsequences.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = kSubThreads;

using Args = SubArgs;

__device__ void load_counts(const Args& a, CountShared& s) {
  load_table(&a.table->list, s.list);
  load_table(a.counts, s.counts);
}

struct SyncShared {
  CountShared counts;
  SegmentMarks marks;
  std::uint8_t exits[kThreads];
};

/// One round: CTAs walk their subsequences until each agrees with its left neighbour. The first
/// thread of a CTA stands for the last subsequence of the CTA before. In the first round it walks
/// it, too; in later ones it has what that CTA found. A fault may come from a wrong guess; the
/// neighbour then guesses again.
__global__ void __launch_bounds__(kThreads, decoder_ctas(sizeof(SyncShared)))
    synchronize_kernel(Args a, int round) {
  __shared__ SyncShared shared;
  auto& [s, marks, exits] = shared;
  if (round > 0 && a.changed[round - 1] == 0) return;
  const std::uint8_t* const known = round % 2 == 0 ? a.even_exits : a.odd_exits;
  std::uint8_t* const found = round % 2 == 0 ? a.odd_exits : a.even_exits;
  const unsigned thread = threadIdx.x;
  const std::uint64_t sub = std::uint64_t{blockIdx.x} * kOwnSubs + thread - 1;
  const bool exists = sub < a.subs;  // not so before the first one
  const bool owns = exists && thread > 0;
  std::uint8_t entry = 0;
  bool walks = exists;
  if (round > 0) {
    const std::uint8_t left = blockIdx.x > 0 ? known[blockIdx.x - 1] : std::uint8_t{0};
    if (owns) entry = a.entry[sub] % kFaulty;
    // Other CTAs of this launch may write that flag: one thread reads it, for all of its CTA.
    walks = owns && thread == 1 && entry != left && a.changed[kRounds - 1] == 0;
    if (walks) entry = left;
    if (thread == 0) found[blockIdx.x] = known[blockIdx.x];
    if (__syncthreads_or(walks) == 0) return;  // most CTAs need no table
  }
  if (thread > 0) exits[thread - 1] = entry;
  if (thread == kThreads - 1) exits[thread] = round > 0 ? known[blockIdx.x] : std::uint8_t{0};
  load_counts(a, s);
  __syncthreads();
  if (s.list.usable == 0) return;
  SubWalk walk;
  bool has_walked = false;
  for (int i = 0; __syncthreads_or(walks) != 0; ++i) {
    if (i == kWalks) {
      a.changed[kRounds - 1] = 1;  // all writers write the same
      break;
    }
    if (__any_sync(kFullWarp, walks)) {
      walk_segments(a, s, marks, sub, entry, walks, has_walked, walk);
      has_walked |= walks;
      if (walks) exits[thread] = static_cast<std::uint8_t>(walk.is_sound ? walk.exit : 0);
    }
    __syncthreads();
    const std::uint8_t left = owns ? exits[thread - 1] : entry;
    walks = left != entry;
    entry = left;
  }
  if (has_walked && owns) {
    a.entry[sub] = static_cast<std::uint8_t>(entry + (walk.is_sound ? 0 : kFaulty));
    a.count[sub] = walk.symbols;
  }
  if (thread != kThreads - 1) return;
  found[blockIdx.x] = exits[thread];
  if (round == 0 || exits[thread] != known[blockIdx.x]) a.changed[round] = 1;
}

__device__ bool synchronized(const Args& a) { return a.changed[kRounds - 1] == 0; }

/// Exact solution, step 1: a warp walks a subsequence from all entries.
__global__ void __launch_bounds__(kThreads) map_kernel(Args a) {
  __shared__ CountShared s;
  if (synchronized(a)) return;
  load_counts(a, s);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * kThreads / 32;
  for (std::uint64_t sub = global_thread() / 32; sub < a.subs; sub += warps) {
    const SubWalk walk = walk_sub(a, s, sub, lane, true);
    a.maps[sub * kEntries + lane] =
        static_cast<std::uint8_t>(walk.is_sound ? walk.exit : unsigned{kDead});
  }
}

/// The exit of the lane's entry. Lane e has the exit of entry e in `map`.
__device__ unsigned apply(unsigned map, unsigned entry) {
  const unsigned exit = __shfl_sync(kFullWarp, map, static_cast<int>(entry % kEntries));
  return entry == kDead ? kDead : exit;
}

/// Step 2: the map of each group, by a warp.
__global__ void __launch_bounds__(kThreads) group_kernel(Args a, std::uint64_t groups) {
  const std::uint64_t group = global_thread() / 32;
  if (synchronized(a) || group >= groups) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t end = (group + 1) * kGroup < a.subs ? (group + 1) * kGroup : a.subs;
  unsigned state = lane;
  for (std::uint64_t sub = group * kGroup; sub < end; ++sub)
    state = apply(a.maps[sub * kEntries + lane], state);
  a.group_maps[group * kEntries + lane] = static_cast<std::uint8_t>(state);
}

/// Step 3: the entry of each group, by one warp.
__global__ void chain_kernel(Args a, std::uint64_t groups) {
  if (synchronized(a)) return;
  const unsigned lane = threadIdx.x;
  unsigned state = 0;
  for (std::uint64_t group = 0; group < groups; ++group) {
    if (lane == 0) a.group_entry[group] = static_cast<std::uint8_t>(state);
    state = apply(a.group_maps[group * kEntries + lane], state);
  }
}

/// Step 4: the entry of each subsequence, by a warp for each group.
__global__ void __launch_bounds__(kThreads) spread_kernel(Args a, std::uint64_t groups) {
  const std::uint64_t group = global_thread() / 32;
  if (synchronized(a) || group >= groups) return;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t end = (group + 1) * kGroup < a.subs ? (group + 1) * kGroup : a.subs;
  unsigned state = a.group_entry[group];
  for (std::uint64_t sub = group * kGroup; sub < end; ++sub) {
    if (lane == 0) a.entry[sub] = static_cast<std::uint8_t>(state);
    state = apply(a.maps[sub * kEntries + lane], state);
  }
}

/// Step 5: the symbols of each subsequence.
__global__ void __launch_bounds__(kThreads) count_kernel(Args a) {
  __shared__ CountShared s;
  if (synchronized(a)) return;
  load_counts(a, s);
  __syncthreads();
  const std::uint64_t sub = global_thread();
  const std::uint8_t entry = sub < a.subs ? a.entry[sub] : kDead;
  const SubWalk walk = walk_sub(a, s, sub, entry, entry != kDead);
  if (sub >= a.subs) return;
  a.count[sub] = walk.symbols;
  if (!walk.is_sound) a.entry[sub] = static_cast<std::uint8_t>(entry + kFaulty);
}

/// Decodes once more, into place. Only the first fault is reported: where codewords start after it
/// is unknown. Offsets after it may be wrong, which only moves symbols inside the output.
__global__ void __launch_bounds__(kThreads, decoder_ctas(sizeof(WriteShared)))
    write_kernel(Args a) {
  __shared__ WriteShared s;
  load_table(a.table, s.table);
  __syncthreads();
  const std::uint64_t sub = global_thread();
  if (sub == 0) a.outcome->count = a.symbols;
  if (s.table.list.usable == 0) return;
  write_inner_subs(a, s, sub);
  if (sub >= a.subs) return;
  if (!is_inner(a, sub)) write_outer_sub(a, s, sub);
  const OutputPart part(a, sub);
  if (part.symbols >= part.room) return;  // no more symbols are asked for
  if (part.is_faulty) {
    const Stop stop = decode_outer_sub(a, s, sub, part.entry, [](unsigned) {});
    report_fault(a.outcome, stop.at, stop.code, FaultPosition::bits);
  } else if (sub + 1 == a.subs) {
    report_fault(a.outcome, a.bits, Errc::truncated, FaultPosition::bits);
  }
}

/// Chooses the bits of a subsequence.
Status choose_sub_bits(std::uint64_t bits, std::uint64_t symbols, std::uint32_t& sub_bits) {
  unsigned ctas = 0;
  ZR_CUDA_TRY(persistent_grid(write_kernel, kThreads, 0, kMaxGrid, ctas));
  const double threads = static_cast<double>(ctas) * kThreads;
  sub_bits = kLongestSubBits;
  for (double turns = kTurnsOfLongest; sub_bits > kShortestSubBits; sub_bits /= 2, turns = kTurns) {
    const double subs = static_cast<double>(bits) / sub_bits;
    if (subs >= turns * threads && static_cast<double>(symbols) <= kSubSymbols * subs) break;
  }
  return Status::ok();
}

}  // namespace

Status decode(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
              std::uint64_t bits, const Codebook* d_book, std::uint8_t* d_out,
              std::uint64_t symbols, Outcome* d_outcome, cudaStream_t stream) {
  std::uint32_t sub_bits = 0;
  ZR_TRY(choose_sub_bits(bits, symbols, sub_bits));
  const std::uint64_t subs = std::max<std::uint64_t>(1, ceil_div(bits, std::uint64_t{sub_bits}));
  const std::uint64_t groups = ceil_div(subs, kGroup);
  if (ceil_div(subs, kOwnSubs) > kMaxGrid)
    return Status(Errc::invalid_argument, "at most 2^48 bits fit a grid");
  const auto sync_grid = static_cast<unsigned>(ceil_div(subs, kOwnSubs));
  CallerScratch scratch(d_scratch);
  Args a{};
  a.in = d_in;
  a.bits = bits;
  a.sub_bits = sub_bits;
  a.subs = subs;
  a.out = d_out;
  a.symbols = symbols;
  a.outcome = d_outcome;
  DecodeTable* const table = scratch.take<DecodeTable>(1);
  a.table = table;
  CountTable* const counts = scratch.take<CountTable>(1);
  a.counts = counts;
  constexpr std::uint64_t kChangedWords = (kRounds + 1) / 2;  // in 64-bit words
  a.changed = reinterpret_cast<std::uint32_t*>(scratch.take<std::uint64_t>(kChangedWords));
  a.entry = scratch.take<std::uint8_t>(subs);
  a.even_exits = scratch.take<std::uint8_t>(sync_grid);
  a.odd_exits = scratch.take<std::uint8_t>(sync_grid);
  a.count = scratch.take<std::uint32_t>(subs);
  a.offset = scratch.take<std::uint64_t>(subs);
  a.maps = scratch.take<std::uint8_t>(subs * kEntries);
  a.group_maps = scratch.take<std::uint8_t>(groups * kEntries);
  a.group_entry = scratch.take<std::uint8_t>(groups);
  const auto count = static_cast<std::int64_t>(subs);
  std::int64_t scan_bytes = 0;
  ZR_TRY(device_scan_temp_bytes(count, scan_bytes));
  char* const scan_scratch = scratch.take<char>(static_cast<std::uint64_t>(scan_bytes));
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;

  ZR_TRY(reset(a.changed, kChangedWords, d_outcome, stream));
  ZR_TRY(build_decode_table(d_book, table, d_outcome, stream));
  if (symbols == 0) return Status::ok();
  ZR_TRY(build_count_table(table, counts, stream));
  const auto grid = static_cast<unsigned>(ceil_div(subs, kThreads));
  const auto group_grid = static_cast<unsigned>(ceil_div(groups * 32, kThreads));
  for (int round = 0; round < kRounds; ++round)
    ZR_LAUNCH(synchronize_kernel, sync_grid, kThreads, stream, a, round);
  unsigned map_grid = 0;
  ZR_CUDA_TRY(persistent_grid(map_kernel, kThreads, 0, ceil_div(subs * 32, kThreads), map_grid));
  ZR_LAUNCH(map_kernel, map_grid, kThreads, stream, a);
  ZR_LAUNCH(group_kernel, group_grid, kThreads, stream, a, groups);
  ZR_LAUNCH(chain_kernel, 1, 32, stream, a, groups);
  ZR_LAUNCH(spread_kernel, group_grid, kThreads, stream, a, groups);
  ZR_LAUNCH(count_kernel, grid, kThreads, stream, a);
  ZR_TRY(device_exclusive_scan(a.count, a.offset, count, scan_scratch, scan_bytes, stream));
  ZR_LAUNCH(write_kernel, grid, kThreads, stream, a);
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
