// A tile of variable-length encode: its symbols -> its bits in shared memory, in two steps, between
// which the kernel has a barrier of all its warps.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/look_back.cuh"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy::vle {

// The codebook in shared memory, and the look-up of symbols in it.

/// 32 symbols are at least 32 bits: a thread completes one word or more, and no word has bits of
/// more than two threads.
constexpr int kPerThread = 32;
/// Copies of the table: one for each lane, in a memory bank of its own.
constexpr int kCopies = 32;
/// Longest codeword that the packed table holds: value in the upper 23 bits, left-aligned, length
/// in the lower 9.
constexpr unsigned kPackedBits = 23;
constexpr unsigned kLengthMask = 0x1FF;
constexpr unsigned kNoCodeword = 0x100;  // a length that no codeword has
/// Bits that stand for a symbol without codeword, which is reported, and for one after the end.
constexpr unsigned kPadding = 1;

union Table {
  unsigned packed[kSymbols * kCopies];  // [symbol][copy]
  struct {
    unsigned value[kSymbols];  // left-aligned
    unsigned length[kSymbols];
  } plain;  // for codewords that do not fit the packed form
};

/// Fills the table with all threads of the CTA, at least 256. True if the packed form holds all
/// codewords. The caller synchronises.
__device__ inline bool load_table(const Codebook& book, Table& table) {
  unsigned longest = 0;
  if (threadIdx.x < kSymbols) {
    const unsigned length = book.bits[threadIdx.x];
    longest = length <= entropy::kMaxCodeBits ? length : 0;
  }
  const bool packed = __syncthreads_or(longest > kPackedBits) == 0;
  constexpr int kHalf = kCopies / 2;
  for (unsigned i = threadIdx.x; i < 2 * kSymbols; i += blockDim.x) {
    const unsigned symbol = i % kSymbols;
    unsigned length = book.bits[symbol];
    if (length > entropy::kMaxCodeBits) length = 0;
    const unsigned value = length == 0 ? 0 : book.value[symbol] << (32 - length);
    if (packed) {  // half of the copies; rotated, so that these stores too spread over the banks
      unsigned* const row = table.packed + symbol * kCopies + i / kSymbols * kHalf;
      for (int l = 0; l < kHalf; ++l)
        row[(symbol + l) % kHalf] = length == 0 ? kNoCodeword : value | length;
    } else if (i < kSymbols) {
      table.plain.value[symbol] = value;
      table.plain.length[symbol] = length;
    }
  }
  return packed;
}

/// Shared-memory address of the lane's copy of the packed table. The empty asm hides from the
/// compiler where it comes from: it stays one register, to which one instruction adds a row.
__device__ inline unsigned lane_table(const Table& table) {
  auto at = static_cast<unsigned>(__cvta_generic_to_shared(table.packed + threadIdx.x % kCopies));
  asm volatile("" : "+r"(at));
  return at;
}

__device__ inline unsigned load_entry(unsigned lane_table, unsigned symbol) {
  constexpr unsigned kRowBytes = kCopies * sizeof(unsigned);
  unsigned entry;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(entry) : "r"(lane_table + symbol * kRowBytes));
  return entry;
}

/// A thread's symbols in registers, the first in the lowest byte.
struct Symbols {
  unsigned word[kPerThread / 4];

  __device__ unsigned operator[](int i) const {
    return __byte_perm(word[i / 4], 0, 0x4440 + i % 4);
  }
};

/// Where a thread's symbols lie in the input.
struct Place {
  const std::uint8_t* from;
  std::uint64_t first;  ///< number of the first symbol
  int count;            ///< symbols that exist, 0 to kPerThread
};

__device__ inline void report_symbol(Outcome* outcome, const Place& place, int i) {
  report_fault(outcome, place.first + static_cast<unsigned>(i), Errc::invalid_argument,
               FaultPosition::bytes);
}

/// `vector`: 32 symbols exist and are aligned to 16 bytes. Symbols after the end read as 0.
__device__ inline Symbols load_symbols(const Place& place, bool vector) {
  Symbols symbols;
  if (vector) {
    const uint4 low = __ldcs(reinterpret_cast<const uint4*>(place.from));
    const uint4 high = __ldcs(reinterpret_cast<const uint4*>(place.from) + 1);
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
  }
#pragma unroll
  for (int w = 0; w < kPerThread / 4; ++w) {
    symbols.word[w] = 0;
#pragma unroll
    for (int i = 4 * w; i < 4 * w + 4; ++i)
      if (i < place.count) symbols.word[w] |= static_cast<unsigned>(place.from[i]) << (8 * (i % 4));
  }
  return symbols;
}

/// Pairs of codewords: left-aligned bits of each, and the lengths, four in a word.
struct Pairs {
  unsigned bits[kPerThread / 2];
  unsigned lengths[kPerThread / 8];

