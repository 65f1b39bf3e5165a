// How the decoder without an index walks its subsequences: to count, to synchronise, to write.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/entropy/outcome.cuh"
#include "cuda/entropy/vld_streams.cuh"

namespace zerorun::cuda_entropy {

inline constexpr int kSubThreads = kDecoderThreads;
// 2^28 symbols of 0, 1, 2, 4, 6, 7.5 and 8 bits of entropy, in us on an H200, by the bits of a
// subsequence:
//    512:  434 1091 1101 1426 1847 1725  814
//   1024:  563  952  736  924 1225 1117  722
//   2048:  805 1106  692  705  942  897  751
//   4096: 1385 1128  545  644  950  990  845
// and 2^22 symbols: 216 137 131 106 108 105 96; 382 340 240 175 118 102 106; 704 399 363 248 205
// 175 148; 1357 516 582 307 416 206 236. So they get longer as long as they are enough for the
// threads that a device holds at a time, and have not too many symbols, which one thread writes in
// a row. 2^30 symbols, which are enough for some turns: 2393 1978 2342 3325 2810 2433 from 1 bit on
// with 2048 bits, 2151 1949 2069 2861 2670 2603 with 4096. (Symbols of 2.0 bits have
// codewords of a little less here, so 1,024 symbols at most would choose 1024 bits: 2660.)
inline constexpr std::uint32_t kShortestSubBits = 512, kLongestSubBits = 4096;
inline constexpr double kSubSymbols = 1200;                 // at most, on average
inline constexpr double kTurns = 0.7, kTurnsOfLongest = 4;  // at least
// Of a segment, more than the longest codeword. Where the first codeword of a segment starts is
// kept: a walk that comes there again needs not go on. With 512 bits 942 and 897 us of the above
// became 961 and 919.
inline constexpr unsigned kSegmentBits = 256;
static_assert(kShortestSubBits % kSegmentBits == 0);
inline constexpr unsigned kNoStart = 63;  // after a fault
/// Walks of a subsequence in one kernel, at most, until it agrees with its left neighbour.
inline constexpr int kWalks = 4;
/// Kernels that walk, at most. After the first one all but a few CTAs agree with their neighbours.
inline constexpr int kRounds = 4;
inline constexpr int kEntries = 32;
inline constexpr std::uint8_t kDead = kEntries;  // no entry, because of a fault to the left
inline constexpr std::uint8_t kFaulty = 64;      // added to an entry behind which a fault comes
inline constexpr std::uint64_t kGroup = 256;  // subsequences whose maps one warp applies in a row
/// Of a CTA that synchronises: its first thread stands for the subsequence before them.
inline constexpr unsigned kOwnSubs = kSubThreads - 1;

struct SubArgs {
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
  RingOfWords<kSubThreads> ring;

  /// Length << 8 of the codeword at the front of the window; 0 if there is none.
  __device__ unsigned find(unsigned window) const {
    const unsigned found = counts.of[window >> (32 - kFastBits)];
    return found >= 256 ? found / 256 % 16 << 8 : find_long_codeword(list, window, found);
  }
};

/// Where the first codeword of each segment starts, from the segment's begin, and 64 times the
/// codewords that start in it, by the last walk of each thread's subsequence.
struct SegmentMarks {
  std::uint16_t of[kLongestSubBits / kSegmentBits][kSubThreads];
};

/// The first sectors of the threads' outputs, and the low words of where these begin and end.
struct SectorEdges {
  static constexpr std::uint32_t kNone = 0;
  Sector head[kSubThreads];
  std::uint32_t begin[kSubThreads];  // kNone: at a sector's begin, or with fewer symbols than one
  std::uint32_t end[kSubThreads];    // kNone: with fewer symbols
  /// Whether the thread's output begins where the one before ends, within a sector.
  __device__ bool joined_to(unsigned thread) const {
    return thread > 0 && thread < kSubThreads && begin[thread] != kNone &&
           begin[thread] == end[thread - 1];
  }
};

struct WriteShared {
  DecodeTable table;
  RingOfWords<kSubThreads> ring;
  SectorEdges edges;

