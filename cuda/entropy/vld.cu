// Variable-length decode: the decoding table of a codebook, how a thread decodes a range of bits,
// and both decoders. Serial twins: codec/entropy/variable_length.cpp.
// SPDX-License-Identifier: MIT
#include <cstdint>

#include "cuda/base/scratch.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/warp.cuh"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 256;

__device__ std::uint64_t global_thread() { return static_cast<std::uint64_t>(grid_thread()); }

// What both decoders share.

/// Bits of the window by which most codewords are found at once.
constexpr int kFastBits = 12;

struct DecodeTable {
  std::uint32_t first[kSymbols];  ///< codewords left-aligned to 32 bits, ascending
  std::uint8_t bits[kSymbols];    ///< their lengths
  std::uint8_t symbol[kSymbols];  ///< their symbols
  std::uint32_t codewords;
  std::uint32_t usable;  ///< 0 if the codebook is no prefix code
  /// Length << 8 | symbol of the codeword at the front of the window; 0: none, or a longer one.
  std::uint16_t fast[1 << kFastBits];
};

/// Copies a table by all threads of the CTA; the caller synchronises.
__device__ void load_table(const DecodeTable* from, DecodeTable& to) {
  static_assert(sizeof(DecodeTable) % sizeof(std::uint32_t) == 0);
  const auto* source = reinterpret_cast<const std::uint32_t*>(from);
  auto* target = reinterpret_cast<std::uint32_t*>(&to);
  for (unsigned i = threadIdx.x; i < sizeof to / sizeof(std::uint32_t); i += blockDim.x)
    target[i] = source[i];
}

/// The bits [at, end) of the input, most significant first; bits after the end read as 0.
class BitReader {
 public:
  __device__ BitReader(const std::uint32_t* in, std::uint64_t at, std::uint64_t end)
      : in_(in), next_(at / 32), full_(end / 32), last_bits_(static_cast<unsigned>(end % 32)) {
    refill();
    buffer_ <<= at % 32;
    have_ -= static_cast<int>(at % 32);
    refill();
  }

  __device__ unsigned window() const { return static_cast<unsigned>(buffer_ >> 32); }

  __device__ void skip(unsigned bits) {
    buffer_ <<= bits;
    have_ -= static_cast<int>(bits);
    refill();
  }

 private:
  __device__ void refill() {
    if (have_ >= 32) return;
    std::uint32_t word = 0;
    if (next_ < full_)
      word = in_[next_];
    else if (next_ == full_ && last_bits_ != 0)
      word = in_[next_] & ~(0xFFFFFFFFu >> last_bits_);
    buffer_ |= std::uint64_t{word} << (32 - have_);
    have_ += 32;
    ++next_;
  }

  const std::uint32_t* in_;
  std::uint64_t next_;
  std::uint64_t full_;
  unsigned last_bits_;
  std::uint64_t buffer_ = 0;  // left-aligned
  int have_ = 0;
};

