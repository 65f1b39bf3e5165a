// Everything that a setting stands for, from the definitions of the host.
// SPDX-License-Identifier: MIT
#include "cuda/encode/size_tables.hpp"

#include "codec/pipeline/encode_setup.hpp"
#include "codec/pipeline/size_control.hpp"
#include "codec/pipeline/tune_rules.hpp"
#include "cuda/encode/float_quant.hpp"

namespace zerorun {

void make_size_tables(const EncodeParams& params, const EncodeSetup& whole,
                      const ScanLayout& counted, SizeTables& out) {
  out = {};
  out.task = make_size_task(params, whole, counted);
  out.curve = kPhotoCurve;
  const bool is_420 = whole.h_max == 2 && whole.v_max == 2;
  EncodeSetup setup = whole;
  for (int quality = 1; quality <= 100; ++quality) {
    change_setting(params, {quality * kQualityUnit, out.task.most.thrift}, setup);
    for (std::size_t t = 0; t < 2; ++t)
      for (std::size_t i = 0; i < kBlockSize; ++i)
        out.quant[quality][t][i] = static_cast<std::uint8_t>(setup.quant[t][i]);
  }
  for (std::uint32_t q = 1; q < 256; ++q) out.reciprocal[q] = quant_reciprocal(q);
  out.weights = thrift_weights(params.tune, params.effort, is_420);
  out.rules = setup.tune;
  out.bands = params.huffman == HuffmanTables::trained ? kMostBands : 1;
  for (std::size_t band = 0; band < out.bands; ++band) {
    const int quality = out.bands == 1 ? 100 : kTrainedBands[band];
    out.band_end[band] = quality * kQualityUnit;
    change_setting(params, {out.band_end[band], 0}, setup);
    for (std::size_t t = 0; t < kEncodeTables; ++t) {
      out.specs[band][t] = (*setup.fixed_specs)[t];
      fill_encode_table(out.specs[band][t], static_cast<int>(t), out.codes[band]);
    }
  }
}

}  // namespace zerorun
