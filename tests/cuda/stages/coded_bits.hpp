// Huffman-coded bits for the decode stages: valid blocks, then damage.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "codec/decode/huffman_decode.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/tables.hpp"
#include "tests/support/bit_writer.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {

enum class Damage { none, some_bytes, all_bytes, zero_bits, cut };
inline constexpr Damage kDamages[] = {Damage::none, Damage::some_bytes, Damage::all_bytes,
                                      Damage::zero_bits, Damage::cut};

/// Clean bytes with the cursors and the rows of sync points over them.
struct CodedBits {
  ScanLayout layout;
  std::vector<std::uint8_t> bytes;
  std::vector<BitCursor> cursors;
  std::int64_t blocks = 0;

  std::vector<std::int64_t> first_sync(std::int32_t subsequence_bits) const {
    std::vector<std::int64_t> first{0};
    for (const BitCursor& cursor : cursors) {
      const auto bits = static_cast<std::int64_t>(cursor.end_bit - cursor.bit);
      first.push_back(first.back() + (bits + subsequence_bits - 1) / subsequence_bits);
    }
    return first;
  }
};

/// The standard codes; tables 0 and 1 of each class.
inline std::vector<HuffmanDecodeTables> decode_tables() {
  std::vector<HuffmanDecodeTables> tables(1);
  for (int d = 0; d < 2; ++d) {
    fill_decode_table(standard_huffman_spec(d), tables[0].dc[d]);
    fill_decode_table(standard_huffman_spec(2 + d), tables[0].ac[d]);
  }
  return tables;
}

/// `factors` are those of the first of `components`; with `shared` all use the same code tables.
inline ScanLayout coded_layout(int components, int h, int v, bool shared) {
  ComponentSpec specs[kMaxComponents];
  specs[0].h = h;
  specs[0].v = v;
  for (int c = 1; c < components; ++c) specs[c].dc_table = specs[c].ac_table = shared ? 0 : 1;
  const int scan[kMaxComponents] = {0, 1, 2};
  return make_scan_layout(4096, 4096, specs, components, scan, components, 0);
}

/// Codewords of the standard tables.
struct CodeWriter : BitWriter {
  explicit CodeWriter(std::vector<std::uint8_t>& out) : BitWriter(out) {
    for (int t = 0; t < kEncodeTables; ++t) fill_encode_table(standard_huffman_spec(t), t, codes);
  }
  void symbol(int table, int value) { codeword(codes, table, value); }
  HuffmanEncodeTables codes;
};

inline void write_block(CodeWriter& writer, Random& random,
                        const ScanLayout::Component& component) {
  const int dc = component.dc_table, ac = 2 + component.ac_table;
  const auto appended = [&](int ssss) {
    writer.bits(static_cast<std::uint32_t>(random.next()) & ((1u << ssss) - 1), ssss);
  };
  const int category = random.below(12);
  writer.symbol(dc, category);
  appended(category);
  const int longest_run = 1 << random.below(5);
  for (int k = 1; k < kBlockSize;) {
    const int run = random.below(longest_run), ssss = random.between(1, 10);
    if (random.below(12) == 0 || k + run >= kBlockSize) return writer.symbol(ac, kEob);
    if (random.below(15) == 0 && k + 16 <= kBlockSize) {
      writer.symbol(ac, kZrl);
      k += 16;
      continue;
    }
    writer.symbol(ac, run << 4 | ssss);
    appended(ssss);
    k += run + 1;
  }
}

/// `cursors` intervals of up to `most_blocks` blocks; some announce more or fewer blocks than there
/// are, some have bytes to spare.
inline CodedBits make_coded_bits(const ScanLayout& layout, int cursors, int most_blocks,
                                 Damage damage, std::uint64_t seed) {
  Random random(seed);
  CodedBits coded;
  coded.layout = layout;
  CodeWriter writer(coded.bytes);
  for (int c = 0; c < cursors; ++c) {
    const std::size_t start = coded.bytes.size();
    const int blocks = random.between(most_blocks / 2, most_blocks);
    for (int b = 0; b < blocks; ++b)
      write_block(writer, random,
                  layout.component[layout.block_component[b % layout.blocks_per_mcu]]);
    writer.align();
    if (random.below(4) == 0)
      for (int i = random.below(300); i > 0; --i) coded.bytes.push_back(random.byte());
    if (damage == Damage::cut && coded.bytes.size() > start)
      coded.bytes.resize(coded.bytes.size() - static_cast<std::size_t>(random.below(
                                                  static_cast<int>(coded.bytes.size() - start))));
    BitCursor cursor{};
    cursor.bit = start * 8;
    cursor.end_bit = coded.bytes.size() * 8;
    cursor.first_block = coded.blocks;
    cursor.blocks = blocks + (random.below(3) == 0 ? random.below(3) : 0);
    coded.blocks += cursor.blocks;
    coded.cursors.push_back(cursor);
  }
  for (std::size_t i = 0; i < coded.bytes.size(); ++i) {
    if (damage == Damage::all_bytes || (damage == Damage::some_bytes && random.below(400) == 0))
      coded.bytes[i] = random.byte();
    if (damage == Damage::zero_bits && random.below(50) != 0) coded.bytes[i] = 0;
  }
  return coded;
}

}  // namespace zerorun::test
