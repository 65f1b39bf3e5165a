// Histogram and length-limited Huffman code of bytes. CUDA twins: cuda/entropy/codebook.cu.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "codec/base/code_lengths.hpp"
#include "zerorun/entropy.hpp"

namespace zerorun::entropy {

Status histogram(std::span<const std::uint8_t> in, std::span<std::uint64_t, kSymbols> counts) {
  std::fill(counts.begin(), counts.end(), std::uint64_t{0});
  for (const std::uint8_t symbol : in) ++counts[symbol];
  return Status::ok();
}

namespace {

using CodeSizes = std::array<int, kSymbols>;

/// T.81 Figure K.4 (Sort_input): symbols that occur, by code size, then by value.
std::vector<std::uint8_t> sort_symbols(const CodeSizes& depth) {
  std::vector<std::uint8_t> order;
  for (int i = 0; i < kSymbols; ++i)
    if (depth[static_cast<std::size_t>(i)] > 0) order.push_back(static_cast<std::uint8_t>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint8_t a, std::uint8_t b) { return depth[a] < depth[b]; });
  return order;
}

/// T.81 Figure C.2: shorter codewords first, then smaller symbols, each value one more than the
/// last. The lengths alone define the code, also where the limit gives symbols of different depths
/// the same length.
void assign_values(Codebook& book) {
  std::uint64_t next = 0;
  for (int length = 1; length <= kMaxCodeBits; ++length, next <<= 1)
    for (std::size_t s = 0; s < kSymbols; ++s)
      if (book.bits[s] == length) book.value[s] = static_cast<std::uint32_t>(next++);
}

}  // namespace

Result<Codebook> build_codebook(std::span<const std::uint64_t, kSymbols> counts, int max_bits) {
  if (max_bits < 8 || max_bits > kMaxCodeBits)
    return Status(Errc::invalid_argument, "the longest codeword must have 8 to 32 bits");
  std::array<std::uint64_t, kSymbols> freq;
  std::copy(counts.begin(), counts.end(), freq.begin());
  std::uint64_t total = 0;
  for (const std::uint64_t count : freq) {
    if (count > std::numeric_limits<std::uint64_t>::max() - total)
      return Status(Errc::invalid_argument, "the counts add up to 2^64 and more");
    total += count;
  }
  const bool lone = std::count(counts.begin(), counts.end(), std::uint64_t{0}) == kSymbols - 1;
  CodeSizes depth;
  find_code_lengths(freq, depth);
  if (lone)
    for (std::size_t i = 0; i < kSymbols; ++i) depth[i] = counts[i] > 0;

  // Codewords of each length. A tree of 256 leaves is at most 255 deep.
  std::array<int, kSymbols> bits{};
  for (const int d : depth)
    if (d > 0) ++bits[static_cast<std::size_t>(d)];
  limit_code_lengths(bits.data(), kSymbols - 1, max_bits);

  Codebook book;
  std::size_t length = 1;
  for (const std::uint8_t symbol : sort_symbols(depth)) {
    while (bits[length] == 0) ++length;
    --bits[length];
    book.bits[symbol] = static_cast<std::uint8_t>(length);
  }
  assign_values(book);
  return book;
}

}  // namespace zerorun::entropy
