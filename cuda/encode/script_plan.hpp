// How the scans among which a progressive frame chooses are cut for kernels that take all of them
// at once: the tiles of one scan follow those of the scan before.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/arith/zigzag.hpp"
#include "codec/syntax/header_bytes.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "cuda/encode/tile_grid.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Of a stream: DC of each component, two scans of AC, and refinements.
inline constexpr int kMaxScans = kMaxComponents * (3 + kMaxLowBits);
/// Huffman tables of a scan: one of AC, or one or two of DC.
inline constexpr int kScanTables = 2;
/// Tiles of a CTA, a warp each. A CTA has tiles of one scan.
inline constexpr int kScanWarps = 8;

/// One block of an MCU of the scan.
struct McuBlock {
  std::uint8_t component;    ///< of the frame
  std::uint8_t of_scan;      ///< the component's number in the scan
  std::uint8_t x, y;         ///< in the MCU
  std::uint8_t slot;         ///< of its DC table among those of the scan
  std::uint8_t predecessor;  ///< the component's block before it, which if `wraps` is 1 lies
  std::uint8_t wraps;        ///< in the MCU before
};

/// What kernels know about a scan. Plain data in device memory.
struct CodedScan {
  TileGrid grid;
  std::uint8_t ss, se, ah, al;
  std::uint8_t components;
  std::uint8_t tables;  ///< that it has: 0 if it refines DC
  std::uint8_t destination[kScanTables];
  McuBlock block[kMaxBlocksPerMcu];
  std::uint8_t h[kMaxComponents], v[kMaxComponents];  ///< by number in the scan
  std::uint8_t job, in_job;                           ///< where it is counted: see CountJob
  std::uint32_t first_tile, first_chunk, ctas;
  std::uint32_t restart_interval;
  std::uint32_t sos_at, sos_bytes;  ///< its SOS segment in ScriptPlan::parts

  ZR_HD bool is_dc() const { return ss == 0; }
  ZR_HD bool is_refinement() const { return ah > 0; }
  /// The coefficients of the scan, by zig-zag index.
  ZR_HD std::uint64_t band() const {
    return (~std::uint64_t{0} >> (63 - se)) & (~std::uint64_t{0} << ss);
  }
};

/// Scans that are counted together: all first scans of the AC of a component with one Al, or a
/// single scan. Their tiles have the same blocks.
struct CountJob {
  static constexpr int kBands = 1 + 2 * kAcCutCount;
  std::uint8_t scan[kBands];  ///< all of AC; up to each cut; from each cut on
  std::uint8_t scans;
};
inline constexpr int kMaxJobs = kMaxComponents * (2 + 2 * kMaxLowBits) + 2;

/// What a job counts: symbols by row. Of several first scans, rows 0 and on have the symbols of the
/// coefficients up to each cut and of those behind the last one, as all of AC has them; then come
/// rows of how the symbols of a scan from a cut on differ; the last row has 16 kinds of EOBn for
/// each scan. Else a row is a Huffman table of the scan.
struct JobCounts {
  static constexpr int kSegments = kAcCutCount + 1;
  static constexpr int kEndsRow = 2 * kSegments - 1;
  std::uint32_t row[kEndsRow + 1][256];
};
static_assert(CountJob::kBands * 16 <= 256);

/// Where the coefficients of a component lie.
struct StoredComponent {
  std::uint32_t first;  ///< its first block, among those of all components
  std::uint32_t blocks_wide, blocks_high;
};

/// Numbers of the candidates among which choose_scans() chooses.
struct ScanChoices {
  struct OfComponent {
    std::uint8_t dc;
    std::uint8_t low[kMaxLowBits + 1][kAcCutCount + 1];   ///< all, or up to a cut
    std::uint8_t high[kMaxLowBits + 1][kAcCutCount + 1];  ///< not [0]
    std::uint8_t refining[kMaxLowBits + 1];  ///< from Ah = Al + 1 on; not of kMaxLowBits
  };
  OfComponent component[kMaxComponents];
  std::uint8_t all_dc, chroma_dc;  ///< kNoScan: there is none
  std::uint8_t components;
  static constexpr std::uint8_t kNoScan = 0xFF;
};

/// Finds them among candidate_scans().
inline ScanChoices find_choices(int components, const ScanScript& candidates);

/// The scans of a frame in the order of the stream. Plain data in device memory.
struct ScanOrder {
  std::uint32_t scans;
  std::uint8_t scan[kMaxScans];  ///< numbers of ScanPlans
  struct Choice {
    std::uint8_t al, cut;
  };
  Choice choice[kMaxComponents];  ///< what choose_order() found best
};

/// What choose_scans() chooses of all candidates, of which each takes `bits`.
ZR_HD void choose_order(const ScanChoices& choices, const std::uint64_t* bits, ScanOrder& order);

