// CPU reference of subsequence synchronisation. CUDA twin: cuda/stages/huffman_sync.cu.
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_sync.hpp"

#include "codec/decode/block_decoder.hpp"
#include "codec/decode/huffman_decode.hpp"

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

}  // namespace zerorun
