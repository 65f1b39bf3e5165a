// One function per stage. A backend is such a table; tests walk it, pipelines call nothing else.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/decode/byte_unstuff.hpp"
#include "codec/decode/color_upsample.hpp"
#include "codec/decode/dc_predict.hpp"
#include "codec/decode/dequant_idct.hpp"
#include "codec/decode/huffman_decode.hpp"
#include "codec/decode/huffman_sync.hpp"
#include "codec/decode/zero_run_expand.hpp"
#include "codec/encode/bit_pack.hpp"
#include "codec/encode/byte_stuff.hpp"
#include "codec/encode/color_subsample.hpp"
#include "codec/encode/dc_diff.hpp"
#include "codec/encode/fdct_quant.hpp"
#include "codec/encode/group_index.hpp"
#include "codec/encode/huffman_encode.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "codec/encode/zero_run.hpp"

namespace zerorun {

template <typename Args>
using Stage = Status (*)(const Args&, Exec&);

struct StageTable {
  // encode, in the order of the pipeline
  Stage<ColorSubsampleArgs> color_subsample;
  Stage<FdctQuantArgs> fdct_quant;
  Stage<DcDiffArgs> dc_diff;
  Stage<ZeroRunArgs> zero_run;
  Stage<SymbolHistogramArgs> symbol_histogram;
  Stage<HuffmanEncodeArgs> huffman_encode;
  Stage<GroupIndexArgs> group_index;
  Stage<BitPackArgs> bit_pack;
  Stage<ByteStuffArgs> byte_stuff;
  // decode, in the order of the pipeline
  Stage<ByteUnstuffArgs> byte_unstuff;
  Stage<HuffmanSyncArgs> huffman_sync;
  Stage<HuffmanDecodeArgs> huffman_decode;
  Stage<ZeroRunExpandArgs> zero_run_expand;
  Stage<DcPredictArgs> dc_predict;
  Stage<DequantIdctArgs> dequant_idct;
  Stage<ColorUpsampleArgs> color_upsample;
};

const StageTable& cpu_stages();

}  // namespace zerorun
