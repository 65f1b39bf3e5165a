// Lengths of Huffman codewords (T.81 K.2), for the tables of JPEG and for general codebooks.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Code_size (T.81 Figure K.1): the length of each symbol's codeword in an unlimited Huffman code;
/// 0 for counts of 0 and for a lone symbol. Of equal counts the larger symbol is merged first. The
/// sum of the counts is below 2^64. `counts` is overwritten; `length` has its size, 257 at most.
inline void find_code_lengths(std::span<std::uint64_t> counts, std::span<int> length) {
  constexpr std::size_t kMostSymbols = 257;  // those of a byte, and the one that T.81 K.2 reserves
  constexpr int kNone = -1;
  // The entry with the least count above 0; of equal ones the last.
  const auto least = [&](int except) {
    int best = kNone;
    for (int i = 0; i < static_cast<int>(counts.size()); ++i) {
      const std::uint64_t count = counts[static_cast<std::size_t>(i)];
      if (count == 0 || i == except) continue;
      if (best == kNone || count <= counts[static_cast<std::size_t>(best)]) best = i;
    }
    return best;
  };
  std::fill(length.begin(), length.end(), 0);
  std::array<int, kMostSymbols> others;  // the next symbol of the same subtree
  others.fill(kNone);
  for (;;) {
    const int v1 = least(kNone);
    const int v2 = least(v1);
    if (v2 == kNone) return;
    const auto a = static_cast<std::size_t>(v1), b = static_cast<std::size_t>(v2);
    counts[a] += counts[b];
    counts[b] = 0;
    std::size_t tail = a;
    for (++length[tail]; others[tail] != kNone; ++length[tail])
      tail = static_cast<std::size_t>(others[tail]);
    others[tail] = v2;
    for (std::size_t i = b;; i = static_cast<std::size_t>(others[i])) {
      ++length[i];
      if (others[i] == kNone) break;
    }
  }
}

/// Adjust_BITS (T.81 Figure K.3): changes the number of codewords of each length, `longest` at
/// most, so that none is longer than `max_length`. Precondition: a code that leaves no bit string
/// unused, max_length >= 8, and at most 2^max_length codewords. The search for a shorter codeword
/// ends: if all had at least length - 1 bits, and one had more, there would be more than that.
///
/// The figure moves one pair of longest codewords at a time: one moves up to their common prefix,
/// the other shares the place of the longest codeword of at most length - 2 bits. Those of just
/// length - 2 bits mostly suffice, and so many pairs move together. The numbers of these lengths
/// stay in registers, since a GPU's thread would wait for each of them.
ZR_HD void limit_code_lengths(int* of_length, int longest, int max_length) {
  if (longest <= max_length) return;
  int here = of_length[longest], above = of_length[longest - 1];  // codewords of length, length - 1
  for (int length = longest; length > max_length; --length) {
    int second = of_length[length - 2];
    int pairs = here / 2;
    here = above + pairs;
    for (;;) {
      const int moved = pairs < second ? pairs : second;
      second -= moved;
      here += 2 * moved;
      pairs -= moved;
      if (pairs == 0) break;
      int shorter = length - 3;
      while (of_length[shorter] == 0) --shorter;
      --of_length[shorter];
      --pairs;
      if (shorter == length - 3)
        second = 2;
      else
        of_length[shorter + 1] += 2;
    }
    of_length[length] = 0;
    above = second;
  }
  of_length[max_length] = here;
  of_length[max_length - 1] = above;
}

}  // namespace zerorun
