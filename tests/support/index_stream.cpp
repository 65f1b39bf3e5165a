// Makes streams with an index of their scan.
// SPDX-License-Identifier: MIT
#include "tests/support/index_stream.hpp"

#include <algorithm>

#include "codec/decode/byte_unstuff.hpp"
#include "codec/decode/huffman_decode.hpp"
#include "codec/syntax/header_parser.hpp"
#include "tests/support/jpeg_segments.hpp"

namespace zerorun::test {
namespace {

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

std::optional<ScanHeader> only_scan(std::span<const std::byte> jpeg) {
  HeaderParser parser(jpeg, {});
  if (!parser.start()) return std::nullopt;
  const auto more = parser.next_scan();
  if (!more || !*more || parser.scan().components.size() != parser.frame().components.size())
    return std::nullopt;
  return parser.scan();
}

HuffmanDecodeTables tables_of(const ScanHeader& scan) {
  HuffmanDecodeTables out{};
  for (std::size_t t = 0; t < 4; ++t) {
    if (scan.dc[t]) fill_decode_table(*scan.dc[t], out.dc[t]);
    if (scan.ac[t]) fill_decode_table(*scan.ac[t], out.ac[t]);
  }
  return out;
}

/// Decodes the groups of the scan one after another.
class Groups {
 public:
  Groups(const ScanHeader& scan, std::span<const std::byte> data)
      : scan_(scan),
        tables_(tables_of(scan)),
        bytes_(data.size() + 16),
        segments_(data.size() / 2 + 2) {
    std::uint64_t consumed = 0;
    (void)byte_unstuff_cpu({reinterpret_cast<const std::uint8_t*>(data.data()), data.size(),
                            bytes_.data(), segments_.data(), &count_, &consumed},
                           exec_);
  }

  std::optional<std::vector<IndexEntry>> entries(int group_mcus) {
    const ScanLayout& layout = scan_.layout;
    if (static_cast<std::int64_t>(count_) != layout.intervals()) return std::nullopt;
    for (std::int64_t i = 0; i < layout.intervals(); ++i) {
      std::int64_t left =
          std::min(layout.interval_mcus(), layout.mcus() - i * layout.interval_mcus());
      BitCursor cursor{};
      cursor.bit = segments_[size_of(i)].first_byte * 8;
      cursor.end_bit = segments_[size_of(i) + 1].first_byte * 8;
      for (; left > 0; left -= group_mcus) {
        cursor.blocks = std::min<std::int64_t>(group_mcus, left) * layout.blocks_per_mcu;
        if (!decode(cursor)) return std::nullopt;
      }
      if (cursor.bit + 8 <= cursor.end_bit) return std::nullopt;
    }
    return std::move(entries_);
  }

 private:
  bool decode(BitCursor& cursor) {
    RunLevel pairs[kMaxIndexGroupBlocks * kBlockSize];
    std::uint8_t counts[kMaxIndexGroupBlocks];
    const std::uint64_t before = cursor.bit;
    if (!huffman_decode_cpu({scan_.layout, bytes_.data(), bytes_.size(), &tables_, &cursor, 1,
                             nullptr, 0, nullptr, pairs, counts},
                            exec_) ||
        cursor.fault != Errc::ok)
      return false;
    std::int64_t sum = cursor.blocks;
    for (std::int64_t b = 0; b < cursor.blocks; ++b)
      sum += std::count_if(pairs + b * kBlockSize + 1, pairs + b * kBlockSize + counts[b],
                           [](const RunLevel& pair) { return pair.level != 0; });
    entries_.push_back(
        {static_cast<std::uint16_t>(cursor.bit - before), static_cast<std::uint16_t>(sum)});
    return true;
  }

  const ScanHeader& scan_;
  const HuffmanDecodeTables tables_;
  Exec exec_;
  std::vector<std::uint8_t> bytes_;
  std::vector<EntropySegment> segments_;
  std::uint64_t count_ = 0;
  std::vector<IndexEntry> entries_;
};

}  // namespace

void IndexedStream::set(std::span<const IndexEntry> others) {
  fill_index(place, others, {reinterpret_cast<std::uint8_t*>(jpeg.data()), jpeg.size()});
}

std::optional<IndexedStream> with_index(std::span<const std::byte> jpeg, int group_mcus) {
  const auto scan = only_scan(jpeg);
  if (!scan || group_mcus * scan->layout.blocks_per_mcu > kMaxIndexGroupBlocks) return std::nullopt;
  auto entries = Groups(*scan, jpeg.subspan(scan->data_offset)).entries(group_mcus);
  if (!entries) return std::nullopt;
  std::vector<std::uint8_t> segments;
  (void)append_index_segments(group_mcus, static_cast<std::uint32_t>(entries->size()), segments);
  IndexedStream out;
  out.jpeg = with_inserted(jpeg, 2, segments);
  const auto with = only_scan(out.jpeg);
  if (!with || !with->index) return std::nullopt;
  out.place = *with->index;
  out.entries = std::move(*entries);
  out.set(out.entries);
  return out;
}

}  // namespace zerorun::test
