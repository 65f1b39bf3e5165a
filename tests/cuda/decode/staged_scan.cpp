// Whole scans by the staged decoder's algorithm, on the host.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/staged_scan.hpp"

#include <algorithm>

#include "cuda/stages/stretch.cuh"
#include "cuda/stages/subsequence.cuh"

namespace zerorun::test {
namespace {

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

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
StretchEnd decode_cursor(const HuffmanDecodeArgs& a, const BitCursor& cursor, std::int64_t first,
                         std::int64_t last) {
  StretchEnd end{0, cursor.bit, Errc::ok};
  if (first == last || a.sync[first].reached == 0) {
    (void)decode_stretch(a, *a.tables, cursor, {{cursor.bit, 0, 0, 0, 1}, 0, true}, end);
    return end;
  }
  for (std::int64_t sub = first; sub < last && a.sync[sub].reached != 0; ++sub) {
    Stretch stretch{a.sync[sub], 0, true};
    if (sub + 1 < last && a.sync[sub + 1].reached != 0) {
      stretch.stop_bit = a.sync[sub + 1].bit;
      stretch.last = false;
    }
    if (!decode_stretch(a, *a.tables, cursor, stretch, end)) continue;
    if (end.bit == kElsewhere) end.bit = open_block_start(a, *a.tables, sub, first, cursor.end_bit);
  }
  return end;
}

bool same_cursors(const std::vector<BitCursor>& a, const std::vector<BitCursor>& b) {
  return std::ranges::equal(a, b, [](const BitCursor& x, const BitCursor& y) {
    return x.bit == y.bit && x.good_blocks == y.good_blocks && x.fault == y.fault;
  });
}

bool same_pairs(const CodedBlocks& a, const CodedBlocks& b) {
  if (a.counts != b.counts) return false;
  for (std::size_t block = 0; block < a.counts.size(); ++block)
    if (!std::equal(&a.pairs[block * kBlockSize], &a.pairs[block * kBlockSize] + a.counts[block],
                    &b.pairs[block * kBlockSize]))
      return false;
  return true;
}

}  // namespace

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

SyncPoints sync_by_stage(const CleanScan& scan, std::int32_t subsequence_bits) {
  const std::vector<BitCursor> cursors = cursors_of(scan);
  const HuffmanDecodeTables tables = stage_tables(scan.header);
  SyncPoints out = without_points(cursors, subsequence_bits);
  Exec exec;
  (void)huffman_sync_cpu(
      {scan.header.layout, scan.bytes.data(), scan.bytes.size(), &tables, cursors.data(),
       static_cast<std::int64_t>(cursors.size()), subsequence_bits, out.cursor_first.data(),
       static_cast<std::int64_t>(out.points.size()), out.points.data()},
      exec);
  return out;
}

CodedBlocks decode_stretches(const CleanScan& scan, const SyncPoints& sync) {
  const HuffmanDecodeTables tables = stage_tables(scan.header);
  CodedBlocks out;
  out.cursors = cursors_of(scan);
  out.pairs.resize(size_of(scan.header.layout.blocks() * kBlockSize));
  out.counts.resize(size_of(scan.header.layout.blocks()));
  const HuffmanDecodeArgs args = args_of(scan, tables, sync, out);
  for (std::size_t c = 0; c < out.cursors.size(); ++c) {
    BitCursor& cursor = out.cursors[c];
    const StretchEnd end =
        decode_cursor(args, cursor, sync.cursor_first[c], sync.cursor_first[c + 1]);
    cursor.bit = end.bit;
    cursor.good_blocks = end.block;
    cursor.fault = end.fault;
    for (std::int64_t b = end.block; b < cursor.blocks; ++b) {
      out.pairs[size_of((cursor.first_block + b) * kBlockSize)] = {};
      out.counts[size_of(cursor.first_block + b)] = 1;
    }
  }
  return out;
}

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