  __device__ unsigned find(unsigned window) const { return find_codeword(table, window); }
};

/// What a walk of a subsequence found.
struct SubWalk {
  std::uint32_t symbols = 0;
  unsigned exit = 0;  // entry of the next subsequence, if is_sound
  bool is_sound = true;
};

__device__ inline std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Whether no codeword that starts in the subsequence can reach the end of the bits.
__device__ inline bool is_inner(const SubArgs& a, std::uint64_t sub) {
  return (sub + 1) * a.sub_bits + entropy::kMaxCodeBits <= a.bits;
}

/// Passes codewords of inner subsequences, of the whole warp, and counts them.
class InnerWalk {
 public:
  __device__ InnerWalk(const SubArgs& a, CountShared& s, std::uint64_t sub, unsigned entry)
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
  InputReader<kSubThreads> reader_;
  unsigned begin_;
  unsigned at_;       // from the subsequence's begin; kFault more behind a fault
  unsigned sum_ = 0;  // 16 times the codewords, and at_ from the begin
};

/// Decodes the codewords that start in a subsequence, with an eye on the end of the bits.
template <typename Shared, typename Sink>
__device__ Stop decode_outer_sub(const SubArgs& a, const Shared& s, std::uint64_t sub,
                                 unsigned entry, Sink&& sink) {
  const std::uint64_t next = (sub + 1) * a.sub_bits;
  const std::uint64_t begin = sub * a.sub_bits + entry;
  const std::uint64_t stop = next < a.bits ? next : a.bits;
  if (begin >= stop) return {begin, 0, Errc::ok};
  return decode_range([&](unsigned window) { return s.find(window); }, a.in, begin, stop, a.bits,
                      a.sub_bits, sink);
}

/// Walks a subsequence with an eye on the end of the bits.
template <typename Shared>
__device__ SubWalk walk_outer_sub(const SubArgs& a, const Shared& s, std::uint64_t sub,
                                  unsigned entry) {
  const Stop stop = decode_outer_sub(a, s, sub, entry, [](unsigned) {});
  const std::uint64_t next = (sub + 1) * a.sub_bits;
  return {stop.symbols, stop.at > next ? static_cast<unsigned>(stop.at - next) : 0,
          stop.code == Errc::ok};
}

/// Walks the threads' subsequences, those that `walks`.
__device__ inline SubWalk walk_sub(const SubArgs& a, CountShared& s, std::uint64_t sub,
                                   unsigned entry, bool walks) {
  const bool inner = is_inner(a, sub);
  InnerWalk walk(a, s, walks && inner ? sub : 0, walks && inner ? entry : 0);
  walk.pass_until(walks && inner ? a.sub_bits : 0);
  if (walks && !inner) return walk_outer_sub(a, s, sub, entry);
  return {walk.symbols(), walk.at() - a.sub_bits, walk.is_sound()};
}

/// The same, and marks the segments. If they are marked by a walk that found `found`, it goes as
/// far as it differs from that.
__device__ inline void walk_segments(const SubArgs& a, CountShared& s, SegmentMarks& marks,
                                     std::uint64_t sub, unsigned entry, bool walks, bool is_marked,
                                     SubWalk& found) {
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
  __device__ OutputPart(const SubArgs& a, std::uint64_t sub) {
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
__device__ inline void write_inner_subs(const SubArgs& a, WriteShared& s, std::uint64_t sub) {
  const unsigned thread = threadIdx.x;
  const OutputPart part(a, sub);
  const bool inner = part.room > 0 && is_inner(a, sub);
  SymbolReader<kSubThreads> reader(s.table, s.ring, a.in, ceil_div(a.bits, std::uint64_t{32}),
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
__device__ inline void write_outer_sub(const SubArgs& a, const WriteShared& s, std::uint64_t sub) {
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

}  // namespace zerorun::cuda_entropy