  __device__ unsigned length(int pair) const {
    return lengths[pair / 4] >> (8 * (pair % 4)) & 0xFF;
  }

  /// Bits of the first half of the symbols, and of all.
  __device__ unsigned half_total() const { return sum(0, sum(1, 0)); }
  __device__ unsigned total() const { return sum(0, sum(1, sum(2, sum(3, 0)))); }

  /// Whether every pair has at most 32 bits: no byte, which is 46 at most, reaches 128 with 95
  /// more.
  __device__ bool fit() const {
    unsigned over = 0;
#pragma unroll
    for (const unsigned four : lengths) over |= four + 0x5F5F5F5Fu;
    return (over & 0x80808080u) == 0;
  }

  /// Whether every two neighbouring pairs have at most 32 bits together.
  __device__ bool quads_fit() const {
    unsigned over = 0;
#pragma unroll
    for (const unsigned four : lengths)
      over |= (four & 0x00FF00FFu) + (four >> 8 & 0x00FF00FFu) + 0x7FDF7FDFu;
    return (over & 0x80008000u) == 0;
  }

 private:
  __device__ unsigned sum(int word, unsigned others) const {
    return __dp4a(lengths[word], 0x01010101u, others);
  }
};

/// Looks half of the symbols up in the packed table and merges them in pairs. There are not enough
/// registers for both halves at once.
template <int Half, typename PlaceOf>
__device__ inline void look_up_half(unsigned lane_table, const Symbols& symbols, bool whole,
                                    const PlaceOf& place_of, Outcome* outcome, Pairs& pairs) {
  constexpr int kCount = kPerThread / 2, kFirst = Half * kCount;
  unsigned entries[kCount];
  unsigned all = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    entries[i] = load_entry(lane_table, symbols[kFirst + i]);
    all |= entries[i];
  }
  if (!whole || (all & kNoCodeword) != 0) {
    const Place place = place_of();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool exists = kFirst + i < place.count, missing = (entries[i] & kNoCodeword) != 0;
      if (exists && missing) report_symbol(outcome, place, kFirst + i);
      if (!exists || missing) entries[i] = kPadding;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) {
    const int pair = Half * kCount / 2 + i;
    const unsigned first = entries[2 * i], second = entries[2 * i + 1];
    // The funnel shift takes the length modulo 32 straight from the entry.
    pairs.bits[pair] = (first & ~kLengthMask) | __funnelshift_r(second & ~kLengthMask, 0, first);
    // The low byte of the sum goes to byte pair % 4.
    constexpr unsigned kInsert[4] = {0x3214, 0x3240, 0x3410, 0x4210};
    pairs.lengths[pair / 4] =
        __byte_perm(pairs.lengths[pair / 4], first + second, kInsert[pair % 4]);
  }
}

/// The bits of a pair of more than 32 are incomplete, but its length is right. `whole`: all symbols
/// of the tile exist; place_of() is called only otherwise, or for a fault.
template <typename PlaceOf>
__device__ inline Pairs look_up_pairs(unsigned lane_table, const Symbols& symbols, bool whole,
                                      const PlaceOf& place_of, Outcome* outcome) {
  Pairs pairs = {};
  look_up_half<0>(lane_table, symbols, whole, place_of, outcome, pairs);
  look_up_half<1>(lane_table, symbols, whole, place_of, outcome, pairs);
  return pairs;
}

// Codewords of a thread -> 32-bit words. The thread that completes a word stores it.

/// Bits on their way into words of shared or global memory, the first bit highest.
struct BitWriter {
  unsigned* words;       ///< the next word to complete
  unsigned at;           ///< bit position; modulo 32 it counts in the word
  const unsigned* end;   ///< nothing is stored from here on; only if Bounded
  unsigned pending = 0;  ///< this thread's bits of the word so far

  /// Appends the `length` (0..32) highest bits of `bits`; the others are 0.
  template <bool Bounded>
  __device__ void append(unsigned bits, unsigned length) {
    pending |= __funnelshift_r(bits, 0, at);  // >> (at mod 32)
    const unsigned next = at + length;
    if (((next ^ at) & 32) != 0) {
      if (!Bounded || words < end) *words = pending;
      ++words;
      pending = __funnelshift_r(0, bits, at);  // what did not fit; nothing at a word boundary
    }
    at = next;
  }
};

