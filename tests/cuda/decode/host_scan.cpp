// Whole scans on the host.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/host_scan.hpp"

#include <algorithm>

#include "codec/base/marker.hpp"
#include "codec/decode/byte_unstuff.hpp"
#include "codec/decode/zero_run_expand.hpp"

namespace zerorun::test {
namespace {

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

bool ones_to_end(const CleanScan& scan, const BitCursor& cursor) {
  for (std::uint64_t bit = cursor.bit; bit < cursor.end_bit; ++bit)
    if ((scan.bytes[bit / 8] >> (7 - bit % 8) & 1) == 0) return false;
  return true;
}

CleanScan clean_scan(std::span<const std::byte> jpeg, const ScanHeader& header,
                     std::uint64_t& consumed) {
  CleanScan scan;
  scan.header = header;
  const auto data = jpeg.subspan(scan.header.data_offset);
  scan.bytes.resize(data.size() + 16);
  std::vector<EntropySegment> segments(data.size() / 2 + 2);
  std::uint64_t count = 0;
  Exec exec;
  (void)byte_unstuff_cpu({reinterpret_cast<const std::uint8_t*>(data.data()), data.size(),
                          scan.bytes.data(), segments.data(), &count, &consumed},
                         exec);
  for (std::uint64_t i = 0; i <= count; ++i)
    scan.interval_first.push_back(static_cast<std::uint32_t>(segments[i].first_byte));
  scan.bytes.resize(scan.interval_first.back());
  scan.restarts_fit = static_cast<std::int64_t>(count) == scan.header.layout.intervals();
  for (std::uint64_t i = 0; i + 1 < count; ++i)
    scan.restarts_fit = scan.restarts_fit && segments[i].marker == marker::kRst0 + i % 8;
  return scan;
}

/// Levels from pairs in order and from the number of each block's first pair. Returns what is wrong
/// with these, or null.
const char* expand_pairs(std::size_t blocks, std::span<const HostPair> pairs,
                         std::vector<std::uint32_t> first_pair, ScanLevels& levels) {
  levels.coefficients.resize(blocks * kBlockSize);
  levels.diff.resize(blocks);
  first_pair.push_back(static_cast<std::uint32_t>(pairs.size()));
  if (first_pair.size() != blocks + 1) return "not every block has its DC";
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t i = first_pair[block]; i < first_pair[block + 1]; ++i) {
      const std::uint32_t k = pairs[i].index;
      const auto level = static_cast<std::int16_t>(pairs[i].level);
      if ((k == 0) != (i == first_pair[block])) return "a block does not begin with DC";
      if (k == 0)
        levels.diff[block] = level;
      else
        levels.coefficients[block * kBlockSize + size_of(kNaturalOfZigzag[k])] = level;
    }
  return nullptr;
}

/// The decoder of one scan, interval after interval.
class HostDecoder {
 public:
  HostDecoder(const CleanScan& scan, const HostTables& tables, std::span<const std::uint32_t> words)
      : scan_(scan), tables_(tables), words_(words) {}

  FastScan decode_all() {
    const ScanLayout& layout = scan_.header.layout;
    const auto interval_blocks = layout.interval_mcus() * layout.blocks_per_mcu;
    for (std::int64_t i = 0; i < layout.intervals() && out_.faults == 0; ++i) {
      decode_interval(size_of(i));
      if (block_ != std::min((i + 1) * interval_blocks, layout.blocks()))
        out_.faults |= kFaultCount;
    }
    if (out_.faults != 0 || out_.broken != nullptr) return std::move(out_);
    out_.broken =
        expand_pairs(size_of(layout.blocks()), pairs_, std::move(first_pair_), out_.levels);
    if (pairs_.size() > most_pairs(std::uint64_t{scan_.interval_first.back()} * 8))
      out_.broken = "more pairs than there can be";
    return std::move(out_);
  }

