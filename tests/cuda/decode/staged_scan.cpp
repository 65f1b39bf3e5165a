// Whole scans by the staged decoder's algorithm, on the host: what its kernels do in one thread.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "codec/decode/huffman_sync.hpp"
#include "cuda/stages/huffman_decode.cuh"
#include "cuda/stages/huffman_sync.cuh"
#include "tests/cuda/decode/host_scan.hpp"

namespace zerorun::test {
namespace {

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

/// The starts of all cursors' subsequences.
struct SyncPoints {
  std::vector<std::int64_t> cursor_first;  ///< [cursors + 1]
  std::vector<SyncPoint> points;
};

SyncPoints without_points(const std::vector<BitCursor>& cursors, std::int32_t subsequence_bits) {
  SyncPoints out{{0}, {}};
  for (const BitCursor& cursor : cursors)
    out.cursor_first.push_back(
        out.cursor_first.back() +
        static_cast<std::int64_t>(
            ceil_div(cursor.end_bit - cursor.bit, static_cast<std::uint64_t>(subsequence_bits))));
  out.points.resize(size_of(out.cursor_first.back()));
  return out;
}

HuffmanDecodeArgs args_of(const CleanScan& scan, const HuffmanDecodeTables& tables,
                          const SyncPoints& sync, CodedBlocks& out) {
  return {scan.header.layout,       scan.bytes.data(),
          scan.bytes.size(),        &tables,
          out.cursors.data(),       static_cast<std::int64_t>(out.cursors.size()),
          sync.points.data(),       static_cast<std::int64_t>(sync.points.size()),
          sync.cursor_first.data(), out.pairs.data(),
          out.counts.data()};
}

/// The stretches of a cursor, whose points are those from `first` to `last` - 1.
void decode_cursor(const HuffmanDecodeArgs& a, BitCursor& cursor, std::int64_t first,
                   std::int64_t last) {
  if (first == last || a.sync[first].reached == 0)
    return decode_stretch(a, cursor, whole_cursor(cursor));
  for (std::int64_t sub = first; sub < last && a.sync[sub].reached != 0; ++sub)
    decode_stretch(a, cursor, stretch_from(a.sync, sub, last));
}

bool same_cursors(const std::vector<BitCursor>& a, const std::vector<BitCursor>& b) {
  return std::ranges::equal(a, b, [](const BitCursor& x, const BitCursor& y) {
    return x.good_blocks == y.good_blocks && x.fault == y.fault &&
           (x.fault != Errc::ok || x.bit == y.bit);
  });
}

/// Of the blocks without a fault.
bool same_pairs(const CodedBlocks& a, const CodedBlocks& b) {
  for (const BitCursor& cursor : a.cursors)
    for (std::int64_t i = cursor.first_block; i < cursor.first_block + cursor.good_blocks; ++i) {
      const std::size_t block = size_of(i), count = a.counts[block];
      if (count != b.counts[block] ||
          !std::equal(&a.pairs[block * kBlockSize], &a.pairs[block * kBlockSize] + count,
                      &b.pairs[block * kBlockSize]))
        return false;
    }
  return true;
}

/// As run_subsequence() does in huffman_sync.cu.
SyncPoints sync_by_walks(const CleanScan& scan, std::int32_t subsequence_bits) {
  const std::vector<BitCursor> cursors = cursors_of(scan);
  const HuffmanDecodeTables tables = stage_tables(scan.header);
  const PairCycle cycle = make_pair_cycle(scan.header.layout);
  SyncPoints out = without_points(cursors, subsequence_bits);
  for (std::size_t c = 0; c < cursors.size(); ++c) {
    const BitCursor& cursor = cursors[c];
    ChainState state{cursor.bit, 0, 0};
    ChainSums through{};
    std::uint64_t boundary = cursor.bit;
    for (std::int64_t sub = out.cursor_first[c]; sub < out.cursor_first[c + 1]; ++sub) {
      const auto block = static_cast<std::int64_t>(blocks_of(through));
      if ((through.packed & kChainFault) == 0 && block < cursor.blocks && state.bit >= boundary)
        out.points[size_of(sub)] = {state.bit, block, static_cast<std::uint8_t>(state.k),
                                    pairs_of(through), 1};
      boundary += static_cast<std::uint64_t>(subsequence_bits);
      ChainSums own;
      state = unpack_state(pack(run_subsequence(scan.bytes.data(), scan.bytes.size(), tables, cycle,
                                                state, boundary, cursor.end_bit, own)));
      if (sub == out.cursor_first[c]) own.packed |= kChainHead;
      through = JoinSums{}(through, own);
    }
  }
  return out;
}

/// By the CPU's stage.
SyncPoints sync_by_stage(const CleanScan& scan, std::int32_t subsequence_bits) {
  const std::vector<BitCursor> cursors = cursors_of(scan);
  const HuffmanDecodeTables tables = stage_tables(scan.header);
  SyncPoints out = without_points(cursors, subsequence_bits);
  std::ranges::fill(out.points, SyncPoint{7, 7, 7, 7, 1});  // it writes all
  Exec exec;
  (void)huffman_sync_cpu(
      {scan.header.layout, scan.bytes.data(), scan.bytes.size(), &tables, cursors.data(),
       static_cast<std::int64_t>(cursors.size()), subsequence_bits, out.cursor_first.data(),
       static_cast<std::int64_t>(out.points.size()), out.points.data()},
      exec);
  return out;
}

/// By decode_stretch() as in huffman_decode.cu, a stretch from each point.
CodedBlocks decode_stretches(const CleanScan& scan, const SyncPoints& sync) {
  const HuffmanDecodeTables tables = stage_tables(scan.header);
  CodedBlocks out;
  out.cursors = cursors_of(scan);
  out.pairs.resize(size_of(scan.header.layout.blocks() * kBlockSize));
  out.counts.resize(size_of(scan.header.layout.blocks()));
  const HuffmanDecodeArgs args = args_of(scan, tables, sync, out);
  for (std::size_t c = 0; c < out.cursors.size(); ++c)
    decode_cursor(args, out.cursors[c], sync.cursor_first[c], sync.cursor_first[c + 1]);
  return out;
}

}  // namespace

const char* staged_contradiction(const CleanScan& scan, const StageScan& stages,
                                 std::int32_t subsequence_bits) {
  if (!scan.restarts_fit) return nullptr;
  const SyncPoints sync = sync_by_walks(scan, subsequence_bits);
  if (sync.points != sync_by_stage(scan, subsequence_bits).points) return "other sync points";
  const CodedBlocks blocks = decode_stretches(scan, sync);
  if (!same_cursors(blocks.cursors, stages.blocks.cursors)) return "cursors end elsewhere";
  return same_pairs(blocks, stages.blocks) ? nullptr : "other pairs";
}

}  // namespace zerorun::test
