// Huffman table specifications as DHT carries them (T.81 B.2.4.2), and Annex K's procedures.
// Quantisation tables: those of Annex K and of training, and libjpeg's quality scale.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "zerorun/encoder.hpp"
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

/// The table with codes of these lengths for all symbols of baseline JPEG; symbols of equal length
/// are in increasing order. A letter is a symbol's length, a being 1. DC: 12 letters. AC: EOB, then
/// for each run from 0 to 15, behind a comma, the sizes from 1 to 10 (of run 15: from ZRL on), of
/// which the last ones are left out where they have 16 bits.
constexpr HuffmanSpec spec_of_lengths(std::string_view letters) {
  std::array<std::uint8_t, 256> length{};
  const bool is_ac = letters.find(',') != letters.npos;
  for (std::size_t symbol = 0; is_ac && symbol < length.size(); ++symbol)
    if ((symbol % 16 >= 1 && symbol % 16 <= 10) || symbol == 0xF0) length[symbol] = kMaxCodeBits;
  std::size_t symbol = 0, run = 0;
  for (const char letter : letters) {
    if (letter != ',') {
      length[symbol++] = static_cast<std::uint8_t>(letter - 'a' + 1);
      continue;
    }
    symbol = 16 * run + (run < 15 ? 1 : 0);
    ++run;
  }
  HuffmanSpec spec;
  std::size_t next = 0;
  for (std::size_t bits = 1; bits <= kMaxCodeBits; ++bits)
    for (std::size_t s = 0; s < length.size(); ++s) {
      if (length[s] != bits) continue;
      ++spec.bits[bits];
      spec.values[next++] = static_cast<std::uint8_t>(s);
    }
  return spec;
}

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

// Tables that were trained on pictures, for one pass (HuffmanTables::trained).

/// The highest qualities of the bands that have tables of their own.
inline constexpr std::array<int, 4> kTrainedBands{60, 82, 92, 100};

/// The order of standard_huffman_spec(). They have a code for every symbol of baseline JPEG. The
/// reference is the same for all qualities (in 16ths) with the same codes, and stays valid.
const std::array<HuffmanSpec, 4>& trained_huffman_specs(Tune tune, bool is_420,
                                                        int quality_16ths) noexcept;

/// Luma and chroma of named tables, scaled by quality 1..100 as libjpeg does, entries 1..255.
/// `tables` is not `automatic`. Only the tuned ones depend on the sampling.
std::array<QuantTable, 2> named_quant_tables(QuantTables tables, Subsampling sampling, int quality);

/// The same between two qualities, in 16ths of one: from one quality to the next, the entries take
/// the values of the next one after another. Tables of whole qualities are the named ones.
std::array<QuantTable, 2> quant_tables_between(QuantTables tables, Subsampling sampling,
                                               int quality_16ths);

/// Luma and chroma of the trained tables (tests/rd/train_tables.py).
std::array<QuantTable, 2> tuned_quant_tables(bool is_420, int quality);

/// The quality whose scaled tables of Annex K these are, if there is one. `chroma` may be null.
std::optional<int> estimate_quality(const QuantTable& luma, const QuantTable* chroma);

}  // namespace zerorun
