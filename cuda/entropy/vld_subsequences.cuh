// How the decoder without an index walks its subsequences: to count, to synchronise, to write.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/entropy/outcome.cuh"
#include "cuda/entropy/vld_streams.cuh"

namespace zerorun::cuda_entropy {

inline constexpr int kSubThreads = kDecoderThreads;
// Of a subsequence, and of one of symbols with at most kFewBits on average: such a subsequence has
// so many that too few threads would have long to do. 256 MB of 0, 4 and 8 bits of entropy on an
// H200, earlier: 1.56, 1.58, 1.16 ms; with 1024 bits for all 1.31, 1.82, 0.99; with 4096 bits 2.11,
// 1.46, 1.30.
inline constexpr std::uint32_t kSubBits = 2048, kShortSubBits = 1024, kFewBits = 2;
// Of 2^28 symbols of 0, 1, 2, 4, 6, 7.5 and 8 bits, in us on an H100: 1907, 2160, 1972, 1984, 2174,
// 2252, 1534 with a codeword a look-up and segments of 512 bits; 1490, 1640, 1457, 1600, 1920,
// 2128, 1405 with the counts of codewords and segments of 256; 817, 1285, 1118, 1452, 1717, 1818,
// 1007 with whole sectors and short subsequences, too. (Each was not measured alone.)
//
// Of a segment, more than the longest codeword. Where the first codeword of a segment starts is
// kept: a walk that comes there again needs not go on.
inline constexpr unsigned kSegmentBits = 256;
static_assert(kSubBits % kSegmentBits == 0 && kShortSubBits % kSegmentBits == 0);
inline constexpr unsigned kNoStart = 63;  // after a fault
inline constexpr int kRounds = 6;
inline constexpr int kEntries = 32;
inline constexpr std::uint8_t kDead = kEntries;  // no entry, because of a fault to the left
inline constexpr std::uint64_t kGroup = 256;  // subsequences whose maps one warp applies in a row

struct SubArgs {
  const std::uint32_t* in;
  std::uint64_t bits;
  const DecodeTable* table;
  const CountTable* counts;
  std::uint32_t sub_bits;
  std::uint64_t subs;   // at least 1
  std::uint8_t* entry;  // [subs] where the first codeword starts, from the subsequence's begin
  // [subs] entries of the next subsequence. Even rounds read the first and write the second, odd
  // rounds the other way round.
  std::uint8_t* even_exits;
  std::uint8_t* odd_exits;
  std::uint32_t* count;   // [subs] symbols
  std::uint64_t* offset;  // [subs] symbols before it
  // [segments][subs] where the first codeword of a segment starts, from the segment's begin, and
  // 64 times the codewords that start in it.
  std::uint16_t* marks;
  std::uint32_t* changed;     // [kRounds] not 0: an exit changed
  std::uint8_t* maps;         // [subs][kEntries] exit of each entry
  std::uint8_t* group_maps;   // [groups][kEntries] the same
  std::uint8_t* group_entry;  // [groups]
  std::uint8_t* out;
  std::uint64_t symbols;
  Outcome* outcome;
};

struct SubShared {
  DecodeTable table;
  CountTable counts;  // of walk_inner_subs() alone
  RingOfWords<kSubThreads> ring;
};

__device__ inline std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Whether no codeword that starts in the subsequence can reach the end of the bits.
__device__ inline bool is_inner(const SubArgs& a, std::uint64_t sub) {
  return (sub + 1) * a.sub_bits + entropy::kMaxCodeBits <= a.bits;
}

/// Decodes the codewords that start in inner subsequences, of the whole warp; those that are not
/// decoded give nothing. Calls sink(sector, begin, end) for every thread at the same time: bytes
/// begin to end of the sector are symbols, and the others 0. The first sector begins at `skew`, all
/// others at 0; all but a thread's last one end at 32.
template <typename Sink>
__device__ Stop decode_inner_subs(const SubArgs& a, SubShared& s, std::uint64_t sub, unsigned entry,
                                  bool decodes, unsigned skew, Sink&& sink) {
  const unsigned sub_end = a.sub_bits;
  const std::uint64_t begin = decodes ? sub * a.sub_bits : 0;
  RingReader<kSubThreads> reader(s.ring, a.in, ceil_div(a.bits, std::uint64_t{32}), begin + entry);
  unsigned at = decodes ? entry : sub_end;
  std::uint32_t symbols = 0;
  bool is_sound = true;
  const auto take = [&](unsigned place, unsigned from) -> unsigned {
    if (!is_sound || at >= sub_end || place < from) return 0;
    const unsigned found = take_codeword(s.table, reader);
    is_sound = found != 0;
    at += found >> 8;
    symbols += is_sound;
    return (found & 0xFF) << (8 * (place % 4));
  };
  const auto decode_sector = [&](unsigned from) {
    const std::uint32_t before = symbols;
    Sector sector;
#pragma unroll
    for (unsigned word = 0; word < 8; ++word) {
      if (word % 4 == 0) reader.top_up();
      sector.word[word] = 0;
#pragma unroll
      for (unsigned place = 4 * word; place < 4 * word + 4; ++place) {
        if (place % 2 == 0) reader.refill();
        sector.word[word] |= take(place, from);
      }
    }
    sink(sector, from, from + (symbols - before));
  };
  for (unsigned from = skew; __any_sync(kFullWarp, is_sound && at < sub_end); from = 0)
    decode_sector(from);
  return {begin + at, symbols, is_sound ? Errc::ok : Errc::bad_huffman_code};
}

/// Decodes the codewords that start in a subsequence, with an eye on the end of the bits.
template <typename Sink>
__device__ Stop decode_outer_sub(const SubArgs& a, const DecodeTable& table, std::uint64_t sub,
                                 unsigned entry, Sink&& sink) {
  const std::uint64_t next = (sub + 1) * a.sub_bits;
  const std::uint64_t begin = sub * a.sub_bits + entry;
  const std::uint64_t stop = next < a.bits ? next : a.bits;
  if (begin >= stop) return {begin, 0, Errc::ok};
  return decode_range(table, a.in, begin, stop, a.bits, a.sub_bits, sink);
}

/// Counts the symbols of the threads' subsequences, where they are to be decoded, and finds where
/// they end.
__device__ inline Stop count_subs(const SubArgs& a, SubShared& s, std::uint64_t sub, unsigned entry,
                                  bool decodes) {
  const bool inner = is_inner(a, sub);
  const auto nowhere = [](const Sector&, unsigned, unsigned) {};
  const Stop stop = decode_inner_subs(a, s, sub, entry, decodes && inner, 0, nowhere);
  if (inner || !decodes) return stop;
  return decode_outer_sub(a, s.table, sub, entry, [](unsigned) {});
}

/// Decodes at most `room` symbols of the threads' subsequences to `out`, where they are to be
/// decoded.
__device__ inline Stop write_subs(const SubArgs& a, SubShared& s, std::uint64_t sub, unsigned entry,
                                  bool decodes, std::uint8_t* out, std::uint64_t room) {
  // No subsequence has more symbols than bits.
  std::uint32_t left = room < a.sub_bits ? static_cast<std::uint32_t>(room) : a.sub_bits;
  const bool inner = is_inner(a, sub);
  SectorWriter writer(out);
  const Stop stop = decode_inner_subs(a, s, sub, entry, decodes && inner, writer.skew(),
                                      [&](const Sector& sector, unsigned begin, unsigned end) {
                                        const std::uint32_t kept = min(end - begin, left);
                                        writer.put(sector, begin, begin + kept);
                                        left -= kept;
                                      });
  if (inner || !decodes) return stop;
  return decode_outer_sub(a, s.table, sub, entry, [&](unsigned symbol) {
    if (left == 0) return;
    *out++ = static_cast<std::uint8_t>(symbol);
    --left;
  });
}

/// The entry of the next subsequence; `fault` stands for what follows a fault.
__device__ inline std::uint8_t exit_of(const SubArgs& a, const Stop& stop, std::uint64_t sub,
                                       std::uint8_t fault) {
  const std::uint64_t next = (sub + 1) * a.sub_bits;
  if (stop.code != Errc::ok) return fault;
  return static_cast<std::uint8_t>(stop.at > next ? stop.at - next : 0);
}

struct SubWalk {
  std::uint8_t exit;
  std::uint32_t symbols;
};

/// Counts the codewords that start in inner subsequences, of the whole warp, and finds the exits.
/// From the second walk on it goes as far as it differs from the one before, which had the exit
/// `known`.
__device__ inline SubWalk walk_inner_subs(const SubArgs& a, SubShared& s, std::uint64_t sub,
                                          unsigned entry, bool decodes, bool is_second,
                                          std::uint8_t known) {
  const std::uint64_t begin = decodes ? sub * a.sub_bits : 0;
  RingReader<kSubThreads> reader(s.ring, a.in, ceil_div(a.bits, std::uint64_t{32}), begin + entry);
  std::uint32_t symbols = 0;
  unsigned at = entry;
  bool is_sound = true, goes_on = decodes;
  // Takes one codeword, or as many as one look-up passes without reaching the segment's end.
  const auto take = [&](unsigned end) {
    const unsigned passed =
        at + kFastBits <= end ? s.counts.of[reader.window() >> (32 - kFastBits)] : 0;
    if (passed != 0) {
      reader.skip(passed % 16);
      at += passed % 16;
      symbols += passed / 16;
      return;
    }
    const unsigned found = take_codeword(s.table, reader);
    is_sound = found != 0;
    at += found >> 8;
    symbols += is_sound;
  };
  const unsigned segments = a.sub_bits / kSegmentBits;
  for (unsigned segment = 0; segment < segments; ++segment) {
    const unsigned start = is_sound ? at - segment * kSegmentBits : kNoStart;
    const unsigned end = (segment + 1) * kSegmentBits;
    std::uint16_t* const mark = a.marks + segment * a.subs + sub;
    if (goes_on && is_second && segment > 0 && *mark % 64 == start) {
      goes_on = false;
      for (unsigned rest = 0; rest < segments - segment; ++rest)
        symbols += mark[rest * a.subs] / 64;
    }
    if (!__any_sync(kFullWarp, goes_on)) break;
    const std::uint32_t before = symbols;
    while (__any_sync(kFullWarp, goes_on && is_sound && at < end)) {
      reader.top_up();
#pragma unroll 1
      for (int i = 0; i < 16 && goes_on && is_sound && at < end; i += 2) {
        reader.refill();
        take(end);
        if (is_sound && at < end) take(end);
      }
    }
    if (goes_on) *mark = static_cast<std::uint16_t>(start | (symbols - before) * 64);
  }
  if (!goes_on) return {known, symbols};
  return {static_cast<std::uint8_t>(is_sound ? at - a.sub_bits : 0), symbols};
}

}  // namespace zerorun::cuda_entropy
