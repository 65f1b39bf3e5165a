// Quantisation tables.
// SPDX-License-Identifier: MIT
#include "codec/syntax/tables.hpp"

#include <algorithm>

#include "codec/arith/quant.hpp"
#include "codec/arith/size_search.hpp"

namespace zerorun {
namespace {

constexpr QuantTable kLuma{16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                           14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                           18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                           49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
constexpr QuantTable kChroma{17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
                             24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
                             99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
                             99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

/// Photos take about as many bytes as with Annex K at the same quality.
constexpr std::uint16_t kFlatLuma = 32, kFlatChroma = 40;
/// The default intra matrix of ISO/IEC 11172-2, 2.4.3.2.
constexpr QuantTable kMpeg1{8,  16, 19, 22, 26, 27, 29, 34, 16, 16, 22, 24, 27, 29, 34, 37,
                            19, 22, 26, 27, 29, 34, 34, 38, 22, 22, 26, 27, 29, 34, 37, 40,
                            22, 26, 27, 29, 32, 35, 40, 48, 26, 27, 29, 32, 35, 40, 48, 58,
                            26, 27, 29, 34, 38, 46, 56, 69, 27, 29, 35, 38, 46, 56, 69, 83};

/// libjpeg's scale: entries 1..255.
QuantTable scaled(const QuantTable& base, int quality) {
  const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  QuantTable table = base;
  for (auto& entry : table)
    entry = static_cast<std::uint16_t>(std::clamp((entry * percent + 50) / 100, 1, 255));
  return table;
}

QuantTable filled(std::uint16_t entry) {
  QuantTable table;
  table.fill(entry);
  return table;
}

}  // namespace

std::array<QuantTable, 2> named_quant_tables(QuantTables tables, Subsampling sampling,
                                             int quality) {
  switch (tables) {
    case QuantTables::flat:
      return {scaled(filled(kFlatLuma), quality), scaled(filled(kFlatChroma), quality)};
    case QuantTables::ffmpeg:
      return {scaled(kMpeg1, quality), scaled(kMpeg1, quality)};
    case QuantTables::tuned:
      return tuned_quant_tables(sampling == Subsampling::s420, quality);
    case QuantTables::automatic:
    case QuantTables::annex_k:
      break;
  }
  return {scaled(kLuma, quality), scaled(kChroma, quality)};
}

std::array<QuantTable, 2> quant_tables_between(QuantTables tables, Subsampling sampling,
                                               int quality_16ths) {
  const int quality = quality_16ths / kQualityUnit, part = quality_16ths % kQualityUnit;
  std::array<QuantTable, 2> out = named_quant_tables(tables, sampling, quality);
  if (part == 0) return out;
  const std::array<QuantTable, 2> next = named_quant_tables(tables, sampling, quality + 1);
  for (std::size_t t = 0; t < out.size(); ++t)
    for (std::size_t i = 0; i < out[t].size(); ++i)
      out[t][i] = static_cast<std::uint16_t>(quant_between(
          out[t][i], next[t][i], static_cast<int>(t), static_cast<int>(i), part, kQualityUnit));
  return out;
}

std::optional<int> estimate_quality(const QuantTable& luma, const QuantTable* chroma) {
  for (int quality = 100; quality >= 1; --quality)
    if (luma == scaled(kLuma, quality) &&
        (chroma == nullptr || *chroma == scaled(kChroma, quality)))
      return quality;
  return std::nullopt;
}

}  // namespace zerorun
