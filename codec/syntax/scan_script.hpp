// Which scans a progressive frame has, and in which order (T.81 G.1.1).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// One scan: bits `al` and above, or with `ah` above 0 bit `al` alone, of the coefficients at
/// zig-zag indices `ss` to `se`. A scan of AC has one component (T.81 G.1.1.1.1).
struct ScanSpec {
  std::uint8_t components = 0;
  std::uint8_t component[kMaxDecodedComponents] = {};  ///< indices of the frame, rising
  std::uint8_t ss = 0, se = 0;
  std::uint8_t ah = 0, al = 0;

  bool is_dc() const { return ss == 0; }
  bool is_refinement() const { return ah > 0; }
  friend bool operator==(const ScanSpec&, const ScanSpec&) = default;
};

/// No scan of a script has a higher Al.
inline constexpr int kMaxLowBits = 3;

using ScanScript = std::vector<ScanSpec>;

/// Where a script may cut a component's AC in two: behind one of these indices, or not at all.
inline constexpr int kAcCuts[] = {2, 5, 8, 12, 18};
inline constexpr int kAcCutCount = 5;

/// The scans of which choose_scans() makes a script: each is counted once, on any device. First
/// scans of a component's AC with one Al stand together. `joins_dc`: several components may share a
/// scan (their MCU has at most 10 blocks).
std::vector<ScanSpec> candidate_scans(int components, bool joins_dc);

/// The script with the fewest bits. `bits`: of each candidate, by scan_bits().
ScanScript choose_scans(int components, bool joins_dc, std::span<const ScanSpec> candidates,
                        std::span<const std::uint64_t> bits);

/// What a scan takes in a stream, with its headers, before stuffing: `counts` of the symbols of
/// each table that it has, `extra` bits beside the codes.
std::uint64_t scan_bits(const ScanSpec& scan,
                        std::span<const std::span<const std::uint32_t, 256>> counts,
                        std::uint64_t extra);

}  // namespace zerorun