/// All candidates, for frames of one shape.
struct ScriptPlan {
  std::vector<CodedScan> scans;
  std::vector<CountJob> jobs;
  std::vector<std::uint8_t> parts;  ///< SOI to SOF, `head_bytes`; then all SOS segments
  std::uint32_t head_bytes;
  StoredComponent component[kMaxComponents];
  std::uint32_t blocks;  ///< of all components that hold samples
  std::uint32_t levels;  ///< scans of AC begin with bits below this
  // Of all scans, of all jobs, and of the scans that one stream has at most.
  std::uint32_t tiles, chunks, job_ctas, stream_ctas, stream_chunks;
  std::uint64_t words;                    ///< that the bits of its tiles take at most
  std::uint32_t first_cta[kMaxJobs + 1];  ///< of the jobs
  std::uint32_t header_room;              ///< for the headers of a stream
  ScanChoices choices;
};

/// The shape of frames.
struct ScriptShape {
  int width, height, components;
  MaxFactors luma;
  int restart_interval, restart_rows;  ///< as in CoefficientCoding
};

/// `head`: SOI to SOF. Errors: invalid_argument (an interval of more than 65535 MCUs).
Status make_script_plan(const ScriptShape& shape, std::span<const std::uint8_t> head,
                        ScriptPlan& plan);

// Implementation.

inline ScanChoices find_choices(int components, const ScanScript& candidates) {
  const auto number = [&](int component, int count, int ss, int se, int ah, int al) {
    ScanSpec spec;
    spec.components = static_cast<std::uint8_t>(count);
    for (int i = 0; i < count; ++i) spec.component[i] = static_cast<std::uint8_t>(component + i);
    spec.ss = static_cast<std::uint8_t>(ss), spec.se = static_cast<std::uint8_t>(se);
    spec.ah = static_cast<std::uint8_t>(ah), spec.al = static_cast<std::uint8_t>(al);
    const auto at = std::find(candidates.begin(), candidates.end(), spec);
    return at == candidates.end() ? ScanChoices::kNoScan
                                  : static_cast<std::uint8_t>(at - candidates.begin());
  };
  constexpr int kLast = kBlockSize - 1;
  ScanChoices choices{};
  choices.components = static_cast<std::uint8_t>(components);
  for (int c = 0; c < components; ++c) {
    ScanChoices::OfComponent& of = choices.component[c];
    of.dc = number(c, 1, 0, 0, 0, 0);
    for (int al = 0; al <= kMaxLowBits; ++al) {
      for (int cut = 0; cut <= kAcCutCount; ++cut) {
        const int last = cut > 0 ? kAcCuts[cut - 1] : 0;
        of.low[al][cut] = number(c, 1, 1, last > 0 ? last : kLast, 0, al);
        of.high[al][cut] = number(c, 1, last + 1, kLast, 0, al);
      }
      of.refining[al] = number(c, 1, 1, kLast, al + 1, al);
    }
  }
  choices.all_dc = components > 1 ? number(0, components, 0, 0, 0, 0) : ScanChoices::kNoScan;
  choices.chroma_dc = components > 2 ? number(1, components - 1, 0, 0, 0, 0) : ScanChoices::kNoScan;
  return choices;
}

ZR_HD void choose_order(const ScanChoices& choices, const std::uint64_t* bits, ScanOrder& order) {
  constexpr std::uint8_t kNone = ScanChoices::kNoScan;
  const int components = choices.components;
  std::uint32_t& count = order.scans;
  count = 0;
  // DC: alone, with luma alone, or all together.
  std::uint64_t alone = 0;
  for (int c = 0; c < components; ++c) alone += bits[choices.component[c].dc];
  std::uint64_t least = alone;
  int way = 0;
  if (choices.chroma_dc != kNone) {
    const std::uint64_t sum = bits[choices.component[0].dc] + bits[choices.chroma_dc];
    if (sum < least) least = sum, way = 1;
  }
  if (choices.all_dc != kNone && bits[choices.all_dc] < least) way = 2;
  if (way == 2) {
    order.scan[count++] = choices.all_dc;
  } else {
    order.scan[count++] = choices.component[0].dc;
    if (way == 1) order.scan[count++] = choices.chroma_dc;
    for (int c = 1; way == 0 && c < components; ++c) order.scan[count++] = choices.component[c].dc;
  }
  for (int c = 0; c < components; ++c) {
    const ScanChoices::OfComponent& of = choices.component[c];
    ScanOrder::Choice& choice = order.choice[c];
    std::uint64_t best = ~std::uint64_t{0}, refinements = 0;
    for (int al = 0; al <= kMaxLowBits; ++al) {
      if (al > 0) refinements += bits[of.refining[al - 1]];
      for (int cut = 0; cut <= kAcCutCount; ++cut) {
        std::uint64_t all = refinements + bits[of.low[al][cut]];
        if (cut > 0) all += bits[of.high[al][cut]];
        if (all >= best) continue;
        best = all;
        choice = {static_cast<std::uint8_t>(al), static_cast<std::uint8_t>(cut)};
      }
    }
    order.scan[count++] = of.low[choice.al][choice.cut];
  }
  for (int c = components; c-- > 0;) {
    const ScanOrder::Choice& choice = order.choice[c];
    if (choice.cut != 0) order.scan[count++] = choices.component[c].high[choice.al][choice.cut];
  }
  for (int al = kMaxLowBits; al-- > 0;)
    for (int c = components; c-- > 0;)
      if (order.choice[c].al > al) order.scan[count++] = choices.component[c].refining[al];
}

}  // namespace zerorun
