// Groups of MCUs, decoded on the host.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/host_groups.hpp"

#include <algorithm>

namespace zerorun::test {
namespace {

struct GroupTables : HostTables {
  std::uint32_t look_up(std::uint32_t table, std::uint32_t index) const {
    return tables->symbol[side(table)][pair(table)][index];
  }
  CodeTables tables_of(std::uint32_t i) const {
    const std::uint32_t dc = block(i % period()).dc;
    return {dc, ac_of(dc)};
  }
};

/// Throws where more is read than words_to_read() says.
struct GroupBits {
  std::span<const std::uint32_t> all;

  WordPair words(std::uint32_t bit) const { return {word(bit / 32), word(bit / 32 + 1)}; }
  WordPair words_behind(std::uint32_t bit) const {
    return {word(bit / 32 + 1), word(bit / 32 + 2)};
  }

 private:
  std::uint32_t word(std::uint32_t number) const {
    if (number >= all.size()) throw std::out_of_range("read behind the group");
    return all[number];
  }
};

struct GroupSink {
  StoredGroup* out;
  std::uint32_t next;

  void block_starts(std::uint32_t block, std::uint32_t pair) const {
    out->in_order = out->in_order && block == out->first_pair.size() && pair == next;
    out->first_pair.push_back(pair);
  }
  void block_starts_if(bool condition, std::uint32_t block, std::uint32_t pair) const {
    if (condition) block_starts(block, pair);
  }
  void put_if(bool condition, std::uint32_t pair, std::uint32_t word) {
    if (!condition) return;
    out->in_order = out->in_order && pair == next++;
    out->pairs.push_back(word);
  }
  void finish(std::uint32_t pair) const { out->in_order = out->in_order && pair == next; }
};

}  // namespace

StoredGroup decode_stored(std::span<const std::uint32_t> words, const HostTables& tables,
                          const GroupSpan& span, std::uint32_t pair) {
  StoredGroup out;
  const GroupBits bits{words.first(std::min<std::size_t>(words.size(), words_to_read(span.stop)))};
  out.end = decode_group(bits, GroupTables{tables}, span, pair, GroupSink{&out, pair});
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