/// Length << 8 | symbol of the codeword at the front of the window; 0 if there is none.
__device__ unsigned find_codeword(const DecodeTable& table, unsigned window) {
  if (const unsigned fast = table.fast[window >> (32 - kFastBits)]; fast != 0) return fast;
  int low = 0, high = static_cast<int>(table.codewords);  // first[low - 1] <= window < first[high]
  while (low < high) {
    const int middle = (low + high) / 2;
    if (table.first[middle] <= window)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return 0;
  const int found = low - 1;
  const unsigned bits = table.bits[found];
  const std::uint64_t end = std::uint64_t{table.first[found]} + (std::uint64_t{1} << (32 - bits));
  return window < end ? bits << 8 | table.symbol[found] : 0;
}

/// Where decoding stopped, and why.
struct Stop {
  std::uint64_t at;
  std::uint32_t symbols;
  Errc code;  ///< ok, truncated or bad_huffman_code
};

/// Decodes codewords that start in [at, stop), at most `symbols` of them, from bits that end at
/// `end`; hands each symbol to the sink. Every step takes at least one bit.
template <typename Sink>
__device__ Stop decode_range(const DecodeTable& table, const std::uint32_t* in, std::uint64_t at,
                             std::uint64_t stop, std::uint64_t end, std::uint32_t symbols,
                             Sink&& sink) {
  BitReader reader(in, at, end);
  for (std::uint32_t n = 0; n < symbols; ++n) {
    if (at >= stop) return {at, n, Errc::ok};
    if (at >= end) return {at, n, Errc::truncated};
    const unsigned found = find_codeword(table, reader.window());
    if (found == 0) return {at, n, Errc::bad_huffman_code};
    const unsigned bits = found >> 8;
    if (bits > end - at) return {at, n, Errc::truncated};
    sink(static_cast<std::uint8_t>(found & 0xFF));
    at += bits;
    reader.skip(bits);
  }
  return {at, symbols, Errc::ok};
}

/// Stores a thread's symbols one after the other, four at a time where they fill a word.
class SymbolWriter {
 public:
  __device__ explicit SymbolWriter(std::uint8_t* to) : to_(to) {}

  __device__ void put(std::uint8_t symbol) {
    word_ = word_ >> 8 | std::uint32_t{symbol} << 24;
    ++waiting_;
    if (reinterpret_cast<std::uintptr_t>(to_ + waiting_) % sizeof word_ == 0) finish();
  }

  /// Stores what put() has kept.
  __device__ void finish() {
    if (waiting_ == sizeof word_)
      *reinterpret_cast<std::uint32_t*>(to_) = word_;
    else
      for (unsigned i = 0; i < waiting_; ++i)
        to_[i] = static_cast<std::uint8_t>(word_ >> 8 * (sizeof word_ - waiting_ + i));
    to_ += waiting_;
    waiting_ = 0;
  }

 private:
  std::uint8_t* to_;
  std::uint32_t word_ = 0;  // the last symbol highest
  unsigned waiting_ = 0;
};

// The decoding table, built by one CTA.

/// The first window after all those that begin with sorted codeword i.
__device__ std::uint64_t end_of(const DecodeTable& table, int i) {
  return std::uint64_t{table.first[i]} + (std::uint64_t{1} << (32 - table.bits[i]));
}

__global__ void __launch_bounds__(kSymbols)
    build_table_kernel(const Codebook* book, DecodeTable* out, Outcome* outcome) {
  __shared__ DecodeTable table;
  __shared__ std::uint32_t first[kSymbols];
  __shared__ std::uint8_t bits[kSymbols];
  const int symbol = static_cast<int>(threadIdx.x);
  const unsigned length = book->bits[symbol];
  const std::uint32_t value = book->value[symbol];
  const bool too_wide =
      length > entropy::kMaxCodeBits || (length != 0 && length < 32 && value >> length != 0);
  const bool used = length != 0 && !too_wide;
  first[symbol] = used ? value << (32 - length) : 0;
  bits[symbol] = static_cast<std::uint8_t>(used ? length : 0);
  table.first[symbol] = 0;
  table.bits[symbol] = 0;
  table.symbol[symbol] = 0;
  const bool wide = __syncthreads_or(too_wide) != 0;
  const int codewords = __syncthreads_count(used);

  if (used) {
    int rank = 0;
    for (int other = 0; other < kSymbols; ++other)
      rank += bits[other] != 0 &&
              (first[other] < first[symbol] || (first[other] == first[symbol] && other < symbol));
    table.first[rank] = first[symbol];
    table.bits[rank] = bits[symbol];
    table.symbol[rank] = static_cast<std::uint8_t>(symbol);
  }
  __syncthreads();
  const bool overlaps =
      symbol > 0 && symbol < codewords && table.first[symbol] < end_of(table, symbol - 1);
  const bool usable = __syncthreads_or(overlaps) == 0 && !wide;
  if (symbol == 0) {
    table.codewords = usable ? static_cast<std::uint32_t>(codewords) : 0;
    table.usable = usable;
    if (!usable) report_fault(outcome, 0, Errc::invalid_argument);
  }
  for (unsigned i = threadIdx.x; i < 1u << kFastBits; i += kSymbols) table.fast[i] = 0;
  __syncthreads();
  // Each short codeword fills its entries; those of a prefix code do not overlap.
  const unsigned own_bits = table.bits[symbol];
  if (usable && symbol < codewords && own_bits <= kFastBits) {
    const unsigned begin = table.first[symbol] >> (32 - kFastBits);
    for (unsigned i = 0; i < 1u << (kFastBits - own_bits); ++i)
      table.fast[begin + i] = static_cast<std::uint16_t>(own_bits << 8 | table.symbol[symbol]);
  }
  __syncthreads();
  load_table(&table, *out);
}

/// Builds the table; a codebook that is no prefix code is the fault invalid_argument.
Status build_decode_table(const Codebook* d_book, DecodeTable* d_table, Outcome* d_outcome,
                          cudaStream_t stream) {
  ZR_LAUNCH(build_table_kernel, 1, kSymbols, stream, d_book, d_table, d_outcome);
  return Status::ok();
}

// Decode by a chunk index: one thread a chunk.

struct ChunkArgs {
  const std::uint32_t* in;
  std::uint64_t bits;
  const DecodeTable* table;
  std::uint32_t chunk_symbols;
  const std::uint64_t* offsets;
  std::uint64_t chunks;
  std::uint8_t* out;
  std::uint64_t symbols;
  std::uint32_t* bad_index;  // not 0: the offsets cannot be trusted
  Outcome* outcome;
};

/// Offsets come from outside: no kernel reads where they point before all have been checked.
__global__ void __launch_bounds__(kThreads) check_index_kernel(ChunkArgs a) {
  const std::uint64_t chunk = global_thread();
  if (chunk == 0) a.outcome->count = a.symbols;
  if (chunk >= a.chunks || a.table->usable == 0) return;
  if (a.offsets[chunk] <= a.offsets[chunk + 1] && a.offsets[chunk + 1] <= a.bits) return;
  atomicOr(a.bad_index, 1u);
  report_fault(a.outcome, 0, Errc::invalid_argument);
}

__global__ void __launch_bounds__(kThreads) decode_chunks_kernel(ChunkArgs a) {
  __shared__ DecodeTable table;
  load_table(a.table, table);
  __syncthreads();
  const std::uint64_t chunk = global_thread();
  if (table.usable == 0 || *a.bad_index != 0 || chunk >= a.chunks) return;
  const std::uint64_t first = chunk * a.chunk_symbols, end = a.offsets[chunk + 1];
  const auto symbols =
      static_cast<std::uint32_t>(min(a.symbols - first, std::uint64_t{a.chunk_symbols}));
  SymbolWriter writer(a.out + first);
  // Only `end` and the number of symbols stop it.
  const Stop stop = decode_range(table, a.in, a.offsets[chunk], kNoFault, end, symbols,
                                 [&](std::uint8_t symbol) { writer.put(symbol); });
  writer.finish();
  const Errc code = stop.code == Errc::ok && stop.at != end ? Errc::extraneous_data : stop.code;
  if (code != Errc::ok) report_fault(a.outcome, stop.at, code, FaultPosition::bits);
}

}  // namespace

