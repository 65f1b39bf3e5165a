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
#include "codec/encode/huffman_encode.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "codec/encode/zero_run.hpp"

namespace zerorun {

template <typename Args>
using Stage = Status (*)(const Args&, Exec&);

/// The stages, in the order of the pipelines: ENTRY(name, arguments) for each of them. Functions of
/// stage X are X_cpu and X_cuda. Everything that lists the stages is made from this list.
#define ZR_STAGES(ENTRY)                                  \
  ENTRY(color_subsample, ColorSubsampleArgs) /* encode */ \
  ENTRY(fdct_quant, FdctQuantArgs)                        \
  ENTRY(dc_diff, DcDiffArgs)                              \
  ENTRY(zero_run, ZeroRunArgs)                            \
  ENTRY(symbol_histogram, SymbolHistogramArgs)            \
  ENTRY(huffman_encode, HuffmanEncodeArgs)                \
  ENTRY(bit_pack, BitPackArgs)                            \
  ENTRY(byte_stuff, ByteStuffArgs)                        \
  ENTRY(byte_unstuff, ByteUnstuffArgs) /* decode */       \
  ENTRY(huffman_sync, HuffmanSyncArgs)                    \
  ENTRY(huffman_decode, HuffmanDecodeArgs)                \
  ENTRY(zero_run_expand, ZeroRunExpandArgs)               \
  ENTRY(dc_predict, DcPredictArgs)                        \
  ENTRY(dequant_idct, DequantIdctArgs)                    \
  ENTRY(color_upsample, ColorUpsampleArgs)

struct StageTable {
#define ZR_STAGE_MEMBER(name, Args) Stage<Args> name;
  ZR_STAGES(ZR_STAGE_MEMBER)
#undef ZR_STAGE_MEMBER
};

inline const StageTable& cpu_stages() {
#define ZR_STAGE_FUNCTION(name, Args) .name = name##_cpu,
  static constexpr StageTable kTable{ZR_STAGES(ZR_STAGE_FUNCTION)};
#undef ZR_STAGE_FUNCTION
  return kTable;
}

}  // namespace zerorun
