// Parameters -> the rules by which coefficients are decided.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "codec/arith/tune.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

/// Errors: invalid_argument.
Status validate_tuning(const EncodeParams& params);

/// `params.tables`, or what `automatic` stands for.
QuantTables resolve_tables(const EncodeParams& params);

/// Of Tune::exact with thrift alone: without it nothing is decided.
ThriftWeights thrift_weights(Tune tune, Effort effort, bool is_420);

/// `quant`: luma and chroma, natural order. 4:2:0 has weights of its own.
TuneRules make_tune_rules(const EncodeParams& params, bool is_420,
                          const std::array<QuantTable, 2>& quant, int thrift = 0);

}  // namespace zerorun
