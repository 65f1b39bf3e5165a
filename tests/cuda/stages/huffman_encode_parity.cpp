// CPU and CUDA give the same codewords.
// SPDX-License-Identifier: MIT
#include "codec/encode/huffman_encode.hpp"

#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

void expect_same_codes(const std::vector<Symbol>& symbols, const HuffmanEncodeTables& tables,
                       std::int64_t capacity) {
  const auto total = static_cast<std::uint32_t>(symbols.size());
  std::vector<std::uint32_t> code(symbols.size());
  std::vector<std::uint8_t> bits(symbols.size());
  run_cpu(cpu_stages().huffman_encode,
          {symbols.data(), &total, capacity, &tables, code.data(), bits.data()});

  DeviceArray<Symbol> d_symbols(symbols);
  DeviceArray<std::uint32_t> d_total(std::vector<std::uint32_t>{total});
  DeviceArray<HuffmanEncodeTables> d_tables(std::vector<HuffmanEncodeTables>{tables});
  DeviceArray<std::uint32_t> d_code(code.size());
  DeviceArray<std::uint8_t> d_bits(bits.size());
  CudaRunner run;
  run(cuda_stages().huffman_encode,
      {d_symbols.data(), d_total.data(), capacity, d_tables.data(), d_code.data(), d_bits.data()});
  ASSERT_EQ(d_code.to_host(), code);
  ASSERT_EQ(d_bits.to_host(), bits);
}

class HuffmanEncodeParity : public GpuTest {};

TEST_F(HuffmanEncodeParity, EverySizeAndSixteenBitCodes) {
  HuffmanEncodeTables tables;
  Random random(5);
  for (int t = 0; t < kEncodeTables; ++t)
    for (int i = 0; i < 256; ++i) {
      tables.bits[t][i] = static_cast<std::uint8_t>(i % 4 == 0 ? 16 : random.between(1, 16));
      tables.code[t][i] =
          static_cast<std::uint32_t>(random.next()) & ((1u << tables.bits[t][i]) - 1);
    }
  for (const std::size_t size : {0, 1, 255, 256, 257, 2047, 2049, 100001}) {
    SCOPED_TRACE(size);
    std::vector<Symbol> symbols(size);
    for (auto& symbol : symbols) {
      const int ssss = random.between(0, 11);
      symbol = {static_cast<std::uint8_t>(random.below(16) << 4 | ssss),
                static_cast<std::uint8_t>(random.below(kEncodeTables)),
                static_cast<std::uint16_t>(random.below(1 << ssss))};
    }
    expect_same_codes(symbols, tables, static_cast<std::int64_t>(size));
    expect_same_codes(symbols, tables, static_cast<std::int64_t>(size) + 100000);
  }
}

}  // namespace
}  // namespace zerorun::test
