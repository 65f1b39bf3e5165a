// Runs SizePlan on the device: counts symbols with one setting after another until the plan wants
// the picture coded, and makes the tables for that.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "codec/arith/quant.hpp"
#include "codec/arith/size_plan.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/trained_codes.hpp"
#include "cuda/encode/code_tiles.hpp"

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

/// What is kept of a plan from one search to the next. Plain data.
struct SizeState {
  SizePlan plan;
  std::uint32_t slot;  ///< of SearchSizeArgs::counts that comes next
};

/// All pointers are device memory, but `size` and `outcome` may be pinned.
struct SearchSizeArgs {
  CodeTilesArgs counted;  ///< layout, grid and planes of what is counted
  const SizeTables* tables;
  bool starts;      ///< the first search of the picture
  bool is_optimal;  ///< Huffman tables
  /// `after` is not `before`: all CTAs read the one, and the first to end writes the other.
  const SizeState* before;
  SizeState* after;
  SymbolCounts* counts;        ///< [3], zero before the first search
  const std::uint64_t* coded;  ///< bytes of the last coding
  /// Out: what the coding needs that follows.
  std::uint32_t* skip;  ///< 1: there is none, the plan is done
  ReciprocalTables* reciprocals;
  TuneRules* tune;
  HuffmanSpec* specs;          ///< [kEncodeTables]; null where they stay the same
  HuffmanEncodeTables* codes;  ///< likewise
  /// Two copies of a header, in which the setting is written.
  std::uint8_t* header[2];
  std::uint32_t dqt_at[2], tables_in_header;
  std::uint32_t note_at;  ///< 0: there is none
  /// Out, when the plan is done.
  std::uint64_t* size;   ///< bytes of the stream; 0: it is not reached
  SizedCoding* outcome;  ///< may be null
};

Status search_size(const SearchSizeArgs& args, cudaStream_t stream);

}  // namespace zerorun
