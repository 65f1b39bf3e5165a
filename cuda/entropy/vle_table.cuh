// The codebook of variable-length encode in shared memory, and the look-up of symbols in it.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/look_back.cuh"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy::vle {

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

}  // namespace zerorun::cuda_entropy::vle
