// Lengths of Huffman codewords (T.81 K.2), for the tables of JPEG and for general codebooks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

namespace zerorun {

/// Code_size (T.81 Figure K.1): the length of each symbol's codeword in an unlimited Huffman code;
/// 0 for counts of 0 and for a lone symbol. Of equal counts the larger symbol is merged first. The
/// sum of the counts is below 2^64. `counts` is overwritten; `length` has its size, 257 at most.
void find_code_lengths(std::span<std::uint64_t> counts, std::span<int> length);

/// Adjust_BITS (T.81 Figure K.3): changes the number of codewords of each length so that none is
/// longer than `max_length`. Precondition: max_length >= 8, and at most 257 codewords. The search
/// for a shorter codeword ends: if all codewords had at least length - 1 >= 8 bits and one had
/// more, there would be more than 257.
void limit_code_lengths(std::span<int> of_length, std::size_t max_length);

}  // namespace zerorun