/// Merges pairs once more where all results of the warp fit 32 bits, as they mostly do when the
/// symbols compress well.
__device__ inline void append_pairs(const Pairs& pairs, BitWriter& writer) {
  if (__all_sync(kFullWarp, pairs.quads_fit())) {
#pragma unroll
    for (int i = 0; i < kPerThread / 2; i += 2) {
      // The clamping shift: a first pair of 32 bits leaves no room for the second.
      const unsigned first = pairs.length(i);
      const unsigned bits = pairs.bits[i] | __funnelshift_rc(pairs.bits[i + 1], 0, first);
      writer.append<false>(bits, first + pairs.length(i + 1));
    }
  } else {
#pragma unroll
    for (int i = 0; i < kPerThread / 2; ++i) writer.append<false>(pairs.bits[i], pairs.length(i));
  }
}

/// Appends one codeword after the other, by either form of the table. It loads the symbols again in
/// a small loop: this path is rare, and more registers would slow the common path down.
template <bool Bounded>
__device__ inline void append_singly(const Table& table, bool packed, const Place& place,
                                     BitWriter& writer) {
#pragma unroll 1
  for (int i = 0; i < kPerThread; ++i) {
    unsigned bits = 0, length = kPadding;
    if (i < place.count) {
      const unsigned symbol = place.from[i];
      if (packed) {
        const unsigned entry = table.packed[symbol * kCopies + threadIdx.x % kCopies];
        bits = entry & ~kLengthMask;
        length = entry == kNoCodeword ? kPadding : entry & kLengthMask;
      } else {
        bits = table.plain.value[symbol];
        length = max(table.plain.length[symbol], kPadding);
      }
    }
    writer.append<Bounded>(bits, length);
  }
}

/// Bits of the symbols [begin, end) of a thread by the plain table.
__device__ inline unsigned plain_bits(const Table& table, const Place& place, int begin, int end,
                                      Outcome* outcome) {
  unsigned bits = 0;
#pragma unroll 1
  for (int i = begin; i < end; ++i) {
    const unsigned length = i < place.count ? table.plain.length[place.from[i]] : kPadding;
    if (length == 0) report_symbol(outcome, place, i);
    bits += max(length, kPadding);
  }
  return bits;
}

/// Called when all threads of a warp have appended their bits: adds the left neighbour's bits to
/// the first word of each thread, for lane 0 the bits `left`. A thread has completed at least one
/// word, so that its first word is its own.
__device__ inline void join_lanes(const BitWriter& writer, unsigned* first, unsigned left) {
  const unsigned from_left = __shfl_up_sync(kFullWarp, writer.pending, 1);
  const unsigned bits = threadIdx.x % 32 == 0 ? left : from_left;
  if (bits != 0 && (writer.end == nullptr || first < writer.end)) *first |= bits;
}

// Tiles.

struct Args {
  const std::uint8_t* in;
  std::uint64_t size;
  const Codebook* book;
  std::uint32_t* out;
  std::uint64_t capacity;
  unsigned chunk_mask;     // symbols per chunk - 1
  unsigned chunk_shift;    // their logarithm
  std::uint64_t* offsets;  // or null
  std::uint64_t* states;   // [tiles] of the look-back
  std::uint64_t* tails;    // [tiles] bits of the last, incomplete word
  unsigned* ticket;
  Outcome* outcome;
  unsigned tiles;
  unsigned plain_tiles;  // these first tiles are whole and aligned for vector loads
};

/// A CTA's tile, and its shared memory.
template <int Packers>
struct Tiles {
  static constexpr int kPackers = Packers;  // threads that pack: the first ones of the CTA
  static constexpr int kThreads = kPackers + 32;
  static constexpr int kWarps = kPackers / 32;
  static constexpr int kTile = kPackers * kPerThread;
  static constexpr int kBuffers = 2;
  /// Tiles with more than 16 bits a symbol do not fit a buffer and go straight to the output.
  static constexpr unsigned kBufferBits = kTile * 16;

  /// A tile that is packed, or about to be.
  struct Buffer {
    /// words[0] is the tail of the tile before, words[1 + i] word i of this one. A word of zeros is
    /// behind the last.
    unsigned words[1 + kBufferBits / 32 + 2];
    unsigned bits;
    bool direct;                  // the bits are too many for `words`
    unsigned warp_first[kWarps];  // first bit of each warp
    unsigned warp_tail[kWarps];   // its last bits, for the warp to the right
    unsigned first[kPackers];     // first bit of each thread
    unsigned half[kPackers];      // bits of the first half of its symbols
  };

  struct Shared {
    Table table;
    Buffer buffer[kBuffers];
    unsigned warp_bits[kWarps];
    unsigned next_tile;
    std::uint64_t base;  // bits before the tile that is being stored
  };
};

template <typename T>
__device__ inline Place place_of(const Args& a, unsigned tile) {
  const std::uint64_t first = std::uint64_t{tile} * T::kTile + threadIdx.x * kPerThread;
  int count = kPerThread;
  if (tile >= a.plain_tiles)
    count = first >= a.size ? 0 : static_cast<int>(min(a.size - first, std::uint64_t{kPerThread}));
  return {a.in + first, first, count};
}

