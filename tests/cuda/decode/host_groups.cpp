// Groups of MCUs, decoded on the host.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/host_groups.hpp"

#include <algorithm>

#include "codec/decode/bit_reader.hpp"
#include "codec/decode/block_decoder.hpp"

namespace zerorun::test {
namespace {

struct GroupTables : HostTables {
  std::uint32_t look_up(std::uint32_t table, std::uint32_t index) const {
    return symbol_of(table, index);
  }
  std::uint32_t last(std::uint32_t table, std::uint32_t next16) const {
    return last_symbol(table, next16);
  }
  std::uint32_t dc_of(std::uint32_t ac) const { return ac - pairs(); }
  void pass_block_if(bool condition, BlockTables& next) const {
    if (condition) next = block(next.next);
  }
};

struct GroupSink {
  StoredGroup* out;
  std::uint32_t first, steps = 0;

  std::uint32_t number() const { return first + static_cast<std::uint32_t>(out->pairs.size()); }
  void block_starts_if(bool condition, std::uint32_t block) const {
    if (!condition) return;
    out->in_order = out->in_order && block == out->first_pair.size();
    out->first_pair.push_back(number());
  }
  void put(const WalkPair& one, const WalkPair& two) {
    out->in_order = out->in_order && !(one.exists && is_wide(one.level)) && ++steps <= kStagedSteps;
    store_pairs(out->pairs, one, two);
  }
  void put_wide(const WalkPair& pair) {
    out->in_order = out->in_order && pair.exists && is_wide(pair.level) && steps == 0;
    store_pairs(out->pairs, pair, {});
  }
  void flush() { steps = 0; }
  void finish() const {}
};

/// Bits and pairs of the next block.
struct BlockSize {
  std::uint32_t bits, pairs;
};
BlockSize measure_block(BitReader& reader, const HuffmanDecodeTable& dc,
                        const HuffmanDecodeTable& ac, std::uint64_t end_bit) {
  const std::uint64_t begin = reader.position();
  std::uint32_t pairs = 1;
  (void)decode_dc(reader, dc, end_bit);
  for (int k = 1; k < kBlockSize;) {
    const DecodedPair next = decode_ac(reader, ac, end_bit, k);
    if (next.end_of_block || next.fault != Errc::ok) break;
    // A run of 16 zeros is no pair.
    if (next.pair.level != 0) ++pairs;
  }
  return {static_cast<std::uint32_t>(reader.position() - begin), pairs};
}

/// The groups' pairs one after the other, as in the kernel's memory.
struct AllPairs {
  std::vector<HostPair> pairs;
  std::vector<std::uint32_t> first_pair;

  /// Returns whether the group stands behind those before it.
  bool add(const StoredGroup& group, const Group& place) {
    if (place.first.pair != pairs.size() || place.first.block != first_pair.size()) return false;
    pairs.insert(pairs.end(), group.pairs.begin(), group.pairs.end());
    // The last one is the next group's first.
    first_pair.insert(first_pair.end(), group.first_pair.begin(), group.first_pair.end() - 1);
    return true;
  }
};

}  // namespace

StoredGroup decode_stored(std::span<const std::uint32_t> words, const HostTables& tables,
                          const GroupSpan& span, std::uint32_t pair) {
  StoredGroup out;
  const HostBits bits{words.first(std::min<std::size_t>(words.size(), words_to_read(span.stop))),
                      std::uint64_t{span.stop} + 1};
  GroupSink sink{&out, pair};
  out.end = decode_group(bits, GroupTables{tables}, span, sink);
  return out;
}

const char* broken_promise(const StoredGroup& group, const GroupSpan& span) {
  if (!group.in_order) return "pairs of a group are not stored as their sink wants them";
  if (group.end.blocks >= span.blocks + kStagedSteps) return "a group goes on behind its blocks";
  if (group.pairs.size() > kMostGroupPairs) return "a group has more pairs than there can be";
  if (group.end.bit >= std::max(span.stop, span.bit + 1) + kMostStepBits)
    return "a group goes on behind its end";
  if (group.end.blocks < span.blocks && group.end.bit < span.stop && !group.end.fault)
    return "a group ends early";
  return nullptr;
}

HostIndex true_index(const CleanScan& scan, int group_mcus) {
  const ScanLayout& layout = scan.header.layout;
  const HuffmanDecodeTables tables = stage_tables(scan.header);
  HostIndex index{group_mcus, {0}};
  for (const BitCursor& cursor : cursors_of(scan)) {
    BitReader reader(scan.bytes.data(), scan.bytes.size(), cursor.bit);
    std::uint32_t bits = 0, pairs = 0;
    for (std::int64_t block = 1; block <= cursor.blocks; ++block) {
      const auto& component =
          layout.component[layout.block_component[(block - 1) % layout.blocks_per_mcu]];
      const BlockSize own = measure_block(reader, tables.dc[component.dc_table],
                                          tables.ac[component.ac_table], cursor.end_bit);
      bits += own.bits;
      pairs += own.pairs;
      if (block % (group_mcus * layout.blocks_per_mcu) != 0 && block != cursor.blocks) continue;
      index.add(pack_sum(bits, pairs));
      bits = pairs = 0;
    }
  }
  return index;
}

GroupScan decode_by_index(const CleanScan& scan, const HostTables& tables,
                          std::span<const std::uint32_t> words, const HostIndex& index) {
  const GroupGrid grid = make_group_grid(scan.header.layout, index.group_mcus);
  const auto capacity =
      static_cast<std::uint32_t>(most_pairs(std::uint64_t{scan.interval_first.back()} * 8));
  GroupScan out;
  AllPairs all;
  for (std::uint32_t number = 0; number < grid.groups && out.broken == nullptr; ++number) {
    Group group{};
    if (!place_group(grid, index.sums.data(), scan.interval_first.data(), capacity, number,
                     group)) {
      out.as_said = false;
      continue;
    }
    const std::uint32_t first_word = group.bit / 32 / 4 * 4, origin = first_word * 32;
    const std::uint32_t blocks = group.behind.block - group.first.block;
    const GroupSpan span{group.bit - origin, group.stop - origin, blocks};
    const StoredGroup stored =
        decode_stored(words.subspan(first_word), tables, span, group.first.pair);
    out.broken = broken_promise(stored, span);
    const GroupEnd& end = stored.end;
    out.as_said = out.as_said && !end.fault && end.blocks == blocks &&
                  end.pair == group.behind.pair && ends_well(group, origin + end.bit, end.window);
    if (out.as_said && out.broken == nullptr && !all.add(stored, group))
      out.broken = "a group does not stand behind those before it";
  }
  if (out.as_said && out.broken == nullptr)
    out.broken = expand_pairs(grid.blocks, all.pairs, std::move(all.first_pair), out.levels);
  return out;
}

StoredPairs decode_blocks(std::span<const std::uint32_t> words, const HostTables& tables,
                          std::uint32_t blocks, PairTarget target, Walk& walk) {
  StoredPairs all;
  all.end = target;
  // The interval's end is far away, so that no padding is found.
  const auto end = static_cast<std::uint32_t>(words.size() - 2) * 32;
  while (all.end.block < target.block + blocks && all.faults == 0) {
    const StoredPairs one = decode(words, tables, {walk.bit + 1, end}, all.end, walk);
    all.pairs.insert(all.pairs.end(), one.pairs.begin(), one.pairs.end());
    all.blocks.insert(all.blocks.end(), one.blocks.begin(), one.blocks.end());
    all.end = one.end;
    all.faults |= one.faults;
  }
  return all;
}

}  // namespace zerorun::test
