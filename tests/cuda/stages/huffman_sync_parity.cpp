// The CUDA backend's parallel synchronisation finds exactly the states that serial decoding passes.
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_sync.hpp"

#include "tests/cuda/stages/coded_bits.hpp"
#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

void expect_same(const CodedBits& coded, std::int32_t subsequence_bits, int extra_rows = 0) {
  SCOPED_TRACE(testing::Message() << coded.bytes.size() << " bytes, " << coded.cursors.size()
                                  << " cursors, " << subsequence_bits << " bits");
  const auto tables = decode_tables();
  auto first = coded.first_sync(subsequence_bits);
  for (std::size_t c = 0; c < first.size(); ++c)
    first[c] += static_cast<std::int64_t>(c) * extra_rows;
  const auto cursors = static_cast<std::int64_t>(coded.cursors.size());
  std::vector<SyncPoint> expected(static_cast<std::size_t>(first.back()));
  run_cpu(
      cpu_stages().huffman_sync,
      {coded.layout, coded.bytes.data(), coded.bytes.size(), tables.data(), coded.cursors.data(),
       cursors, subsequence_bits, first.data(), first.back(), expected.data()});

  DeviceArray<std::uint8_t> d_bytes(coded.bytes);
  DeviceArray<HuffmanDecodeTables> d_tables(tables);
  DeviceArray<BitCursor> d_cursors(coded.cursors);
  DeviceArray<std::int64_t> d_first(first);
  DeviceArray<SyncPoint> d_sync(expected.size());
  CudaRunner run;
  const HuffmanSyncArgs args{coded.layout,     d_bytes.data(), coded.bytes.size(), d_tables.data(),
                             d_cursors.data(), cursors,        subsequence_bits,   d_first.data(),
                             first.back(),     d_sync.data()};
  run(cuda_stages().huffman_sync, args);
  const auto found = d_sync.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(found[i] == expected[i])
        << "row " << i << ": bit " << found[i].bit << " instead of " << expected[i].bit
        << ", block " << found[i].block << " instead of " << expected[i].block;
}

const ScanLayout kLayouts[] = {coded_layout(1, 1, 1, true), coded_layout(3, 1, 1, false),
                               coded_layout(3, 2, 2, false), coded_layout(3, 2, 2, true),
                               coded_layout(3, 4, 1, false)};

class HuffmanSyncParity : public GpuTest {};

TEST_F(HuffmanSyncParity, ManyShortCursors) {
  std::uint64_t seed = 1;
  for (const Damage damage : kDamages)
    for (const ScanLayout& layout : kLayouts)
      for (const int bits : {32, 64, 1024})
        expect_same(make_coded_bits(layout, 300, 30, damage, ++seed), bits);
}

TEST_F(HuffmanSyncParity, LongCursorsOverManyChunks) {
  std::uint64_t seed = 1000;
  for (const Damage damage : kDamages)
    for (const ScanLayout& layout : kLayouts)
      for (const int bits : {32, 128, 1024})
        expect_same(make_coded_bits(layout, 2, 6000, damage, ++seed), bits);
}

TEST_F(HuffmanSyncParity, RowsBehindTheEnd) {
  for (const ScanLayout& layout : kLayouts)
    expect_same(make_coded_bits(layout, 9, 40, Damage::none, 77), 256, 3);
}

TEST_F(HuffmanSyncParity, RowCountsAroundAChunk) {
  const ScanLayout layout = coded_layout(3, 2, 1, false);
  for (const std::size_t rows : {1, 2, 255, 256, 257, 511, 512, 513}) {
    CodedBits coded = make_coded_bits(layout, 1, 4000, Damage::none, 5);
    coded.bytes.resize(std::min(coded.bytes.size(), rows * 4));
    coded.cursors[0].end_bit = coded.bytes.size() * 8;
    expect_same(coded, 32);
  }
}

TEST_F(HuffmanSyncParity, NoRows) {
  CodedBits coded = make_coded_bits(coded_layout(1, 1, 1, true), 1, 4, Damage::none, 5);
  coded.cursors[0].end_bit = coded.cursors[0].bit;
  expect_same(coded, 32);
}

}  // namespace
}  // namespace zerorun::test
