// Geometry of frames and scans: components, MCUs, blocks and where they lie (T.81 A.1.1, A.2).
// Which scans a progressive frame has, and in which order (G.1.1).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "codec/arith/host_device.hpp"
#include "codec/arith/zigzag.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

/// Most components of frames that are encoded, and of scans that CUDA kernels decode.
inline constexpr int kMaxComponents = 3;
/// Most components of frames that the CPU decodes: CMYK and YCCK have four.
inline constexpr int kMaxDecodedComponents = 4;
inline constexpr int kMaxBlocksPerMcu = 10;  ///< T.81 B.2.3

/// Samples of one component in the memory of the running backend.
template <typename Byte>
struct BasicPlaneView {
  Byte* data = nullptr;
  std::int64_t stride_bytes = 0;
  std::int32_t width = 0;   ///< valid samples in a row
  std::int32_t height = 0;  ///< valid rows
  /// The block of the component whose samples are the first ones.
  std::int32_t block_x = 0, block_y = 0;
  std::int32_t shrink = 0;  ///< a block has 8 >> shrink samples along each side
};
using PlaneView = BasicPlaneView<std::uint8_t>;
using ConstPlaneView = BasicPlaneView<const std::uint8_t>;

/// The layout of a scan is computed from these.
struct ComponentSpec {
  std::int32_t h = 1, v = 1;  ///< Hi, Vi
  std::uint8_t dc_table = 0, ac_table = 0;
};

/// Hmax and Vmax of a frame.
struct MaxFactors {
  std::int32_t h = 1, v = 1;
};
template <typename Components>
constexpr MaxFactors max_factors(const Components& components) {
  MaxFactors max;
  for (const auto& component : components) {
    if (component.h > max.h) max.h = component.h;
    if (component.v > max.v) max.v = component.v;
  }
  return max;
}

/// Samples of a component along one side of an image: ceil(extent * factor / max_factor).
constexpr std::int32_t component_extent(int extent, int factor, int max_factor) {
  return ceil_div(extent * factor, max_factor);
}

/// True if both chroma components of three are stored as `luma` says. Ratios decide, not factors:
/// T.81 A.1.1 defines sizes by Hi/Hmax and Vi/Vmax, and FFmpeg writes 4:2:2 as 2x2, 1x2, 1x2.
template <typename Components>
constexpr bool has_sampling(const Components& components, LumaFactors luma) {
  for (std::size_t c = 1; c < 3; ++c)
    if (components[c].h * luma.h != components[0].h || components[c].v * luma.v != components[0].v)
      return false;
  return true;
}

/// Plain data, passed to kernels by value.
struct ScanLayout {
  struct Component {
    std::int32_t h, v;           ///< blocks in an MCU; 1x1 when the scan has one component
    std::int32_t width, height;  ///< samples (T.81 A.1.1)
    std::int32_t blocks_wide, blocks_high;  ///< blocks that hold samples
    std::uint8_t dc_table, ac_table;        ///< code table destinations
  };
  Component component[kMaxDecodedComponents];
  std::int32_t components;
  std::int32_t mcus_wide, mcus_high;
  std::int32_t blocks_per_mcu;
  std::int32_t restart_interval;  ///< MCUs between two RSTm; 0 = none
  /// For each block of an MCU, in scan order: its component and its place inside the MCU.
  std::uint8_t block_component[kMaxBlocksPerMcu];
  std::uint8_t block_x[kMaxBlocksPerMcu];
  std::uint8_t block_y[kMaxBlocksPerMcu];

  ZR_HD std::int64_t mcus() const { return std::int64_t{mcus_wide} * mcus_high; }
  ZR_HD std::int64_t blocks() const { return mcus() * blocks_per_mcu; }
  ZR_HD std::int64_t interval_mcus() const {
    return restart_interval == 0 ? mcus() : std::int64_t{restart_interval};
  }
  ZR_HD std::int64_t intervals() const { return ceil_div(mcus(), interval_mcus()); }
};

template <typename View>
auto plane_row(const View& plane, int y) {
  return plane.data + y * plane.stride_bytes;
}

/// Where a block lies in its component.
struct BlockPlace {
  std::int32_t component;
  std::int32_t x, y;  ///< in blocks
  bool inside;        ///< false: MCU padding, holds no sample
};

