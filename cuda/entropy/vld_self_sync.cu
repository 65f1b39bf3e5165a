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
#include "cuda/entropy/outcome.cuh"
#include "cuda/entropy/vld_streams.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = kDecoderThreads;
// Bits of a subsequence: as many as leave work for all threads that a device holds at a time, and
// not too many symbols, which one thread writes in a row. 2^28 symbols of 1 / 4 / 8 bits of
// entropy, us on an H200, with 512 bits 1091 / 1426 / 814, 1024: 952 / 924 / 722, 2048: 1106 / 705
// / 751, 4096: 1128 / 644 / 845; 2^22 symbols with 512 bits 137 / 106 / 96, with 4096 516 / 307 /
// 236.
constexpr std::uint32_t kShortestSubBits = 512, kLongestSubBits = 4096;
constexpr double kSubSymbols = 1200;                 // at most, on average
constexpr double kTurns = 0.7, kTurnsOfLongest = 4;  // at least
// Of a segment, more than the longest codeword. Where the first codeword of a segment starts is
// kept: a walk that comes there again ends.
constexpr unsigned kSegmentBits = 256;
static_assert(kShortestSubBits % kSegmentBits == 0);
constexpr unsigned kNoStart = 63;  // after a fault
/// Walks of a subsequence in one kernel, at most, until it agrees with its left neighbour.
constexpr int kWalks = 4;
/// Kernels that walk, at most. After the first one all but a few CTAs agree with their neighbours.
constexpr int kRounds = 4;
constexpr int kEntries = 32;
constexpr std::uint8_t kDead = kEntries;  // no entry, because of a fault to the left
constexpr std::uint8_t kFaulty = 64;      // added to an entry behind which a fault comes
constexpr std::uint64_t kGroup = 256;     // subsequences whose maps one warp applies in a row
/// Of a CTA that synchronises: its first thread stands for the subsequence before them.
constexpr unsigned kOwnSubs = kThreads - 1;

struct Args {
  const std::uint32_t* in;
  std::uint64_t bits;
  const DecodeTable* table;
  const CountTable* counts;
  std::uint32_t sub_bits;
  std::uint64_t subs;  // at least 1
  // [subs] where the first codeword starts, from the subsequence's begin, or kDead; plus kFaulty.
  std::uint8_t* entry;
  // [CTAs] entries behind the subsequences of each. Even rounds read the first and write the
  // second, odd rounds the other way round.
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

/// What walks that only count need.
struct CountShared {
  CodewordList list;
  CountTable counts;
  RingOfWords<kThreads> ring;

  /// Length << 8 of the codeword at the front of the window; 0 if there is none.
  __device__ unsigned find(unsigned window) const {
    const unsigned found = counts.of[window >> (32 - kFastBits)];
    return found >= 256 ? found / 256 % 16 << 8 : find_long_codeword(list, window, found);
  }
};

/// Where the first codeword of each segment starts, from the segment's begin, and 64 times the
/// codewords that start in it, by the last walk of each thread's subsequence.
struct SegmentMarks {
  std::uint16_t of[kLongestSubBits / kSegmentBits][kThreads];
};

/// The first sectors of the threads' outputs, and the low words of where these begin and end.
struct SectorEdges {
  static constexpr std::uint32_t kNone = 0;
  Sector head[kThreads];
  std::uint32_t begin[kThreads];  // kNone: at a sector's begin, or with fewer symbols than one
  std::uint32_t end[kThreads];    // kNone: with fewer symbols
  /// Whether the thread's output begins where the one before ends, within a sector.
  __device__ bool joined_to(unsigned thread) const {
    return thread > 0 && thread < kThreads && begin[thread] != kNone &&
           begin[thread] == end[thread - 1];
  }
};

struct WriteShared {
  DecodeTable table;
  RingOfWords<kThreads> ring;
  SectorEdges edges;

  __device__ unsigned find(unsigned window) const { return find_codeword(table, window); }
};

/// What a walk of a subsequence found.
struct SubWalk {
  std::uint32_t symbols = 0;
  unsigned exit = 0;  // entry of the next subsequence, if is_sound
  bool is_sound = true;
};

__device__ std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Whether no codeword that starts in the subsequence can reach the end of the bits.
__device__ bool is_inner(const Args& a, std::uint64_t sub) {
  return (sub + 1) * a.sub_bits + entropy::kMaxCodeBits <= a.bits;
}

/// Passes codewords of inner subsequences, of the whole warp, and counts them.
class InnerWalk {
 public:
  __device__ InnerWalk(const Args& a, CountShared& s, std::uint64_t sub, unsigned entry)
      : list_(s.list),
        counts_(kept(shared_address(s.counts.of))),
        reader_(s.ring, a.in, ceil_div(a.bits, std::uint64_t{32}), sub * a.sub_bits + entry),
        begin_(entry),
        at_(entry) {}