Status decode_chunks(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
                     std::uint64_t bits, const Codebook* d_book, std::uint32_t chunk_symbols,
                     const std::uint64_t* d_offsets, std::uint8_t* d_out, std::uint64_t symbols,
                     Outcome* d_outcome, cudaStream_t stream) {
  ZR_TRY(check_chunk_symbols(chunk_symbols));
  const std::uint64_t chunks = ceil_div(symbols, chunk_symbols);
  if (ceil_div(chunks, kThreads) > kMaxGrid)
    return Status(Errc::invalid_argument, "at most 2^38 chunks fit a grid");
  CallerScratch scratch(d_scratch);
  DecodeTable* const table = scratch.take<DecodeTable>(1);
  std::uint64_t* const flags = scratch.take<std::uint64_t>(1);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_TRY(reset(flags, 1, d_outcome, stream));
  ZR_TRY(build_decode_table(d_book, table, d_outcome, stream));
  const auto bad_index = reinterpret_cast<std::uint32_t*>(flags);
  const ChunkArgs a{d_in,   bits,  table,   chunk_symbols, d_offsets,
                    chunks, d_out, symbols, bad_index,     d_outcome};
  const unsigned grid = grid_size(static_cast<std::int64_t>(chunks), kThreads);
  ZR_LAUNCH(check_index_kernel, grid, kThreads, stream, a);
  ZR_LAUNCH(decode_chunks_kernel, grid, kThreads, stream, a);
  return Status::ok();
}

// Variable-length decode without an index, after Weissenberger and Schmidt, "Massively Parallel
// Huffman Decoding on GPUs" (2018). The bits are cut into subsequences. Each thread walks over one
// of them from a guessed start and passes the end of its last codeword to its right neighbour. It
// walks again as long as its left neighbour's end changes: within a CTA at once, from CTA to CTA in
// the next round. Then all symbols are written.
//
// Most codes synchronise after a few codewords. For others (all codewords of 7 bits, for example)
// each subsequence is decoded from all 32 positions at which its first codeword can start. That
// gives a map of 32 entries to 32 exits, and the maps are applied one after the other.

namespace {

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
