// Huffman table specifications as DHT carries them (T.81 B.2.4.2), and Annex K's procedures.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "zerorun/status.hpp"

namespace zerorun {

inline constexpr int kMaxCodeBits = 16;

/// BITS and HUFFVAL.
struct HuffmanSpec {
  std::array<std::uint8_t, kMaxCodeBits + 1> bits{};  ///< [1..16]: codes of each length
  std::array<std::uint8_t, 256> values{};             ///< in order of increasing code

  int count() const noexcept;
  friend bool operator==(const HuffmanSpec& a, const HuffmanSpec& b) noexcept;
};

/// T.81 Tables K.3 to K.6. `table` is class * 2 + destination: DC luma, DC chroma, AC luma, AC
/// chroma.
const HuffmanSpec& standard_huffman_spec(int table) noexcept;

/// All four.
const std::array<HuffmanSpec, 4>& standard_huffman_specs() noexcept;

/// ok if the specification is a prefix code without an all-ones codeword (T.81 C.2, K.2), and DC
/// categories are at most 15 (libjpeg decodes these; T.81 allows 11).
Status check_huffman_spec(const HuffmanSpec& spec, bool is_dc);

/// T.81 K.2 for the symbols with a count: the best code with lengths up to 16 and no all-ones
/// codeword. Ties as in libjpeg: of equal counts the larger symbol is merged first. Symbols of
/// equal length are in increasing order.
HuffmanSpec optimal_huffman_spec(std::span<const std::uint32_t, 256> counts);

}  // namespace zerorun