 private:
  void decode_interval(std::size_t interval) {
    const std::uint32_t begin = scan_.interval_first[interval] * 8;
    const std::uint32_t end = scan_.interval_first[interval + 1] * 8;
    Walk walk{begin, 0, 0};
    for (std::uint32_t sub = begin; sub < end && out_.broken == nullptr; sub += kSubsequenceBits)
      decode_at(sub, end, walk);
    if (walk.k != 0 || walk.bit + 8 <= end) out_.faults |= kFaultCount;
  }

  void decode_at(std::uint32_t sub, std::uint32_t end, Walk& walk) {
    const WalkSpan span{std::min(sub + kSubsequenceBits, end), end};
    Walk skipped = walk;
    const WalkTally tally = test::skip(words_, tables_, span, skipped);
    const bool last = sub + kSubsequenceBits >= end;
    const StoredPairs stored =
        test::decode(words_, tables_, {last ? end : skipped.bit, end},
                     {block_, static_cast<std::uint32_t>(pairs_.size())}, walk);
    out_.faults |= stored.faults;
    // If the data end within a block, decoding may stop a few symbols earlier.
    const bool cut = last && skipped.bit > end && (stored.faults != 0 || walk.k != 0);
    if (walk != skipped && !cut) out_.broken = "a subsequence does not end as it was skipped";
    if (stored.pairs.size() > tally.pairs || (stored.pairs.size() < tally.pairs && !cut))
      out_.broken = "pairs were miscounted";
    if (stored.end.block != block_ + tally.blocks && !cut) out_.broken = "blocks were miscounted";
    if (!stored.in_order) out_.broken = "pairs are not stored one after the other";
    pairs_.insert(pairs_.end(), stored.pairs.begin(), stored.pairs.end());
    for (const auto& started : stored.blocks) {
      if (started.number > block_ + tally.blocks) out_.broken = "blocks were miscounted";
      if (first_pair_.size() <= started.number) first_pair_.resize(started.number + 1);
      first_pair_[started.number] = started.first_pair;
    }
    block_ += tally.blocks;
  }

  const CleanScan& scan_;
  const HostTables& tables_;
  const std::span<const std::uint32_t> words_;
  std::uint32_t block_ = 0;
  std::vector<HostPair> pairs_;
  std::vector<std::uint32_t> first_pair_;
  FastScan out_;
};

}  // namespace

std::vector<CleanScan> read_scans(std::span<const std::byte> jpeg, std::int64_t max_pixels,
                                  std::size_t most) {
  std::vector<CleanScan> scans;
  StreamLimits limits;
  limits.max_pixels = max_pixels;
  HeaderParser parser(jpeg, limits);
  if (!parser.start()) return scans;
  while (scans.size() < most) {
    const auto more = parser.next_scan();
    const FrameHeader* const frame = more && *more ? &parser.frame() : nullptr;
    if (frame == nullptr || frame->progressive || frame->components.size() > kMaxComponents)
      break;  // no kernel decodes it
    std::uint64_t consumed = 0;
    scans.push_back(clean_scan(jpeg, parser.scan(), consumed));
    parser.resume_at(parser.scan().data_offset + consumed);
  }
  return scans;
}

std::optional<CleanScan> encoded_scan(const ConstFrameView& frame, EncodeParams params) {
  params.backend = Backend::cpu;
  auto encoder = Encoder::create(params);
  std::vector<std::byte> jpeg;
  if (!encoder || !encoder->encode(frame, jpeg)) return std::nullopt;
  auto scans = read_scans(jpeg, std::int64_t{1} << 24, 1);
  if (scans.empty()) return std::nullopt;
  return std::move(scans.front());
}

HuffmanDecodeTables stage_tables(const ScanHeader& header) {
  HuffmanDecodeTables out{};
  for (std::size_t t = 0; t < 4; ++t) {
    if (header.dc[t]) fill_decode_table(*header.dc[t], out.dc[t]);
    if (header.ac[t]) fill_decode_table(*header.ac[t], out.ac[t]);
  }
  return out;
}

