// Variable-length decode without an index, after Weissenberger and Schmidt, "Massively Parallel
// Huffman Decoding on GPUs" (2018). The bits are cut into subsequences. Each thread decodes one of
// them from a guessed start, tells its right neighbour where its last codeword ends, and decodes
// again as long as its left neighbour's answer changes. Serial twin:
// codec/entropy/variable_length.cpp.
//
// Most codes synchronise after a few codewords and agree after two or three rounds. Others do not
// (all codewords of 7 bits, for example). But the first codeword of a subsequence starts at one of
// 32 positions: decoding from all of them gives a map of 32 entries to 32 exits, and the maps are
// applied one after the other. That takes a fixed amount of work.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_scan.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/entropy/caller_scratch.hpp"
#include "cuda/entropy/outcome.cuh"
#include "cuda/entropy/vld_table.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 128;
constexpr std::uint64_t kSubBits = 1024;  // of a subsequence; more than the longest codeword
constexpr int kRounds = 6;
constexpr int kEntries = 32;
constexpr std::uint8_t kDead = kEntries;  // no entry, because of a fault to the left
constexpr std::uint64_t kGroup = 256;     // subsequences whose maps one warp applies in a row

struct Args {
  const std::uint32_t* in;
  std::uint64_t bits;
  const DecodeTable* table;
  std::uint64_t subs;   // at least 1
  std::uint8_t* entry;  // [subs] where the first codeword starts, from the subsequence's begin
  // [subs] entries of the next subsequence. Even rounds read the first and write the second, odd
  // rounds the other way round.
  std::uint8_t* even_exits;
  std::uint8_t* odd_exits;
  std::uint32_t* count;       // [subs] symbols
  std::uint64_t* offset;      // [subs] symbols before it
  std::uint32_t* changed;     // [kRounds] not 0: an exit changed
  std::uint8_t* maps;         // [subs][kEntries] exit of each entry
  std::uint8_t* group_maps;   // [groups][kEntries] the same
  std::uint8_t* group_entry;  // [groups]
  std::uint8_t* out;
  std::uint64_t symbols;
  Outcome* outcome;
};

__device__ std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Decodes the codewords that start in a subsequence.
template <typename Sink>
__device__ Stop decode_sub(const Args& a, const DecodeTable& table, std::uint64_t sub,
                           unsigned entry, Sink&& sink) {
  const std::uint64_t begin = sub * kSubBits + entry;
  const std::uint64_t next = (sub + 1) * kSubBits;
  const std::uint64_t stop = next < a.bits ? next : a.bits;
  if (begin >= stop) return {begin, 0, Errc::ok};
  return decode_range(table, a.in, begin, stop, a.bits, static_cast<std::uint32_t>(kSubBits), sink);
}

/// The entry of the next subsequence; `fault` stands for what follows a fault.
__device__ std::uint8_t exit_of(const Stop& stop, std::uint64_t sub, std::uint8_t fault) {
  const std::uint64_t next = (sub + 1) * kSubBits;
  if (stop.code != Errc::ok) return fault;
  return static_cast<std::uint8_t>(stop.at > next ? stop.at - next : 0);
}

/// One round. A fault may come from a wrong guess; the neighbour then guesses again.
__global__ void __launch_bounds__(kThreads) synchronize_kernel(Args a, int round) {
  __shared__ DecodeTable table;
  if (round > 0 && a.changed[round - 1] == 0) return;
  load_table(a.table, table);
  __syncthreads();
  const std::uint64_t sub = global_thread();
  if (sub >= a.subs || table.usable == 0) return;
  const std::uint8_t* const known = round % 2 == 0 ? a.even_exits : a.odd_exits;
  std::uint8_t* const found = round % 2 == 0 ? a.odd_exits : a.even_exits;
  const std::uint8_t entry = round > 0 && sub > 0 ? known[sub - 1] : 0;
  if (round > 0 && entry == a.entry[sub]) {
    found[sub] = known[sub];
    return;
  }
  const Stop stop = decode_sub(a, table, sub, entry, [](std::uint8_t) {});
  const std::uint8_t exit = exit_of(stop, sub, 0);
  a.entry[sub] = entry;
  a.count[sub] = stop.symbols;
  found[sub] = exit;
  if (round == 0 || exit != known[sub]) a.changed[round] = 1;  // all writers write the same
}

