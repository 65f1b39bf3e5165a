// CPU references of the stages from clean bytes to blocks. CUDA twins: cuda/stages.
// SPDX-License-Identifier: MIT
#include "codec/decode/scan_stages.hpp"

#include <algorithm>
#include <cstring>

#include "codec/decode/block_decoder.hpp"

namespace zerorun {
namespace {

/// Records the state at the first codeword that starts in each subsequence.
class SyncRecorder {
 public:
  SyncRecorder(SyncPoint* points, std::int64_t count, std::uint64_t start, std::int32_t bits)
      : points_(points), count_(count), boundary_(start), bits_(bits) {}

  void codeword_starts(std::uint64_t bit, std::int64_t block, int k, int pairs) {
    while (next_ < count_ && bit >= boundary_) {
      points_[next_++] = {bit, block, static_cast<std::uint8_t>(k),
                          static_cast<std::uint8_t>(pairs), 1};
      boundary_ += static_cast<std::uint64_t>(bits_);
    }
  }
  void finish() {
    while (next_ < count_) points_[next_++] = {};
  }

 private:
  SyncPoint* points_;
  std::int64_t count_;
  std::uint64_t boundary_;
  std::int32_t bits_;
  std::int64_t next_ = 0;
};

void walk(const HuffmanSyncArgs& a, const BitCursor& cursor, SyncRecorder& recorder) {
  BitReader reader(a.bytes, a.byte_count, cursor.bit);
  for (std::int64_t b = 0; b < cursor.blocks; ++b) {
    const auto in_mcu = static_cast<std::size_t>(b % a.layout.blocks_per_mcu);
    const auto& component = a.layout.component[a.layout.block_component[in_mcu]];
    recorder.codeword_starts(reader.position(), b, 0, 0);
    if (decode_dc(reader, a.tables->dc[component.dc_table], cursor.end_bit).fault != Errc::ok)
      return;
    int pairs = 1;
    for (int k = 1; k < kBlockSize; ++pairs) {
      recorder.codeword_starts(reader.position(), b, k, pairs);
      const DecodedPair next =
          decode_ac(reader, a.tables->ac[component.ac_table], cursor.end_bit, k);
      if (next.fault != Errc::ok) return;
      if (next.end_of_block) break;
    }
  }
}

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

Status huffman_sync_cpu(const HuffmanSyncArgs& a, Exec&) {
  for (std::int64_t c = 0; c < a.cursor_count; ++c) {
    SyncRecorder recorder(a.sync + a.cursor_first_sync[c],
                          a.cursor_first_sync[c + 1] - a.cursor_first_sync[c], a.cursors[c].bit,
                          a.subsequence_bits);
    walk(a, a.cursors[c], recorder);
    recorder.finish();
  }
  return Status::ok();
}

Status huffman_decode_cpu(const HuffmanDecodeArgs& a, Exec&) {
  for (std::int64_t c = 0; c < a.cursor_count; ++c) decode_cursor(a, a.cursors[c]);
  return Status::ok();
}

Status zero_run_expand_cpu(const ZeroRunExpandArgs& a, Exec&) {
  for (std::int64_t b = 0; b < a.blocks; ++b) {
    const RunLevel* pairs = a.pairs + b * kBlockSize;
    std::int16_t* block = a.coefficients + b * kBlockSize;
    std::memset(block, 0, kBlockSize * sizeof *block);
    a.diff[b] = pairs[0].level;
    unsigned k = 1;
    for (int i = 1; i < a.pair_count[b]; ++i) {
      k += pairs[i].run;
      block[kNaturalOfZigzag[k++]] = pairs[i].level;
    }
  }
  return Status::ok();
}

Status dc_predict_cpu(const DcPredictArgs& a, Exec&) {
  const std::int64_t interval = a.layout.interval_mcus();
  const std::int16_t* diff = a.diff;
  std::int16_t* block = a.coefficients;
  std::int64_t in_interval = a.first_mcu % interval;
  for (std::int64_t m = 0; m < a.mcu_count; ++m) {
    if (in_interval == 0) std::fill_n(a.carry, a.layout.components, std::int16_t{0});
    if (++in_interval == interval) in_interval = 0;
    for (int i = 0; i < a.layout.blocks_per_mcu; ++i, block += kBlockSize) {
      std::int16_t& dc = a.carry[a.layout.block_component[i]];
      dc = static_cast<std::int16_t>(dc + *diff++);
      block[0] = dc;
    }
  }
  return Status::ok();
}

}  // namespace zerorun