std::vector<BitCursor> cursors_of(const CleanScan& scan) {
  const ScanLayout& layout = scan.header.layout;
  std::vector<BitCursor> cursors(size_of(layout.intervals()));
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    const std::int64_t first_mcu = static_cast<std::int64_t>(i) * layout.interval_mcus();
    cursors[i].bit = std::uint64_t{scan.interval_first[i]} * 8;
    cursors[i].end_bit = std::uint64_t{scan.interval_first[i + 1]} * 8;
    cursors[i].first_block = first_mcu * layout.blocks_per_mcu;
    cursors[i].blocks =
        std::min(layout.interval_mcus(), layout.mcus() - first_mcu) * layout.blocks_per_mcu;
  }
  return cursors;
}

std::vector<TablePair> tables_of(const ScanHeader& header, const PairCycle& cycle) {
  std::vector<TablePair> out;
  for (std::int32_t p = 0; p < cycle.pairs; ++p)
    out.push_back({*header.dc[cycle.dc_table[p]], *header.ac[cycle.ac_table[p]]});
  return out;
}

StageScan decode_by_stages(const CleanScan& scan) {
  StageScan out;
  out.fault = !scan.restarts_fit;
  if (out.fault) return out;
  const ScanLayout& layout = scan.header.layout;
  const HuffmanDecodeTables tables = stage_tables(scan.header);
  auto& [cursors, pairs, counts] = out.blocks;
  cursors = cursors_of(scan);
  pairs.resize(size_of(layout.blocks() * kBlockSize));
  counts.resize(size_of(layout.blocks()));
  Exec exec;
  (void)huffman_decode_cpu(
      {layout, scan.bytes.data(), scan.bytes.size(), &tables, cursors.data(),
       static_cast<std::int64_t>(cursors.size()), nullptr, 0, nullptr, pairs.data(), counts.data()},
      exec);
  for (const BitCursor& cursor : cursors) {
    out.fault = out.fault || cursor.fault != Errc::ok || cursor.end_bit - cursor.bit >= 8;
    out.padded_with_ones = out.padded_with_ones && ones_to_end(scan, cursor);
  }
  if (out.fault) return out;
  out.levels.coefficients.resize(pairs.size());
  out.levels.diff.resize(counts.size());
  (void)zero_run_expand_cpu({layout.blocks(), pairs.data(), counts.data(),
                             out.levels.coefficients.data(), out.levels.diff.data()},
                            exec);
  return out;
}

FastScan decode_fast(const CleanScan& scan, const HostTables& tables,
                     std::span<const std::uint32_t> words) {
  if (scan.restarts_fit) return HostDecoder(scan, tables, words).decode_all();
  FastScan refused;
  refused.faults = kFaultRestarts;
  return refused;
}

const char* contradiction(const StageScan& stages, const FastScan& fast) {
  if (fast.broken != nullptr) return fast.broken;
  const bool fault = fast.faults != 0;
  // The kernels recognise padding by its ones; a scan with other padding goes to the CPU.
  if (stages.fault && !fault) return "a fault that the stages find was not found";
  if (!stages.fault && stages.padded_with_ones && fault) return "a sound scan has a fault";
  return !stages.fault && !fault && stages.levels != fast.levels ? "other levels" : nullptr;
}

std::vector<Subsequence> subsequences_of(const CleanScan& scan, const HostTables& tables,
                                         std::span<const std::uint32_t> words) {
  const auto intervals = static_cast<std::uint32_t>(scan.interval_first.size() - 1);
  std::vector<Subsequence> out(first_subsequence_of(intervals, scan.interval_first.back()));
  for (std::uint32_t i = 0; i < intervals; ++i) {
    const std::uint32_t begin = scan.interval_first[i] * 8, end = scan.interval_first[i + 1] * 8;
    std::size_t number = first_subsequence_of(i, scan.interval_first[i]);
    Walk walk{begin, 0, 0};
    for (std::uint32_t start = begin; start < end; start += kSubsequenceBits) {
      Subsequence& own = out.at(number++);
      own = {start, end, start == begin, start + kSubsequenceBits < end, walk, {}};
      own.tally = test::skip(words, tables, {std::min(start + kSubsequenceBits, end), end}, walk);
    }
  }
  return out;
}

}  // namespace zerorun::test
