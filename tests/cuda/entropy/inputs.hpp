// Inputs that the entropy parity tests share: runs, byte sources of given entropy, awkward codes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "zerorun/entropy.hpp"

namespace zerorun::test {

/// Integers that change with probability 1 / mean_run; 0 never changes.
std::vector<std::int32_t> runs_of(std::size_t size, int mean_run, std::uint64_t seed);

/// Bytes with about `bits` bits of entropy, 0..8: a geometric distribution over scattered symbols.
std::vector<std::uint8_t> bytes_of(std::size_t size, double bits, std::uint64_t seed);

/// Bytes below `symbols`, all equally likely.
std::vector<std::uint8_t> uniform_bytes(std::size_t size, int symbols, std::uint64_t seed);

/// The Huffman code of the bytes, at most max_bits long.
entropy::Codebook codebook_of(const std::vector<std::uint8_t>& bytes, int max_bits);

/// 0, 10, 110, ... : lengths 1..longest, the last twice; longest + 1 symbols.
entropy::Codebook unary_codebook(int longest);

/// 2^bits symbols of `bits` bits each: a code that never synchronises.
entropy::Codebook flat_codebook(int bits);

/// Words of the code, as the serial encoder writes them.
struct Code {
  std::vector<std::uint32_t> words;
  std::uint64_t bits = 0;
};
Code encode_serially(const std::vector<std::uint8_t>& bytes, const entropy::Codebook& book);

}  // namespace zerorun::test
