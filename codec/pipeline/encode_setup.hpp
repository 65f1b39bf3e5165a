// Parameters and the shape of a frame -> everything that is fixed before coding.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "codec/arith/tune.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/header_writer.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

/// Errors: invalid_argument.
Status validate_quality(int quality);

/// Errors: invalid_argument (a size does not go with own tables, targets of quality are out of
/// range or do not go with a size).
Status validate_size(const EncodeParams& params);

/// Range checks of everything that does not depend on a frame.
Status validate_params(const EncodeParams& params);

/// Errors: invalid_argument (restart rows of more than 65535 MCUs, an index too large for
/// decoders), invalid_frame.
Result<EncodeSetup> make_encode_setup(const EncodeParams& params, PixelFormat format, int width,
                                      int height);

/// The same for another setting than that of params.quality. `setup` is of the same parameters and
/// shape.
void change_setting(const EncodeParams& params, const SizeSetting& setting, EncodeSetup& setup);

/// The input of write_header(); it refers to `params`.
StreamHeader make_stream_header(const EncodeParams& params, const EncodeSetup& setup,
                                const std::array<HuffmanSpec, 4>& specs);

/// `params.tables`, or what `automatic` stands for.
QuantTables resolve_tables(const EncodeParams& params);

/// For Tune::exact only with thrift: without it no coefficient is decided.
ThriftWeights thrift_weights(Tune tune, Effort effort, bool is_420);

/// `quant`: luma and chroma, natural order. 4:2:0 has weights of its own.
TuneRules make_tune_rules(const EncodeParams& params, bool is_420,
                          const std::array<QuantTable, 2>& quant, int thrift = 0);

}  // namespace zerorun
