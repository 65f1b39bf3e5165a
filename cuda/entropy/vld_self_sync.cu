// Variable-length decode without an index, after Weissenberger and Schmidt, "Massively Parallel
// Huffman Decoding on GPUs" (2018). The bits are cut into subsequences. Each thread walks over one
// of them from a guessed start and passes the end of its last codeword to its right neighbour. It
// walks again as long as its left neighbour's end changes: within a CTA at once, from CTA to CTA in
// the next round. Then all symbols are written. Serial twin: codec/entropy/variable_length.cpp.
//
// Most codes synchronise after a few codewords. For others (all codewords of 7 bits, for example)
// each subsequence is decoded from all 32 positions at which its first codeword can start. That
// gives a map of 32 entries to 32 exits, and the maps are applied one after the other.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_scan.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/warp.cuh"
#include "cuda/entropy/outcome.cuh"
#include "cuda/entropy/vld_table.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 256;
/// Bits of a subsequence: some hundred codewords, several times what most codes take to
/// synchronise.
constexpr std::uint32_t kSubBits = 1024;
/// Walks of a subsequence in one kernel, at most, until it agrees with its left neighbour.
constexpr int kWalks = 4;
/// Kernels that walk. After the first one all but a few CTAs agree with their neighbours.
constexpr int kRounds = 4;
constexpr int kEntries = 32;
constexpr std::uint8_t kDead = kEntries;  // no entry, because of a fault to the left
constexpr std::uint8_t kUnknown = 0xFF;   // not walked yet
constexpr std::uint64_t kGroup = 256;     // subsequences whose maps one warp applies in a row

struct Args {
  const std::uint32_t* in;
  std::uint64_t bits;
  const DecodeTable* table;
  std::uint64_t subs;         // at least 1
  std::uint8_t* entry;        // [subs] where the first codeword starts, from the begin; or kDead
  std::uint8_t* exit;         // [subs] the entry of the next one that follows from it
  std::uint32_t* count;       // [subs] symbols
  std::uint64_t* offset;      // [subs] symbols before it
  std::uint64_t* differs;     // one: not 0 if some entry is not the exit before it
  std::uint8_t* maps;         // [subs][kEntries] exit of each entry
  std::uint8_t* group_maps;   // [groups][kEntries] the same
  std::uint8_t* group_entry;  // [groups]
  std::uint8_t* out;
  std::uint64_t symbols;
  Outcome* outcome;
};

__device__ std::uint64_t global_thread() { return static_cast<std::uint64_t>(grid_thread()); }

/// Decodes the codewords that start in a subsequence.
template <typename Sink>
__device__ Stop decode_sub(const Args& a, const DecodeTable& table, std::uint64_t sub,
                           unsigned entry, Sink&& sink) {
  const std::uint64_t begin = sub * kSubBits + entry;
  const std::uint64_t stop = min((sub + 1) * kSubBits, a.bits);
  if (begin >= stop) return {begin, 0, Errc::ok};
  return decode_range(table, a.in, begin, stop, a.bits, kSubBits, sink);
}
__device__ Stop walk_sub(const Args& a, const DecodeTable& table, std::uint64_t sub,
                         unsigned entry) {
  return decode_sub(a, table, sub, entry, [](std::uint8_t) {});
}

/// The entry of the subsequence after `sub`, which was decoded without a fault.
__device__ std::uint8_t exit_of(const Stop& stop, std::uint64_t sub) {
  const std::uint64_t next = (sub + 1) * kSubBits;
  return static_cast<std::uint8_t>(stop.at > next ? stop.at - next : 0);
}

/// One round: CTAs walk their subsequences until each agrees with its left neighbour. After a
/// fault, which may come from a wrong guess, the neighbour guesses again. What the CTA to the left
/// finds in the same round counts in this one or in the next: check_kernel sees that all agree.
__global__ void __launch_bounds__(kThreads) synchronize_kernel(Args a) {
  __shared__ DecodeTable table;
  __shared__ std::uint8_t exits[kThreads];
  if (a.table->usable == 0) return;
  const std::uint64_t sub = global_thread();
  const bool exists = sub < a.subs;
  std::uint8_t entry = exists ? a.entry[sub] : kUnknown;
  std::uint8_t exit = exists ? a.exit[sub] : kUnknown;
  std::uint8_t left = 0;  // before the first one
  if (exists && threadIdx.x == 0 && sub > 0) left = a.exit[sub - 1];
  const auto disagrees = [&] {  // by all threads
    exits[threadIdx.x] = exit;
    __syncthreads();
    if (threadIdx.x > 0) left = exits[threadIdx.x - 1];
    return exists && (left == kUnknown ? entry == kUnknown : entry != left);
  };
  bool walks = disagrees();
  if (__syncthreads_or(walks) == 0) return;  // as most CTAs of later rounds
  load_table(a.table, table);
  __syncthreads();
  for (int walk = 0; walk < kWalks; ++walk) {
    if (walks) {
      entry = left == kUnknown ? std::uint8_t{0} : left;
      const Stop stop = walk_sub(a, table, sub, entry);
      exit = stop.code == Errc::ok ? exit_of(stop, sub) : std::uint8_t{0};
      a.count[sub] = stop.symbols;
    }
    walks = disagrees();
    if (__syncthreads_or(walks) == 0) break;
  }
  if (!exists) return;
  a.entry[sub] = entry;
  a.exit[sub] = exit;
}

