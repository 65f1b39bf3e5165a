// Lengths of Huffman codewords (T.81 K.2), for the tables of JPEG and for general codebooks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "codec/arith/host_device.hpp"

namespace zerorun {

/// Code_size (T.81 Figure K.1): the length of each symbol's codeword in an unlimited Huffman code;
/// 0 for counts of 0 and for a lone symbol. Of equal counts the larger symbol is merged first. The
/// sum of the counts is below 2^64. `counts` is overwritten; `length` has its size, 257 at most.
void find_code_lengths(std::span<std::uint64_t> counts, std::span<int> length);

/// Adjust_BITS (T.81 Figure K.3): changes the number of codewords of each length, `longest` at
/// most, so that none is longer than `max_length`. Precondition: a code that leaves no bit string
/// unused, max_length >= 8, and at most 2^max_length codewords. The search for a shorter codeword
/// ends: if all had at least length - 1 bits, and one had more, there would be more than that.
///
/// The figure moves one pair of longest codewords at a time. Mostly there are shorter ones of
/// length - 2, which it takes until there are none left: these pairs move together.
ZR_HD void limit_code_lengths(int* of_length, int longest, int max_length) {
  for (int length = longest; length > max_length; --length) {
    int pairs = of_length[length] / 2;
    of_length[length] = 0;
    while (pairs > 0) {
      int shorter = length - 2;
      while (of_length[shorter] == 0) --shorter;
      const int available = shorter == length - 2 ? of_length[shorter] : 1;
      const int moved = pairs < available ? pairs : available;
      // Of a pair of longest codewords one moves up to their common prefix, the other shares the
      // place of a shorter codeword.
      of_length[shorter] -= moved;
      of_length[shorter + 1] += 2 * moved;
      of_length[length - 1] += moved;
      pairs -= moved;
    }
  }
}

}  // namespace zerorun
