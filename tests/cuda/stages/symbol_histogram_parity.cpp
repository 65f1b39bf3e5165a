// CPU and CUDA count the same symbols.
// SPDX-License-Identifier: MIT
#include "codec/encode/symbol_histogram.hpp"

#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

std::vector<std::uint32_t> flat(const SymbolCounts& counts) {
  return {&counts.count[0][0], &counts.count[0][0] + kEncodeTables * 256};
}

void expect_same_counts(const std::vector<Symbol>& symbols, std::int64_t capacity) {
  Random random(8);
  SymbolCounts start;
  for (auto& table : start.count)
    for (auto& count : table) count = static_cast<std::uint32_t>(random.below(1000));
  const auto total = static_cast<std::uint32_t>(symbols.size());
  SymbolCounts expected = start;
  run_cpu(cpu_stages().symbol_histogram, {symbols.data(), &total, capacity, &expected});

  DeviceArray<Symbol> d_symbols(symbols);
  DeviceArray<std::uint32_t> d_total(std::vector<std::uint32_t>{total});
  DeviceArray<SymbolCounts> d_counts(std::vector<SymbolCounts>{start});
  CudaRunner run;
  run(cuda_stages().symbol_histogram,
      {d_symbols.data(), d_total.data(), capacity, d_counts.data()});
  ASSERT_EQ(flat(d_counts.to_host()[0]), flat(expected));
}

class SymbolHistogramParity : public GpuTest {};

TEST_F(SymbolHistogramParity, RandomSymbolsOfEverySize) {
  Random random(9);
  for (const std::size_t size : {0, 1, 31, 256, 257, 4095, 4097, 300001}) {
    SCOPED_TRACE(size);
    std::vector<Symbol> symbols(size);
    for (auto& symbol : symbols)
      symbol = {random.byte(), static_cast<std::uint8_t>(random.below(kEncodeTables)), 0};
    expect_same_counts(symbols, static_cast<std::int64_t>(size));
    expect_same_counts(symbols, static_cast<std::int64_t>(size) * 3 + 5000);
  }
}

TEST_F(SymbolHistogramParity, OneSymbolOnly) {
  for (const int table : {0, 3})
    expect_same_counts(std::vector<Symbol>(100003, {0xFF, static_cast<std::uint8_t>(table), 7}),
                       100003);
}

}  // namespace
}  // namespace zerorun::test
