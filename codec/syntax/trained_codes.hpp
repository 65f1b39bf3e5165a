// Huffman tables that were trained on pictures, for one pass (HuffmanTables::trained).
// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "codec/syntax/huffman_spec.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

/// The highest qualities of the bands that have tables of their own.
inline constexpr std::array<int, 4> kTrainedBands{60, 82, 92, 100};

/// The order of standard_huffman_spec(). They have a code for every symbol of baseline JPEG. The
/// reference is the same for all qualities (in 16ths) with the same codes, and stays valid.
const std::array<HuffmanSpec, 4>& trained_huffman_specs(Tune tune, bool is_420,
                                                        int quality_16ths) noexcept;

}  // namespace zerorun