/// `mcu` and `index` are in scan order; index < blocks_per_mcu.
ZR_HD BlockPlace place_block(const ScanLayout& layout, std::int64_t mcu, std::int32_t index) {
  const std::int32_t c = layout.block_component[index];
  const ScanLayout::Component& component = layout.component[c];
  const auto mcu_y = static_cast<std::int32_t>(mcu / layout.mcus_wide);
  const auto mcu_x = static_cast<std::int32_t>(mcu % layout.mcus_wide);
  const std::int32_t x = mcu_x * component.h + layout.block_x[index];
  const std::int32_t y = mcu_y * component.v + layout.block_y[index];
  return {c, x, y, x < component.blocks_wide && y < component.blocks_high};
}

/// The block of the same component that precedes `index` in scan order: its index inside its MCU,
/// and whether that is the MCU before (`wraps`).
struct PreviousBlock {
  std::int32_t index;
  bool wraps;
};
ZR_HD PreviousBlock previous_block(const ScanLayout& layout, std::int32_t index) {
  const std::int32_t c = layout.block_component[index];
  // The blocks of a component stand together in an MCU.
  if (index > 0 && layout.block_component[index - 1] == c) return {index - 1, false};
  const ScanLayout::Component& component = layout.component[c];
  return {index + component.h * component.v - 1, true};
}

/// `scan_components` are the indices of the scan's components in the frame, in scan order.
/// Preconditions (checked by the header parser): factors 1..4, at most 10 blocks an MCU.
ScanLayout make_scan_layout(int width, int height, const ComponentSpec* frame_components,
                            int frame_component_count, const int* scan_components,
                            int scan_component_count, int restart_interval);

/// The coefficients of one component; blocks that hold samples, in rows. DC and AC lie apart, so
/// that a scan of DC reads nothing else, and that a block without AC costs 10 bytes.
struct StoredBlocks {
  std::int32_t blocks_wide = 0, blocks_high = 0;
  std::int16_t* dc = nullptr;  ///< [blocks_high][blocks_wide]
  /// [blocks_high][blocks_wide]; bit k: the coefficient at zig-zag index k is not 0. Bit 0 is 0.
  std::uint64_t* nonzero = nullptr;
  /// [blocks_high][blocks_wide][64], natural order. Undefined where `nonzero` is 0; [0] is 0.
  std::int16_t* ac = nullptr;

  /// The block with its DC.
  void copy_block(std::int64_t block, std::int16_t* out) const {
    if (nonzero[block] == 0)
      std::memset(out, 0, kBlockSize * sizeof *out);
    else
      std::memcpy(out, ac + block * kBlockSize, kBlockSize * sizeof *out);
    out[0] = dc[block];
  }
  void set_block(std::int64_t block, const std::int16_t* in) const {
    std::uint64_t mask = 0;
    for (std::size_t k = 1; k < kBlockSize; ++k)
      mask |= static_cast<std::uint64_t>(in[kNaturalOfZigzag[k]] != 0) << k;
    dc[block] = in[0];
    nonzero[block] = mask;
    if (mask == 0) return;
    std::memcpy(ac + block * kBlockSize, in, kBlockSize * sizeof *in);
    ac[block * kBlockSize] = 0;
  }
};

/// Stores a block of an MCU of all components, if it holds samples. `zz`: in zig-zag order, with
/// the DC first; `nonzero` as in StoredBlocks; `blocks`: one a component, whose AC stay in that
/// order.
inline void store_block(const ScanLayout& layout, std::int64_t mcu, std::int32_t index,
                        const std::int16_t* zz, std::uint64_t nonzero, const StoredBlocks* blocks) {
  const BlockPlace place = place_block(layout, mcu, index);
  if (!place.inside) return;
  const StoredBlocks& to = blocks[place.component];
  const std::int64_t block = std::int64_t{place.y} * to.blocks_wide + place.x;
  to.dc[block] = zz[0];
  to.nonzero[block] = nonzero & ~std::uint64_t{1};
  if (nonzero > 1) std::memcpy(to.ac + block * kBlockSize, zz, kBlockSize * sizeof *zz);
}

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
