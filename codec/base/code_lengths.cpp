// Lengths of Huffman codewords (T.81 K.2).
// SPDX-License-Identifier: MIT
#include "codec/base/code_lengths.hpp"

#include <algorithm>
#include <array>

namespace zerorun {
namespace {

constexpr std::size_t kMostSymbols = 257;  // those of a byte, and the one that T.81 K.2 reserves
constexpr int kNone = -1;

/// The entry with the least count above 0; of equal ones the last.
int least(std::span<const std::uint64_t> counts, int except) {
  int best = kNone;
  for (int i = 0; i < static_cast<int>(counts.size()); ++i) {
    const std::uint64_t count = counts[static_cast<std::size_t>(i)];
    if (count == 0 || i == except) continue;
    if (best == kNone || count <= counts[static_cast<std::size_t>(best)]) best = i;
  }
  return best;
}

}  // namespace

void find_code_lengths(std::span<std::uint64_t> counts, std::span<int> length) {
  std::fill(length.begin(), length.end(), 0);
  std::array<int, kMostSymbols> others;  // the next symbol of the same subtree
  others.fill(kNone);
  for (;;) {
    const int v1 = least(counts, kNone);
    const int v2 = least(counts, v1);
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

}  // namespace zerorun
