// Quantisation tables: Annex K and libjpeg's quality scale.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "zerorun/encoder.hpp"

namespace zerorun {

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