/// If each entry is the exit before it, all of them are right, by induction.
__global__ void __launch_bounds__(kThreads) check_kernel(Args a) {
  const std::uint64_t sub = global_thread();
  if (a.table->usable == 0 || sub >= a.subs) return;
  const std::uint8_t left = sub > 0 ? a.exit[sub - 1] : std::uint8_t{0};
  if (a.entry[sub] != left) *a.differs = 1;  // all writers write the same
}

/// Exact solution, step 1: a warp walks a subsequence from all entries.
__global__ void __launch_bounds__(kThreads) map_kernel(Args a) {
  __shared__ DecodeTable table;
  if (*a.differs == 0) return;
  load_table(a.table, table);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const auto warps = static_cast<std::uint64_t>(grid_threads() / 32);
  for (std::uint64_t sub = global_thread() / 32; sub < a.subs; sub += warps) {
    const Stop stop = walk_sub(a, table, sub, lane);
    a.maps[sub * kEntries + lane] = stop.code == Errc::ok ? exit_of(stop, sub) : kDead;
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
  if (*a.differs == 0 || group >= groups) return;
  const unsigned lane = threadIdx.x % 32;
  unsigned state = lane;
  for (std::uint64_t sub = group * kGroup; sub < min((group + 1) * kGroup, a.subs); ++sub)
    state = apply(a.maps[sub * kEntries + lane], state);
  a.group_maps[group * kEntries + lane] = static_cast<std::uint8_t>(state);
}

/// Step 3: the entry of each group, by one warp.
__global__ void chain_kernel(Args a, std::uint64_t groups) {
  if (*a.differs == 0) return;
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
  if (*a.differs == 0 || group >= groups) return;
  const unsigned lane = threadIdx.x % 32;
  unsigned state = a.group_entry[group];
  for (std::uint64_t sub = group * kGroup; sub < min((group + 1) * kGroup, a.subs); ++sub) {
    if (lane == 0) a.entry[sub] = static_cast<std::uint8_t>(state);
    state = apply(a.maps[sub * kEntries + lane], state);
  }
}

/// Step 5: the symbols of each subsequence.
__global__ void __launch_bounds__(kThreads) count_kernel(Args a) {
  __shared__ DecodeTable table;
  if (*a.differs == 0) return;
  load_table(a.table, table);
  __syncthreads();
  const std::uint64_t sub = global_thread();
  if (sub >= a.subs) return;
  const std::uint8_t entry = a.entry[sub];
  a.count[sub] = entry == kDead ? 0 : walk_sub(a, table, sub, entry).symbols;
}

/// Decodes once more, into place. Only the first fault is reported: where codewords start after it
/// is unknown. Offsets after it may be wrong, which only moves symbols inside the output.
__global__ void __launch_bounds__(kThreads) write_kernel(Args a) {
  __shared__ DecodeTable table;
  load_table(a.table, table);
  __syncthreads();
  const std::uint64_t sub = global_thread();
  if (sub == 0) a.outcome->count = a.symbols;
  if (table.usable == 0 || sub >= a.subs) return;
  const std::uint8_t entry = a.entry[sub];
  const std::uint64_t first = a.offset[sub];
  if (entry == kDead || first >= a.symbols) return;
  std::uint64_t left = a.symbols - first;
  SymbolWriter writer(a.out + first);
  const Stop stop = decode_sub(a, table, sub, entry, [&](std::uint8_t symbol) {
    if (left == 0) return;
    writer.put(symbol);
    --left;
  });
  writer.finish();
  if (left == 0) return;  // no more symbols are asked for
  if (stop.code != Errc::ok)
    report_fault(a.outcome, stop.at, stop.code, FaultPosition::bits);
  else if (sub + 1 == a.subs)
    report_fault(a.outcome, a.bits, Errc::truncated, FaultPosition::bits);
}

}  // namespace

Status decode(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
              std::uint64_t bits, const Codebook* d_book, std::uint8_t* d_out,
              std::uint64_t symbols, Outcome* d_outcome, cudaStream_t stream) {
  const std::uint64_t subs = std::max<std::uint64_t>(1, ceil_div(bits, std::uint64_t{kSubBits}));
  const std::uint64_t groups = ceil_div(subs, kGroup);
  if (ceil_div(subs, kThreads) > kMaxGrid)
    return Status(Errc::invalid_argument, "at most 2^49 bits fit a grid");
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
  a.differs = scratch.take<std::uint64_t>(1);
  a.entry = scratch.take<std::uint8_t>(subs);
  a.exit = scratch.take<std::uint8_t>(subs);
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

  ZR_TRY(reset(a.differs, 1, d_outcome, stream));
  ZR_TRY(build_decode_table(d_book, table, d_outcome, stream));
  if (symbols == 0) return Status::ok();
  ZR_CUDA_TRY(cudaMemsetAsync(a.entry, kUnknown, subs, stream));
  ZR_CUDA_TRY(cudaMemsetAsync(a.exit, kUnknown, subs, stream));
  const auto grid = static_cast<unsigned>(ceil_div(subs, kThreads));
  const auto group_grid = static_cast<unsigned>(ceil_div(groups * 32, kThreads));
  for (int round = 0; round < kRounds; ++round)
    ZR_LAUNCH(synchronize_kernel, grid, kThreads, stream, a);
  ZR_LAUNCH(check_kernel, grid, kThreads, stream, a);
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
