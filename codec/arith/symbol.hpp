// The entropy coder's alphabet: RRRRSSSS, appended bits, (run, level) pairs (T.81 F.1.2, F.2.2).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun {

inline constexpr std::uint8_t kEob = 0x00;  ///< RRRRSSSS 0/0: the rest of the block is zero
inline constexpr std::uint8_t kZrl = 0xF0;  ///< RRRRSSSS 15/0: sixteen zeros

/// Code tables are numbered class * 2 + destination: 0 and 1 for DC, 2 and 3 for AC.
inline constexpr int kEncodeTables = 4;

/// One symbol to be coded.
struct alignas(4) Symbol {
  std::uint8_t rrrrssss;   ///< for DC the category SSSS alone
  std::uint8_t table;      ///< 0..kEncodeTables-1
  std::uint16_t appended;  ///< SSSS bits: the value, or for a negative one the value minus 1

  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// One decoded pair: `run` zeros, then `level`. ZRL is (15, 0). DC comes as (0, DIFF).
struct RunLevel {
  std::int16_t level;
  std::uint8_t run;
  std::uint8_t reserved;  ///< 0

  friend bool operator==(const RunLevel&, const RunLevel&) = default;
};

/// SSSS of a value: the bits of its magnitude (T.81 Tables F.1 and F.2).
ZR_HD int category(std::int32_t value) {
  const auto magnitude = static_cast<std::uint32_t>(value < 0 ? -value : value);
#ifdef __CUDA_ARCH__
  return 32 - __clz(static_cast<int>(magnitude));
#else
  return magnitude == 0 ? 0 : 32 - __builtin_clz(magnitude);
#endif
}

ZR_HD Symbol make_symbol(int run, std::int32_t value, int table) {
  const int ssss = category(value);
  const auto bits = static_cast<std::uint32_t>(value - (value < 0)) & ((1u << ssss) - 1);
  return {static_cast<std::uint8_t>(run << 4 | ssss), static_cast<std::uint8_t>(table),
          static_cast<std::uint16_t>(bits)};
}

/// EXTEND (T.81 Figure F.12): the value of SSSS appended bits, SSSS 0..15.
ZR_HD std::int32_t extend(std::uint32_t bits, int ssss) {
  const std::int32_t half = ssss == 0 ? 0 : std::int32_t{1} << (ssss - 1);
  const auto value = static_cast<std::int32_t>(bits);
  return value < half ? value - 2 * half + 1 : value;
}

}  // namespace zerorun