  /// Passes all codewords that start before `end`, or before a fault. All threads of the warp.
  __device__ void pass_until(unsigned end) {
    while (__any_sync(kFullWarp, at_ < end)) {
      reader_.top_up();
#pragma unroll 1
      for (int i = 0; i < 16 && __any_sync(kFullWarp, at_ < end); i += 4) {
        pass_two(end);
        pass_two(end);
      }
    }
  }

  __device__ unsigned at() const { return at_; }
  __device__ std::uint32_t symbols() const { return (sum_ - (at_ - begin_)) / 16; }
  __device__ bool is_sound() const { return at_ < kFault; }

 private:
  static constexpr unsigned kFault = 1u << 30;

  /// Makes two look-ups. Each passes all whole codewords that it finds, or the first one alone if
  /// they go beyond the end.
  __device__ void pass_two(unsigned end) {
    reader_.refill();
    unsigned at = at_;
    const auto passed = [&](unsigned found) {
      const unsigned one = at < end ? found / 256 : 0;
      return at + found % 16 <= end ? found % 256 : one;
    };
    const unsigned first = look_up(reader_.window()), first_passed = passed(first);
    at += first_passed % 16;
    const unsigned second = look_up(reader_.window() << first_passed % 16);
    const unsigned second_passed = passed(second);
    if (min(first, second) < 256) [[unlikely]] {
      pass_long_two(end);
      return;
    }
    reader_.skip(first_passed % 16 + second_passed % 16);
    at_ = at + second_passed % 16;
    sum_ += first_passed + second_passed;
  }

  /// Passes up to two codewords, whatever their lengths.
  __device__ void pass_long_two(unsigned end) {
#pragma unroll 1
    for (int n = 0; n < 2 && at_ < end; ++n) {
      reader_.refill();
      const unsigned found = look_up(reader_.window());
      const unsigned bits = found >= 256 ? found / 256 % 16
                                         : find_long_codeword(list_, reader_.window(), found) / 256;
      reader_.skip_long(bits);
      at_ += bits != 0 ? bits : kFault;
      sum_ += bits != 0 ? 16 + bits : kFault;
    }
  }
  __device__ unsigned look_up(unsigned window) const {
    return load_half(counts_, window >> (32 - kFastBits));
  }

  const CodewordList& list_;
  SharedAddress counts_;
  InputReader<kThreads> reader_;
  unsigned begin_;
  unsigned at_;       // from the subsequence's begin; kFault more behind a fault
  unsigned sum_ = 0;  // 16 times the codewords, and at_ from the begin
};

/// Decodes the codewords that start in a subsequence, with an eye on the end of the bits.
template <typename Shared, typename Sink>
__device__ Stop decode_outer_sub(const Args& a, const Shared& s, std::uint64_t sub, unsigned entry,
                                 Sink&& sink) {
  const std::uint64_t next = (sub + 1) * a.sub_bits;
  const std::uint64_t begin = sub * a.sub_bits + entry;
  const std::uint64_t stop = next < a.bits ? next : a.bits;
  if (begin >= stop) return {begin, 0, Errc::ok};
  return decode_range([&](unsigned window) { return s.find(window); }, a.in, begin, stop, a.bits,
                      a.sub_bits, sink);
}

/// Walks a subsequence with an eye on the end of the bits.
template <typename Shared>
__device__ SubWalk walk_outer_sub(const Args& a, const Shared& s, std::uint64_t sub,
                                  unsigned entry) {
  const Stop stop = decode_outer_sub(a, s, sub, entry, [](unsigned) {});
  const std::uint64_t next = (sub + 1) * a.sub_bits;
  return {stop.symbols, stop.at > next ? static_cast<unsigned>(stop.at - next) : 0,
          stop.code == Errc::ok};
}

/// Walks the threads' subsequences, those that `walks`.
__device__ SubWalk walk_sub(const Args& a, CountShared& s, std::uint64_t sub, unsigned entry,
                            bool walks) {
  const bool inner = is_inner(a, sub);
  InnerWalk walk(a, s, walks && inner ? sub : 0, walks && inner ? entry : 0);
  walk.pass_until(walks && inner ? a.sub_bits : 0);
  if (walks && !inner) return walk_outer_sub(a, s, sub, entry);
  return {walk.symbols(), walk.at() - a.sub_bits, walk.is_sound()};
}

/// The same, and marks the segments. If they are marked by a walk that found `found`, it goes as
/// far as it differs from that.
__device__ void walk_segments(const Args& a, CountShared& s, SegmentMarks& marks, std::uint64_t sub,
                              unsigned entry, bool walks, bool is_marked, SubWalk& found) {
  const bool inner = is_inner(a, sub);
  bool goes_on = walks && inner;
  InnerWalk walk(a, s, goes_on ? sub : 0, goes_on ? entry : 0);
  const unsigned segments = a.sub_bits / kSegmentBits;
  for (unsigned segment = 0; segment < segments; ++segment) {
    std::uint16_t* const mark = &marks.of[segment][threadIdx.x];
    const unsigned start = walk.is_sound() ? walk.at() - segment * kSegmentBits : kNoStart;
    const std::uint32_t before = walk.symbols();
    if (goes_on && is_marked && segment > 0 && *mark % 64 == start) {
      goes_on = false;
      found.symbols = before;
      for (unsigned rest = segment; rest < segments; ++rest)
        found.symbols += marks.of[rest][threadIdx.x] / 64;
    }
    if (!__any_sync(kFullWarp, goes_on)) break;
    walk.pass_until(goes_on ? (segment + 1) * kSegmentBits : 0);
    if (goes_on) *mark = static_cast<std::uint16_t>(start | (walk.symbols() - before) * 64);
  }
  if (goes_on) found = {walk.symbols(), walk.at() - a.sub_bits, walk.is_sound()};
  if (walks && !inner) found = walk_outer_sub(a, s, sub, entry);
}

/// Where a subsequence's symbols go.
struct OutputPart {
  std::uint64_t first;  // place of its first one; also where nothing is written
  std::uint64_t room;   // symbols that may be written
  std::uint32_t symbols;
  unsigned entry;
  bool is_faulty;  // a fault comes behind the symbols

