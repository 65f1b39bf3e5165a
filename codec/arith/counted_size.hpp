// The size of a scan from the counts of its symbols alone, in integers, so that host and device get
// the same number.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"

namespace zerorun {

/// log2(value) in 2^-16, wrong by at most 2^-13; value is at least 1. Between two powers of two it
/// is f + f (1 - f) g(f), where g is a polynomial of degree 3 through four values.
ZR_HD std::int64_t log2_fixed(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  const int whole = 63 - __clzll(static_cast<long long>(value));
#else
  const int whole = 63 - __builtin_clzll(value);
#endif
  const std::uint64_t aligned = whole > 16 ? value >> (whole - 16) : value << (16 - whole);
  const auto f = static_cast<std::int64_t>(aligned & 0xFFFF);
  const std::int64_t g = 28994 - (f * (17667 - (f * (9865 - (f * 2941 >> 16)) >> 16)) >> 16);
  const std::int64_t bow = f * (0x10000 - f) >> 16;
  return (std::int64_t{whole} << 16) + f + (bow * g >> 16);
}

/// Sums over symbols of one table. Plain data.
struct SymbolSums {
  std::uint64_t symbols;  ///< how many there are
  std::uint64_t bits;     ///< appended bits, and those of the codes if they are known
  std::uint64_t spread;   ///< of count * log2(count), in 2^-16
  std::uint32_t kinds;    ///< symbols that differ

  /// `code_bits`: length of the symbol's code; 0 if it is not known.
  ZR_HD void add(int symbol, std::uint32_t count, std::uint32_t code_bits) {
    if (count == 0) return;
    symbols += count;
    bits += std::uint64_t{count} * (static_cast<std::uint32_t>(symbol & 15) + code_bits);
    spread += std::uint64_t{count} * static_cast<std::uint64_t>(log2_fixed(count));
    ++kinds;
  }
  /// The bits that optimal codes take for these symbols: their entropy, and at least one bit each.
  ZR_HD std::uint64_t optimal_code_bits() const {
    if (symbols == 0) return 0;
    const std::uint64_t all = symbols * static_cast<std::uint64_t>(log2_fixed(symbols));
    const std::uint64_t entropy = all > spread ? (all - spread) >> 16 : 0;
    return entropy > symbols ? entropy : symbols;
  }
};

/// What is known of a scan that was not coded. Plain data.
struct CountedSize {
  std::uint64_t bits;   ///< before stuffing, without fill bits and markers
  std::uint32_t kinds;  ///< values in DHT segments of optimal tables; 0 where tables are fixed
};

/// `is_optimal`: the lengths of the codes were not known.
ZR_HD CountedSize counted_size(const SymbolSums (&sums)[kEncodeTables], bool is_optimal) {
  CountedSize size{0, 0};
  for (int table = 0; table < kEncodeTables; ++table) {
    size.bits += sums[table].bits;
    if (!is_optimal) continue;
    size.bits += sums[table].optimal_code_bits();
    size.kinds += sums[table].kinds;
  }
  return size;
}

}  // namespace zerorun