__device__ bool synchronized(const Args& a) { return a.changed[kRounds - 1] == 0; }

/// Exact solution, step 1: a warp decodes a subsequence from all entries.
__global__ void __launch_bounds__(kThreads) map_kernel(Args a) {
  __shared__ DecodeTable table;
  if (synchronized(a)) return;
  load_table(a.table, table);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * kThreads / 32;
  for (std::uint64_t sub = global_thread() / 32; sub < a.subs; sub += warps) {
    const Stop stop = decode_sub(a, table, sub, lane, [](std::uint8_t) {});
    a.maps[sub * kEntries + lane] = exit_of(stop, sub, kDead);
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
  __shared__ DecodeTable table;
  if (synchronized(a)) return;
  load_table(a.table, table);
  __syncthreads();
  const std::uint64_t sub = global_thread();
  if (sub >= a.subs) return;
  const unsigned entry = a.entry[sub];
  a.count[sub] = entry == kDead ? 0 : decode_sub(a, table, sub, entry, [](std::uint8_t) {}).symbols;
}

/// Decodes once more, into place. Only the first fault is reported: where codewords start after it
/// is unknown. Offsets after it may be wrong, which only moves symbols inside the output.
__global__ void __launch_bounds__(kThreads) write_kernel(Args a) {
  __shared__ DecodeTable table;
  load_table(a.table, table);
  __syncthreads();
  const std::uint64_t sub = global_thread();
  if (sub == 0) a.outcome->count = a.symbols;
  if (sub >= a.subs || table.usable == 0) return;
  const unsigned entry = a.entry[sub];
  const std::uint64_t first = a.offset[sub];
  if (entry == kDead || first > a.symbols) return;
  const std::uint64_t room = a.symbols - first;
  std::uint64_t written = 0;
  ByteWriter writer(a.out + first);
  const Stop stop = decode_sub(a, table, sub, entry, [&](std::uint8_t symbol) {
    if (written == room) return;
    writer.put(symbol);
    ++written;
  });
  writer.finish();
  if (stop.symbols >= room) return;  // no more symbols are asked for
  if (stop.code != Errc::ok)
    report_fault(a.outcome, stop.at, stop.code, FaultPosition::bits);
  else if (sub + 1 == a.subs)
    report_fault(a.outcome, a.bits, Errc::truncated, FaultPosition::bits);
}

}  // namespace

Status decode(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
              std::uint64_t bits, const Codebook* d_book, std::uint8_t* d_out,
              std::uint64_t symbols, Outcome* d_outcome, cudaStream_t stream) {
  const std::uint64_t subs = std::max<std::uint64_t>(1, ceil_div(bits, kSubBits));
  const std::uint64_t groups = ceil_div(subs, kGroup);
  if (ceil_div(subs, kThreads) > kMaxGrid)
    return Status(Errc::invalid_argument, "at most 2^48 bits fit a grid");
  CallerScratch scratch(d_scratch);
  Args a{};
  a.in = d_in;
  a.bits = bits;
  a.subs = subs;
  a.out = d_out;
  a.symbols = symbols;
  a.outcome = d_outcome;
  DecodeTable* const table = scratch.take<DecodeTable>(1);
  a.table = table;
  constexpr std::uint64_t kChangedWords = (kRounds + 1) / 2;  // in 64-bit words
  a.changed = reinterpret_cast<std::uint32_t*>(scratch.take<std::uint64_t>(kChangedWords));
  a.entry = scratch.take<std::uint8_t>(subs);
  a.even_exits = scratch.take<std::uint8_t>(subs);
  a.odd_exits = scratch.take<std::uint8_t>(subs);
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
  if (symbols == 0) return Status::ok();
  ZR_TRY(build_decode_table(d_book, table, d_outcome, stream));
  const auto grid = static_cast<unsigned>(ceil_div(subs, kThreads));
  const auto group_grid = static_cast<unsigned>(ceil_div(groups * 32, kThreads));
  for (int round = 0; round < kRounds; ++round)
    ZR_LAUNCH(synchronize_kernel, grid, kThreads, stream, a, round);
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
