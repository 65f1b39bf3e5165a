// Scripts of progressive frames: the one that takes the fewest bits.
// SPDX-License-Identifier: MIT
#include "codec/syntax/scan_layout.hpp"

#include <algorithm>
#include <array>

#include "codec/arith/zigzag.hpp"
#include "codec/syntax/header_bytes.hpp"

namespace zerorun {
namespace {

constexpr int kLastIndex = kBlockSize - 1;

ScanSpec scan_of(int component, int ss, int se, int ah, int al) {
  ScanSpec scan;
  scan.components = 1;
  scan.component[0] = static_cast<std::uint8_t>(component);
  scan.ss = static_cast<std::uint8_t>(ss);
  scan.se = static_cast<std::uint8_t>(se);
  scan.ah = static_cast<std::uint8_t>(ah);
  scan.al = static_cast<std::uint8_t>(al);
  return scan;
}

/// Of the DC of components `first` up to `last`.
ScanSpec dc_scan(int first, int last, int ah, int al) {
  ScanSpec scan = scan_of(first, 0, 0, ah, al);
  scan.components = static_cast<std::uint8_t>(last - first + 1);
  for (int c = first; c <= last; ++c) scan.component[c - first] = static_cast<std::uint8_t>(c);
  return scan;
}

/// The bits of a Huffman code for these counts and the symbol that T.81 K.2 reserves: the sum of
/// all inner nodes. Codewords of more than 16 bits are too rare to count.
std::uint64_t code_bits(std::span<const std::uint32_t, 256> counts, int& symbols) {
  std::array<std::uint64_t, 257> leaf, inner;
  std::size_t leaves = 0;
  leaf[leaves++] = 1;
  for (const std::uint32_t count : counts)
    if (count != 0) leaf[leaves++] = count;
  symbols = static_cast<int>(leaves) - 1;
  std::sort(leaf.begin(), leaf.begin() + static_cast<std::ptrdiff_t>(leaves));
  std::uint64_t bits = 0;
  std::size_t next_leaf = 0, next_inner = 0, inners = 0;
  const auto take_least = [&] {
    const bool is_leaf =
        next_inner == inners || (next_leaf < leaves && leaf[next_leaf] <= inner[next_inner]);
    return is_leaf ? leaf[next_leaf++] : inner[next_inner++];
  };
  for (std::size_t merges = leaves - 1; merges > 0; --merges) {
    const std::uint64_t one = take_least(), other = take_least();
    inner[inners++] = one + other;
    bits += one + other;
  }
  return bits;
}

/// How a component's AC are sent.
struct AcChoice {
  std::uint64_t bits = ~std::uint64_t{0};
  int al = 0, cut = 0;
};

/// `bits(scan)`: of a candidate.
template <typename Bits>
AcChoice choose_ac(int c, const Bits& bits) {
  AcChoice best;
  std::uint64_t refinements = 0;
  for (int al = 0; al <= kMaxLowBits; ++al) {
    if (al > 0) refinements += bits(scan_of(c, 1, kLastIndex, al, al - 1));
    const auto try_cut = [&](int cut) {
      std::uint64_t all = refinements + bits(scan_of(c, cut + 1, kLastIndex, 0, al));
      if (cut > 0) all += bits(scan_of(c, 1, cut, 0, al));
      if (all < best.bits) best = {all, al, cut};
    };
    try_cut(0);
    for (const int cut : kAcCuts) try_cut(cut);
  }
  return best;
}

}  // namespace

std::vector<ScanSpec> candidate_scans(int components, bool joins_dc) {
  std::vector<ScanSpec> scans;
  for (int c = 0; c < components; ++c) {  // the longest ones first: threads take them in order
    for (int al = 0; al <= kMaxLowBits; ++al) {
      scans.push_back(scan_of(c, 1, kLastIndex, 0, al));
      for (const int cut : kAcCuts) {
        scans.push_back(scan_of(c, cut + 1, kLastIndex, 0, al));
        scans.push_back(scan_of(c, 1, cut, 0, al));
      }
      if (al > 0) scans.push_back(scan_of(c, 1, kLastIndex, al, al - 1));
    }
    scans.push_back(dc_scan(c, c, 0, 0));
  }
  if (joins_dc && components > 1) scans.push_back(dc_scan(0, components - 1, 0, 0));
  if (joins_dc && components > 2) scans.push_back(dc_scan(1, components - 1, 0, 0));
  return scans;
}

ScanScript choose_scans(int components, bool joins_dc, std::span<const ScanSpec> candidates,
                        std::span<const std::uint64_t> all_bits) {
  const auto bits = [&](const ScanSpec& scan) {
    return all_bits[static_cast<std::size_t>(std::ranges::find(candidates, scan) -
                                             candidates.begin())];
  };
  ScanScript script;
  std::uint64_t least = 0;
  for (int c = 0; c < components; ++c) {
    script.push_back(dc_scan(c, c, 0, 0));
    least += bits(script.back());
  }
  const auto try_dc = [&](const ScanScript& scans) {
    std::uint64_t sum = 0;
    for (const ScanSpec& scan : scans) sum += bits(scan);
    if (sum < least) {
      least = sum;
      script = scans;
    }
  };
  if (joins_dc && components > 2) try_dc({dc_scan(0, 0, 0, 0), dc_scan(1, components - 1, 0, 0)});
  if (joins_dc && components > 1) try_dc({dc_scan(0, components - 1, 0, 0)});

  // First what shows most: the low frequencies of all components. Then bit after bit.
  AcChoice choice[kMaxDecodedComponents];
  for (int c = 0; c < components; ++c) {
    choice[c] = choose_ac(c, bits);
    const auto [_, al, cut] = choice[c];
    script.push_back(scan_of(c, 1, cut > 0 ? cut : kLastIndex, 0, al));
  }
  for (int c = components; c-- > 0;)
    if (const auto [_, al, cut] = choice[c]; cut > 0)
      script.push_back(scan_of(c, cut + 1, kLastIndex, 0, al));
  for (int al = kMaxLowBits; al-- > 0;)
    for (int c = components; c-- > 0;)
      if (choice[c].al > al) script.push_back(scan_of(c, 1, kLastIndex, al + 1, al));
  return script;
}

std::uint64_t scan_bits(const ScanSpec& scan,
                        std::span<const std::span<const std::uint32_t, 256>> counts,
                        std::uint64_t extra) {
  constexpr int kSosBytes = 2 + 2 + 1 + 3;
  std::uint64_t bits = extra + 8 * (kSosBytes + 2 * std::uint64_t{scan.components});
  for (const auto& table : counts) {
    int symbols;
    bits += code_bits(table, symbols);
    bits += 8 * static_cast<std::uint64_t>(kDhtLeadBytes + symbols);
  }
  return bits;
}

}  // namespace zerorun
