// Everything that a setting of SizePlan stands for, for all settings at once: the device looks it
// up and needs no host.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/quant.hpp"
#include "codec/arith/size_plan.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/trained_codes.hpp"

namespace zerorun {

inline constexpr std::size_t kMostBands = kTrainedBands.size();

/// Plain data, in device memory.
struct SizeTables {
  SizeTask task;
  SizeCurve curve;
  std::uint8_t quant[101][2][kBlockSize];  ///< by quality; natural order
  float reciprocal[256];                   ///< quant_reciprocal()
  ThriftWeights weights;
  TuneRules rules;  ///< but for what weights and quantisation tables decide
  /// Fixed Huffman tables by bands of quality; one band, and unused, where tables are optimal.
  std::uint32_t bands;
  std::int32_t band_end[kMostBands];  ///< highest quality, in 16ths
  HuffmanSpec specs[kMostBands][kEncodeTables];
  HuffmanEncodeTables codes[kMostBands];

  ZR_HD int quant_of(const SizeSetting& setting, int table, int i) const {
    const int quality = setting.quality_16ths / kQualityUnit;
    const int part = setting.quality_16ths % kQualityUnit, next = part == 0 ? quality : quality + 1;
    return quant_between(quant[quality][table][i], quant[next][table][i], table, i, part,
                         kQualityUnit);
  }
  ZR_HD std::uint32_t band_of(const SizeSetting& setting) const {
    std::uint32_t band = 0;
    while (band + 1 < bands && setting.quality_16ths > band_end[band]) ++band;
    return band;
  }
};

/// `whole` and `counted` as for make_size_task().
void make_size_tables(const EncodeParams& params, const EncodeSetup& whole,
                      const ScanLayout& counted, SizeTables& out);

}  // namespace zerorun
