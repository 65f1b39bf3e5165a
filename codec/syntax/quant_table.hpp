// Quantisation tables: Annex K and libjpeg's quality scale.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "zerorun/encoder.hpp"

namespace zerorun {

/// T.81 Table K.1 (luma) or K.2 (chroma) scaled by quality 1..100 as libjpeg does, entries 1..255.
QuantTable scaled_quant_table(bool chroma, int quality);

/// The quality whose scaled tables these are, if there is one. `chroma` may be null.
std::optional<int> estimate_quality(const QuantTable& luma, const QuantTable* chroma);

}  // namespace zerorun
