// Histogram and length-limited Huffman code of bytes. CUDA twins: cuda/entropy/codebook.cu.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "zerorun/entropy.hpp"

namespace zerorun::entropy {

Status histogram(std::span<const std::uint8_t> in, std::span<std::uint64_t, kSymbols> counts) {
  std::fill(counts.begin(), counts.end(), std::uint64_t{0});
  for (const std::uint8_t symbol : in) ++counts[symbol];
  return Status::ok();
}

namespace {

constexpr int kNone = -1;

/// One entry per symbol, and per subtree under the symbol that names it.
using Frequencies = std::array<std::uint64_t, kSymbols>;
using CodeSizes = std::array<int, kSymbols>;
/// Codewords of each length; a tree of 256 leaves is at most 255 deep.
using LengthCounts = std::array<int, kSymbols>;

/// The least frequent entry that is left, the larger symbol of equals; kNone if there is none.
int least_frequent(const Frequencies& freq, int except) {
  int best = kNone;
  for (int i = 0; i < kSymbols; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (freq[at] == 0 || i == except) continue;
    if (best == kNone || freq[at] <= freq[static_cast<std::size_t>(best)]) best = i;
  }
  return best;
}

/// T.81 Figure K.1 (Code_size) without the reserved code point: depth of each leaf of the tree.
CodeSizes code_sizes(Frequencies freq) {
  CodeSizes depth{};
  std::array<int, kSymbols> root;  // the subtree that a symbol belongs to
  std::iota(root.begin(), root.end(), 0);
  for (;;) {
    const int v1 = least_frequent(freq, kNone);
    const int v2 = least_frequent(freq, v1);
    if (v1 == kNone || v2 == kNone) break;
    freq[static_cast<std::size_t>(v1)] += freq[static_cast<std::size_t>(v2)];
    freq[static_cast<std::size_t>(v2)] = 0;
    for (std::size_t i = 0; i < kSymbols; ++i) {
      if (root[i] != v1 && root[i] != v2) continue;
      root[i] = v1;
      ++depth[i];
    }
  }
  return depth;
}

/// T.81 Figure K.3 (Adjust_BITS) for any limit of 8 and more. The search for `shorter` ends: if all
/// leaves were at least length - 1 >= 8 deep and one deeper, there would be more than 256 of them.
void limit_lengths(LengthCounts& bits, int max_bits) {
  for (int length = kSymbols - 1; length > max_bits; --length) {
    const auto at = static_cast<std::size_t>(length);
    while (bits[at] > 0) {
      std::size_t shorter = at - 2;
      while (bits[shorter] == 0) --shorter;
      bits[at] -= 2;           // a pair of longest codewords:
      bits[at - 1] += 1;       // one moves up to their common prefix,
      bits[shorter + 1] += 2;  // the other shares the place of a shorter codeword
      bits[shorter] -= 1;
    }
  }
}

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
/// last. The lengths alone define the code so, also where limiting mixed symbols of different
/// depth.
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
  Frequencies freq{};
  std::copy(counts.begin(), counts.end(), freq.begin());
  std::uint64_t total = 0;
  for (const std::uint64_t count : freq) {
    if (count > std::numeric_limits<std::uint64_t>::max() - total)
      return Status(Errc::invalid_argument, "the counts add up to 2^64 and more");
    total += count;
  }
  CodeSizes depth = code_sizes(freq);
  if (std::count(freq.begin(), freq.end(), std::uint64_t{0}) == kSymbols - 1)
    for (std::size_t i = 0; i < kSymbols; ++i) depth[i] = freq[i] > 0;  // a lone symbol

  LengthCounts bits{};
  for (const int d : depth)
    if (d > 0) ++bits[static_cast<std::size_t>(d)];
  limit_lengths(bits, max_bits);

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
