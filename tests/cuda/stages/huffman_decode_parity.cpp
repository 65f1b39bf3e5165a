// CPU and CUDA decode the same pairs of sound bits, with and without sync points. Of damaged bits
// the CUDA stage reports the same faults, and nothing else is defined.
// SPDX-License-Identifier: MIT
#include "codec/decode/huffman_decode.hpp"

#include "tests/cuda/stages/coded_bits.hpp"
#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

struct Decoded {
  std::vector<BitCursor> cursors;
  std::vector<RunLevel> pairs;
  std::vector<std::uint8_t> pair_count;
};

Decoded decode_on_cpu(const CodedBits& coded, const std::vector<HuffmanDecodeTables>& tables) {
  Decoded out{coded.cursors, std::vector<RunLevel>(static_cast<std::size_t>(coded.blocks) * 64),
              std::vector<std::uint8_t>(static_cast<std::size_t>(coded.blocks))};
  run_cpu(cpu_stages().huffman_decode,
          {coded.layout, coded.bytes.data(), coded.bytes.size(), tables.data(), out.cursors.data(),
           static_cast<std::int64_t>(coded.cursors.size()), nullptr, 0, nullptr, out.pairs.data(),
           out.pair_count.data()});
  return out;
}

/// subsequence_bits 0: without sync points, else with those of the CPU's huffman_sync.
Decoded decode_on_gpu(const CodedBits& coded, const std::vector<HuffmanDecodeTables>& tables,
                      std::int32_t subsequence_bits) {
  const auto cursors = static_cast<std::int64_t>(coded.cursors.size());
  std::vector<std::int64_t> first(coded.cursors.size() + 1, 0);
  std::vector<SyncPoint> sync;
  if (subsequence_bits > 0) {
    first = coded.first_sync(subsequence_bits);
    sync.resize(static_cast<std::size_t>(first.back()));
    run_cpu(cpu_stages().huffman_sync, {coded.layout, coded.bytes.data(), coded.bytes.size(),
                                        tables.data(), coded.cursors.data(), cursors,
                                        subsequence_bits, first.data(), first.back(), sync.data()});
  }
  DeviceArray<std::uint8_t> d_bytes(coded.bytes);
  DeviceArray<HuffmanDecodeTables> d_tables(tables);
  DeviceArray<BitCursor> d_cursors(coded.cursors);
  DeviceArray<std::int64_t> d_first(first);
  DeviceArray<SyncPoint> d_sync(sync);
  DeviceArray<RunLevel> d_pairs(static_cast<std::size_t>(coded.blocks) * 64);
  DeviceArray<std::uint8_t> d_count(static_cast<std::size_t>(coded.blocks));
  CudaRunner run;
  run(cuda_stages().huffman_decode,
      {coded.layout, d_bytes.data(), coded.bytes.size(), d_tables.data(), d_cursors.data(), cursors,
       sync.empty() ? nullptr : d_sync.data(), first.back(), d_first.data(), d_pairs.data(),
       d_count.data()});
  return {d_cursors.to_host(), d_pairs.to_host(), d_count.to_host()};
}

void expect_same(const CodedBits& coded) {
  const auto tables = decode_tables();
  const Decoded expected = decode_on_cpu(coded, tables);
  for (const std::int32_t bits : {0, 32, 96, 1024}) {
    SCOPED_TRACE(testing::Message() << "subsequences of " << bits << " bits");
    const Decoded found = decode_on_gpu(coded, tables, bits);
    for (std::size_t c = 0; c < coded.cursors.size(); ++c) {
      const BitCursor &a = found.cursors[c], &b = expected.cursors[c];
      ASSERT_EQ(a.fault, b.fault) << "cursor " << c;
      ASSERT_EQ(a.good_blocks, b.good_blocks) << "cursor " << c;
      if (b.fault == Errc::ok) {
        ASSERT_EQ(a.bit, b.bit) << "cursor " << c;
      }
      for (std::int64_t i = b.first_block; i < b.first_block + b.good_blocks; ++i) {
        const auto block = static_cast<std::size_t>(i);
        ASSERT_EQ(found.pair_count[block], expected.pair_count[block]) << "block " << block;
        for (std::size_t p = block * 64; p < block * 64 + expected.pair_count[block]; ++p)
          ASSERT_TRUE(found.pairs[p] == expected.pairs[p])
              << "block " << block << ", pair " << p % 64;
      }
    }
  }
}

class HuffmanDecodeParity : public GpuTest {};

TEST_F(HuffmanDecodeParity, EveryDamageAndLayout) {
  std::uint64_t seed = 1;
  for (const Damage damage : kDamages)
    for (const bool shared : {false, true})
      for (const int h : {1, 2, 4}) {
        const ScanLayout layout = coded_layout(3, h, h == 4 ? 1 : h, shared);
        expect_same(make_coded_bits(layout, 200, 40, damage, ++seed));
        expect_same(make_coded_bits(layout, 1, 3000, damage, ++seed));
      }
}

TEST_F(HuffmanDecodeParity, OneComponent) {
  for (const Damage damage : kDamages)
    expect_same(make_coded_bits(coded_layout(1, 1, 1, true), 129, 20, damage, 9));
}

TEST_F(HuffmanDecodeParity, CursorsWithoutBits) {
  CodedBits coded = make_coded_bits(coded_layout(3, 2, 2, false), 5, 40, Damage::none, 9);
  coded.cursors[1].end_bit = coded.cursors[1].bit;
  coded.cursors[3].bit = coded.cursors[3].end_bit = 0;
  expect_same(coded);
}

TEST_F(HuffmanDecodeParity, FaultsInsideBlocksThatSpanSubsequences) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    expect_same(make_coded_bits(coded_layout(3, 2, 1, false), 40, 30, Damage::cut, 100 + seed));
}

}  // namespace
}  // namespace zerorun::test
