// Which pair of code tables each block of an MCU takes; for both decoders.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// The most pairs of a DC and an AC table that a scan's components use.
inline constexpr int kMaxTablePairs = kMaxComponents;

/// The pairs of code tables that the blocks of an MCU take, in turn. If all components share their
/// tables, a decoder at the wrong place in the MCU would never find out, so only the place in the
/// period is a state.
struct PairCycle {
  std::uint8_t pair[kMaxBlocksPerMcu];  ///< of each block of the MCU
  std::int32_t period;
  std::int32_t pairs;
  std::uint8_t dc_table[kMaxTablePairs], ac_table[kMaxTablePairs];  ///< destinations of each pair
};

inline PairCycle make_pair_cycle(const ScanLayout& layout) {
  PairCycle cycle{};
  for (std::int32_t i = 0; i < layout.blocks_per_mcu; ++i) {
    const auto& component = layout.component[layout.block_component[i]];
    std::int32_t p = 0;
    while (p < cycle.pairs &&
           (cycle.dc_table[p] != component.dc_table || cycle.ac_table[p] != component.ac_table))
      ++p;
    if (p == cycle.pairs) {
      cycle.dc_table[p] = component.dc_table;
      cycle.ac_table[p] = component.ac_table;
      ++cycle.pairs;
    }
    cycle.pair[i] = static_cast<std::uint8_t>(p);
  }
  const auto repeats = [&](std::int32_t period) {
    if (layout.blocks_per_mcu % period != 0) return false;
    for (std::int32_t i = period; i < layout.blocks_per_mcu; ++i)
      if (cycle.pair[i] != cycle.pair[i - period]) return false;
    return true;
  };
  cycle.period = 1;
  while (!repeats(cycle.period)) ++cycle.period;
  return cycle;
}

}  // namespace zerorun
