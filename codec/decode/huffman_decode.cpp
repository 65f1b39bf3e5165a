// CPU reference of Huffman decoding. CUDA twin: cuda/stages/huffman_decode.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_decode.hpp"

#include "codec/base/multiversion.hpp"
#include "codec/decode/bit_reader.hpp"
#include "codec/decode/block_decoder.hpp"

namespace zerorun {
namespace {

struct BlockTables {
  const HuffmanDecodeTable& dc;
  const HuffmanDecodeTable& ac;
  const LevelLookup& ac_level;
};

/// The most bits of a block: 64 codewords of 16 + 15 bits.
constexpr std::uint64_t kMostBlockBits = 64 * 31;

/// Returns the number of pairs; 0 with `fault` set if a codeword is wrong.
ZR_HD int decode_block(BitReader& reader, const BlockTables& tables, std::uint64_t end_bit,
                       RunLevel* pairs, Errc& fault) {
  const DecodedPair first = decode_dc(reader, tables.dc, end_bit);
  fault = first.fault;
  if (fault != Errc::ok) return 0;
  pairs[0] = first.pair;
  int count = 1;
  // Far from the end no codeword can cross it, so short ones come from one look-up.
  const bool near_end = end_bit - reader.position() < kMostBlockBits;
  for (int k = 1; k < kBlockSize;) {
    reader.refill();
    const LevelEntry entry = tables.ac_level.entry[reader.peek(kLevelLookupBits)];
    if (entry.bits != 0 && !near_end) {
      if (entry.run == kEndOfBlockRun) {
        reader.drop(entry.bits);
        break;
      }
      k += entry.run + 1;
      if (k > kBlockSize) {
        fault = Errc::run_past_block_end;
        return 0;
      }
      reader.drop(entry.bits);
      pairs[count++] = {entry.level, entry.run, 0};
      continue;
    }
    const DecodedPair next = decode_ac(reader, tables.ac, end_bit, k);
    fault = next.fault;
    if (fault != Errc::ok) return 0;
    if (next.end_of_block) break;
    pairs[count++] = next.pair;
  }
  return count;
}

ZR_MULTIVERSION void decode_cursor(const HuffmanDecodeArgs& a, BitCursor& cursor) {
  BitReader reader(a.bytes, a.byte_count, cursor.bit);
  cursor.good_blocks = 0;
  cursor.fault = Errc::ok;
  std::int32_t in_mcu = 0;
  for (std::int64_t b = 0; b < cursor.blocks; ++b) {
    RunLevel* row = a.pairs + (cursor.first_block + b) * kBlockSize;
    std::uint8_t& count = a.pair_count[cursor.first_block + b];
    if (cursor.fault == Errc::ok) {
      const auto& component = a.layout.component[a.layout.block_component[in_mcu]];
      cursor.bit = reader.position();
      const BlockTables tables{a.tables->dc[component.dc_table], a.tables->ac[component.ac_table],
                               a.tables->ac_level[component.ac_table]};
      count = static_cast<std::uint8_t>(
          decode_block(reader, tables, cursor.end_bit, row, cursor.fault));
      if (cursor.fault == Errc::ok) {
        ++cursor.good_blocks;
        if (++in_mcu == a.layout.blocks_per_mcu) in_mcu = 0;
        continue;
      }
    }
    row[0] = {};
    count = 1;
  }
  if (cursor.fault == Errc::ok) cursor.bit = reader.position();
}

}  // namespace

Status huffman_decode_cpu(const HuffmanDecodeArgs& a, Exec&) {
  for (std::int64_t c = 0; c < a.cursor_count; ++c) decode_cursor(a, a.cursors[c]);
  return Status::ok();
}

}  // namespace zerorun
