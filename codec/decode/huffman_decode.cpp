// CPU reference of Huffman decoding. CUDA twin: cuda/stages/huffman_decode.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_decode.hpp"

#include "codec/decode/block_decoder.hpp"

namespace zerorun {
namespace {

/// Returns the number of pairs; 0 with `fault` set if a codeword is wrong.
int decode_block(BitReader& reader, const HuffmanDecodeTable& dc, const HuffmanDecodeTable& ac,
                 std::uint64_t end_bit, RunLevel* pairs, Errc& fault) {
  const DecodedPair first = decode_dc(reader, dc, end_bit);
  fault = first.fault;
  if (fault != Errc::ok) return 0;
  pairs[0] = first.pair;
  int count = 1;
  for (int k = 1; k < kBlockSize;) {
    const DecodedPair next = decode_ac(reader, ac, end_bit, k);
    fault = next.fault;
    if (fault != Errc::ok) return 0;
    if (next.end_of_block) break;
    pairs[count++] = next.pair;
  }
  return count;
}

void decode_cursor(const HuffmanDecodeArgs& a, BitCursor& cursor) {
  BitReader reader(a.bytes, a.byte_count, cursor.bit);
  cursor.good_blocks = 0;
  cursor.fault = Errc::ok;
  for (std::int64_t b = 0; b < cursor.blocks; ++b) {
    RunLevel* row = a.pairs + (cursor.first_block + b) * kBlockSize;
    std::uint8_t& count = a.pair_count[cursor.first_block + b];
    if (cursor.fault == Errc::ok) {
      const auto& component =
          a.layout.component[a.layout.block_component[b % a.layout.blocks_per_mcu]];
      cursor.bit = reader.position();
      count = static_cast<std::uint8_t>(decode_block(reader, a.tables->dc[component.dc_table],
                                                     a.tables->ac[component.ac_table],
                                                     cursor.end_bit, row, cursor.fault));
      if (cursor.fault == Errc::ok) {
        ++cursor.good_blocks;
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
