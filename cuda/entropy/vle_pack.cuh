// Codewords of a thread -> 32-bit words. The thread that completes a word stores it.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/entropy/vle_table.cuh"

namespace zerorun::cuda_entropy::vle {

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

}  // namespace zerorun::cuda_entropy::vle
