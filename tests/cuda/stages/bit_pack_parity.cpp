// CPU and CUDA pack the same bytes.
// SPDX-License-Identifier: MIT
#include "codec/encode/bit_pack.hpp"

#include <algorithm>

#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

struct Codewords {
  std::vector<std::uint32_t> block_first_symbol, code;
  std::vector<std::uint8_t> bits;
};

/// Every block has min_symbols..max_symbols codewords of min_bits..max_bits bits; only its first,
/// the DC, may have 27.
Codewords make_codewords(std::int64_t blocks, int min_symbols, int max_symbols, int min_bits,
                         int max_bits, std::uint64_t seed) {
  Random random(seed);
  Codewords words;
  words.block_first_symbol.push_back(0);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const int count = random.between(min_symbols, max_symbols);
    for (int i = 0; i < count; ++i) {
      const int bits = random.between(min_bits, i == 0 ? max_bits : std::min(max_bits, 26));
      words.bits.push_back(static_cast<std::uint8_t>(bits));
      words.code.push_back(static_cast<std::uint32_t>(random.next()) & ((1u << bits) - 1));
    }
    words.block_first_symbol.push_back(static_cast<std::uint32_t>(words.code.size()));
  }
  return words;
}

void expect_same_bytes(const Codewords& words, std::int64_t interval_blocks) {
  const auto blocks = static_cast<std::int64_t>(words.block_first_symbol.size()) - 1;
  const std::int64_t intervals = (blocks + interval_blocks - 1) / interval_blocks;
  const std::int64_t capacity = max_packed_bytes(blocks, intervals);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(capacity));
  std::vector<std::uint64_t> first(static_cast<std::size_t>(intervals) + 1);
  std::vector<std::uint64_t> bits(static_cast<std::size_t>(intervals));
  run_cpu(cpu_stages().bit_pack,
          {blocks, interval_blocks, words.block_first_symbol.data(), words.code.data(),
           words.bits.data(), bytes.data(), capacity, first.data(), bits.data()});

  DeviceArray<std::uint32_t> d_symbols(words.block_first_symbol), d_code(words.code);
  DeviceArray<std::uint8_t> d_code_bits(words.bits), d_bytes(bytes.size());
  DeviceArray<std::uint64_t> d_first(first.size()), d_bits(bits.size());
  CudaRunner run;
  run(cuda_stages().bit_pack,
      {blocks, interval_blocks, d_symbols.data(), d_code.data(), d_code_bits.data(), d_bytes.data(),
       capacity, d_first.data(), d_bits.data()});
  ASSERT_EQ(d_first.to_host(), first);
  ASSERT_EQ(d_bits.to_host(), bits);
  ASSERT_EQ(head(d_bytes.to_host(), first.back()), head(bytes, first.back()));
}

class BitPackParity : public GpuTest {};

TEST_F(BitPackParity, EveryIntervalAndDensity) {
  constexpr int kDensities[][4] = {
      {1, 1, 1, 1},     // many blocks share a word
      {2, 2, 2, 4},     // flat picture
      {1, 64, 1, 27},   // anything
      {64, 64, 26, 27}  // as long as they get
  };
  for (const auto& [min_symbols, max_symbols, min_bits, max_bits] : kDensities)
    for (const std::int64_t blocks : {1, 2, 127, 128, 129, 3001})
      for (const std::int64_t interval : {1, 3, 6, 128, 1000, 100000}) {
        SCOPED_TRACE(testing::Message() << blocks << " blocks, interval " << interval << ", up to "
                                        << max_symbols << " symbols of " << max_bits << " bits");
        expect_same_bytes(make_codewords(blocks, min_symbols, max_symbols, min_bits, max_bits, 31),
                          interval);
      }
}

TEST_F(BitPackParity, NoBlocks) { expect_same_bytes(make_codewords(0, 1, 1, 1, 1, 1), 5); }

TEST_F(BitPackParity, WholeBytesNeedNoFilling) {
  for (const int bits : {8, 16, 24}) expect_same_bytes(make_codewords(500, 1, 3, bits, bits, 3), 2);
}

}  // namespace
}  // namespace zerorun::test