/// Whether the warp packs. The vote tells the compiler that all lanes agree; without it each
/// shuffle in the branch is prepared for a divided warp.
template <typename T>
__device__ inline bool warp_packs() {
  return __all_sync(kFullWarp, threadIdx.x < T::kPackers);
}

/// What a thread keeps in registers between the two steps.
struct Lookups {
  Pairs pairs;   ///< only if the table is packed
  unsigned own;  ///< bits of all its symbols
};

/// Step 1: looks the symbols up and finds how many bits the warp has. In the buffer it writes only
/// what this thread alone reads, because the rest may still be in use.
template <typename T>
__device__ inline Lookups look_up_tile(const Args& a, typename T::Shared& s, typename T::Buffer& b,
                                       unsigned tile, const Symbols& symbols, bool packed) {
  Lookups l;
  unsigned half = 0;
  if (packed) {
    l.pairs = look_up_pairs(
        lane_table(s.table), symbols, tile < a.plain_tiles, [&] { return place_of<T>(a, tile); },
        a.outcome);
    l.own = l.pairs.total();
    half = l.pairs.half_total();
  } else {
    const Place place = place_of<T>(a, tile);
    half = plain_bits(s.table, place, 0, kPerThread / 2, a.outcome);
    l.own = half + plain_bits(s.table, place, kPerThread / 2, kPerThread, a.outcome);
  }
  b.half[threadIdx.x] = half;
  const unsigned all = warp_add(l.own);
  if (threadIdx.x % 32 == 0) s.warp_bits[threadIdx.x / 32] = all;
  return l;
}

/// Publishes how many bits the tile has. Returns those of the warps before this one; `total`
/// becomes those of all warps with the padding of the last tile.
template <typename T>
__device__ inline unsigned sum_warps(const Args& a, const typename T::Shared& s,
                                     typename T::Buffer& b, unsigned tile, unsigned& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned others = lane < T::kWarps ? s.warp_bits[lane] : 0;
  total = warp_add(others);
  const unsigned warp_first = warp_add(lane < warp ? others : 0u);
  if (lane == 0) b.warp_first[warp] = warp_first;
  if (threadIdx.x == 0) {
    const std::uint64_t behind = a.size - std::uint64_t{tile} * T::kTile;
    b.bits = behind < T::kTile ? total - (T::kTile - static_cast<unsigned>(behind)) : total;
    b.direct = total > T::kBufferBits;
    store_relaxed(a.states + tile, (tile == 0 ? kTileInclusive : kTileAggregate) | b.bits);
  }
  return warp_first;
}

/// Step 2: puts the bits into the buffer, unless there are too many for it.
template <typename T>
__device__ inline void pack_tile(const Args& a, const typename T::Shared& s, typename T::Buffer& b,
                                 unsigned tile, const Lookups& l, bool packed) {
  unsigned total = 0;
  const unsigned before = warp_inclusive_sum(l.own) - l.own;
  const unsigned at = sum_warps<T>(a, s, b, tile, total) + before;
  b.first[threadIdx.x] = at;
  if (total > T::kBufferBits) return;

  unsigned* const first = b.words + 1 + at / 32;
  BitWriter writer{first, at, nullptr};
  if (__all_sync(kFullWarp, packed && l.pairs.fit()))
    append_pairs(l.pairs, writer);
  else
    append_singly<false>(s.table, packed, place_of<T>(a, tile), writer);
  join_lanes(writer, first, 0);
  if (threadIdx.x % 32 == 31) b.warp_tail[threadIdx.x / 32] = writer.pending;
  if (threadIdx.x == T::kPackers - 1) {
    writer.words[0] = writer.pending;
    writer.words[1] = 0;  // the output's last word may have bits of it
  }
}

/// The last 32 bits of a packed tile, the very last one lowest. A tile with a right neighbour has
/// at least one bit a symbol, so it has 32 bits.
template <typename T>
__device__ inline unsigned tail_of(const typename T::Buffer& b) {
  const unsigned* const words = b.words + 1;
  const unsigned word = b.bits / 32;
  return __funnelshift_l(words[word], words[word - 1], b.bits);
}

/// Completes the words that two warps share. By one warp, a lane for each pair of warps.
template <typename T>
__device__ inline void join_warps(const typename T::Buffer& b, unsigned* words, unsigned base,
                                  const unsigned* end) {
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0 || lane >= T::kWarps) return;
  unsigned* const word = words + (base + b.warp_first[lane]) / 32;
  if (end == nullptr || word < end) *word |= b.warp_tail[lane - 1];
}

}  // namespace zerorun::cuda_entropy::vle