  /// Of a subsequence that exists, or of the last one, with no room.
  __device__ OutputPart(const Args& a, std::uint64_t sub) {
    const std::uint64_t at = min(sub, a.subs - 1);
    const std::uint8_t noted = a.entry[at];
    first = a.offset[at];
    entry = noted % kFaulty;
    const bool is_written = sub == at && entry != kDead && first <= a.symbols;
    room = is_written ? a.symbols - first : 0;
    symbols = is_written ? a.count[at] : 0;
    is_faulty = noted >= kFaulty;
  }
};

/// Writes the symbols of inner subsequences, of the whole CTA. What lies behind a subsequence is
/// decoded, too, as long as others go on, but not written. A sector in which a subsequence ends and
/// the next one begins is written by the thread of the first one, whole.
__device__ void write_inner_subs(const Args& a, WriteShared& s, std::uint64_t sub) {
  const unsigned thread = threadIdx.x;
  const OutputPart part(a, sub);
  const bool inner = part.room > 0 && is_inner(a, sub);
  SymbolReader<kThreads> reader(s.table, s.ring, a.in, ceil_div(a.bits, std::uint64_t{32}),
                                inner ? sub * a.sub_bits + part.entry : 0);
  std::uint32_t left =
      inner ? static_cast<std::uint32_t>(min(part.room, std::uint64_t{part.symbols})) : 0;
  std::uint8_t* const out = a.out + part.first;
  SectorWriter writer(out);
  const unsigned skew = writer.skew();
  const auto begin = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(out));
  const bool is_long = left >= sizeof(Sector);
  const Sector head = reader.sector(skew);
  s.edges.head[thread] = head;
  s.edges.begin[thread] = is_long && skew > 0 ? begin : SectorEdges::kNone;
  s.edges.end[thread] = is_long ? begin + left : SectorEdges::kNone;
  __syncthreads();
  const bool joins_right = s.edges.joined_to(thread + 1);
  const auto put = [&](const Sector& sector, unsigned from, bool is_written) {
    const std::uint32_t kept = min(32 - from, left);
    left -= kept;
    const bool joins = joins_right && kept > 0 && left == 0 && from + kept < 32;
    const unsigned end = joins ? 32 : is_written ? from + kept : from;
    writer.put(joins ? joined(sector, kept, s.edges.head[thread + 1]) : sector, from, end);
  };
  put(head, skew, !s.edges.joined_to(thread));
  while (__any_sync(kFullWarp, left > 0)) put(reader.sector(), 0, true);
}

/// Writes the symbols of a subsequence that is not inner.
__device__ void write_outer_sub(const Args& a, const WriteShared& s, std::uint64_t sub) {
  const OutputPart part(a, sub);
  std::uint64_t left = part.room;
  std::uint8_t* out = a.out + part.first;
  if (left == 0) return;
  decode_outer_sub(a, s, sub, part.entry, [&](unsigned symbol) {
    if (left == 0) return;
    *out++ = static_cast<std::uint8_t>(symbol);
    --left;
  });
}

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
/// thread of a CTA stands for the last subsequence of the CTA before: it walks it in the first
/// round, and later has what that CTA found. After a fault, which may come from a wrong guess, the
/// neighbour guesses again.
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
