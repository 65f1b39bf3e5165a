// The states that huffman_sync finds: decoding that begins at any of them gives the blocks that
// decoding from the start gives. The CUDA twin is compared with this function in tests/cuda/stages.
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_sync.hpp"

#include <gtest/gtest.h>

#include "tests/cuda/stages/coded_bits.hpp"

namespace zerorun::test {
namespace {

constexpr int kBits = 64;

std::vector<SyncPoint> sync_points(const CodedBits& coded, int extra_rows = 0) {
  const auto tables = decode_tables();
  auto first = coded.first_sync(kBits);
  for (std::size_t c = 0; c < first.size(); ++c)
    first[c] += static_cast<std::int64_t>(c) * extra_rows;
  std::vector<SyncPoint> points(static_cast<std::size_t>(first.back()));
  Exec exec;
  EXPECT_TRUE(
      huffman_sync_cpu({coded.layout, coded.bytes.data(), coded.bytes.size(), tables.data(),
                        coded.cursors.data(), static_cast<std::int64_t>(coded.cursors.size()),
                        kBits, first.data(), first.back(), points.data()},
                       exec)
          .is_ok());
  return points;
}

struct Pairs {
  std::vector<RunLevel> pairs;
  std::vector<std::uint8_t> count;

  std::vector<std::pair<int, int>> block(std::int64_t index) const {
    std::vector<std::pair<int, int>> out;
    for (int i = 0; i < count[static_cast<std::size_t>(index)]; ++i) {
      const RunLevel& pair = pairs[static_cast<std::size_t>(index * kBlockSize + i)];
      out.emplace_back(pair.run, pair.level);
    }
    return out;
  }
};

/// All blocks of one cursor.
Pairs decode(const CodedBits& coded, BitCursor cursor) {
  const auto tables = decode_tables();
  const auto blocks = static_cast<std::size_t>(cursor.blocks);
  Pairs out{std::vector<RunLevel>(blocks * kBlockSize), std::vector<std::uint8_t>(blocks)};
  cursor.first_block = 0;
  Exec exec;
  EXPECT_TRUE(
      huffman_decode_cpu({coded.layout, coded.bytes.data(), coded.bytes.size(), tables.data(),
                          &cursor, 1, nullptr, 0, nullptr, out.pairs.data(), out.count.data()},
                         exec)
          .is_ok());
  return out;
}

CodedBits one_cursor(Damage damage) {
  return make_coded_bits(coded_layout(1, 1, 1, true), 1, 60, damage, 11);
}

TEST(HuffmanSync, DecodingMayBeginAtTheBlockOfAnyState) {
  const CodedBits coded = one_cursor(Damage::none);
  const BitCursor& whole = coded.cursors[0];
  const Pairs expected = decode(coded, whole);
  int begun = 0;
  for (const SyncPoint& point : sync_points(coded)) {
    if (point.reached == 0 || point.k != 0) continue;
    ++begun;
    BitCursor rest = whole;
    rest.bit = point.bit;
    rest.blocks = whole.blocks - point.block;
    const Pairs found = decode(coded, rest);
    for (std::int64_t b = 0; b < rest.blocks; ++b)
      ASSERT_EQ(found.block(b), expected.block(point.block + b)) << "from bit " << point.bit;
  }
  EXPECT_GT(begun, 0);
}

TEST(HuffmanSync, AStateIsThatOfTheFirstCodewordOfItsSubsequence) {
  const CodedBits coded = one_cursor(Damage::none);
  const Pairs all = decode(coded, coded.cursors[0]);
  const std::vector<SyncPoint> points = sync_points(coded);
  for (std::size_t row = 0; row < points.size() && points[row].reached != 0; ++row) {
    const SyncPoint& point = points[row];
    const std::uint64_t begin = coded.cursors[0].bit + row * kBits;
    // A codeword with its appended bits has 27 bits at most, so one starts soon after the boundary.
    EXPECT_GE(point.bit, begin);
    EXPECT_LT(point.bit, begin + 27);
    // A pair takes the places of its run of zeros and of its coefficient; k counts those before it.
    int k = point.pairs == 0 ? 0 : 1;
    const auto pairs = all.block(point.block);
    ASSERT_LE(point.pairs, pairs.size());
    for (int i = 1; i < point.pairs; ++i) k += pairs[static_cast<std::size_t>(i)].first + 1;
    EXPECT_EQ(point.k, k) << "row " << row;
  }
}

TEST(HuffmanSync, RowsBehindTheEndAndBehindDamageAreNotReached) {
  const CodedBits good = one_cursor(Damage::none);
  const std::vector<SyncPoint> points = sync_points(good, 3);
  for (std::size_t row = points.size() - 3; row < points.size(); ++row)
    EXPECT_EQ(points[row], SyncPoint{}) << row;

  for (const Damage damage : {Damage::all_bytes, Damage::cut}) {
    const CodedBits coded = one_cursor(damage);
    BitCursor cursor = coded.cursors[0];
    const auto tables = decode_tables();
    Pairs out{std::vector<RunLevel>(static_cast<std::size_t>(cursor.blocks) * kBlockSize),
              std::vector<std::uint8_t>(static_cast<std::size_t>(cursor.blocks))};
    Exec exec;
    cursor.first_block = 0;
    ASSERT_TRUE(
        huffman_decode_cpu({coded.layout, coded.bytes.data(), coded.bytes.size(), tables.data(),
                            &cursor, 1, nullptr, 0, nullptr, out.pairs.data(), out.count.data()},
                           exec)
            .is_ok());
    ASSERT_LT(cursor.good_blocks, cursor.blocks) << "the test needs damage";
    for (const SyncPoint& point : sync_points(coded))
      if (point.reached != 0) {
        EXPECT_LE(point.block, cursor.good_blocks);
      }
  }
}

}  // namespace
}  // namespace zerorun::test
