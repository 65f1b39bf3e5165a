// The scans of a frame (T.81 F.1.2, G.1.2): coefficients -> symbols that are counted, or bytes. Of
// libjpeg's script the bytes are libjpeg's; test: CoefficientCoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "codec/base/buffer.hpp"
#include "codec/encode/bit_pack.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// The blocks of a component as scans read them: AC coefficients other than 0 stand side by side,
/// so that many scans can be tried within the caches.
struct PackedBlocks {
  std::int32_t blocks_wide = 0, blocks_high = 0;
  const std::int16_t* dc = nullptr;
  /// [al][block]: bit k: the coefficient at zig-zag index k has a magnitude of 2^al or more.
  const std::uint64_t* at_least[kMaxLowBits + 1] = {};
  const std::uint32_t* first = nullptr;  ///< [block]: index of its first one in `value`
  const std::int16_t* value = nullptr;   ///< in zig-zag order
};

/// Keeps its memory from frame to frame.
class BlockPacker {
 public:
  /// `order[k]`: where StoredBlocks::ac has zig-zag index k. Returns false if a magnitude has 16
  /// bits. `blocks` outlive the packed ones.
  bool pack(const StoredBlocks& blocks, const std::uint8_t* order);
  const PackedBlocks& packed() const { return packed_; }

 private:
  PackedBlocks packed_;
  Buffer<std::uint64_t> at_least_[kMaxLowBits];
  Buffer<std::uint32_t> first_;
  Buffer<std::int16_t> value_;
};

/// A scan of a progressive frame, or with ss 0 and se 63 that of a sequential frame.
struct ScanCoding {
  ScanSpec spec;
  ScanLayout layout;  ///< with restart interval and tables
  const PackedBlocks* component[kMaxDecodedComponents];
  /// Not null, of a sequential scan with all components: its symbols are sent in place of blocks.
  const Symbol* symbols = nullptr;
  const std::uint64_t* interval_end = nullptr;  ///< of each interval: one behind its last symbol

  bool is_sequential() const { return spec.ss == 0 && spec.se > 0; }
  bool has_dc_tables() const { return spec.is_dc() && !spec.is_refinement(); }
  bool has_ac_tables() const { return spec.se > 0; }
};

/// By class * 2 + destination; and the bits beside the codewords.
struct ScanCounts {
  std::uint32_t count[kEncodeTables][256];
  std::uint64_t extra_bits;
};

void count_scan(const ScanCoding& scan, ScanCounts& counts);

/// As count_scan() for each, in one pass over the blocks: first scans of a component's AC that
/// differ in their bands alone; test: CoefficientCoder.
void count_first_scans(std::span<const ScanCoding> scans, ScanCounts* counts);

/// Writes the entropy-coded segments with stuffing and RSTm. `bits`: of all codewords and those
/// beside them. Returns the bytes.
std::uint64_t code_scan(const ScanCoding& scan, const HuffmanEncodeTables& tables,
                        std::uint64_t bits, Buffer<std::uint8_t>& out);

/// The most bits of a block in all scans of a script with cuts of AC in two, before stuffing: a
/// coefficient is sent by 26 bits, or later by 17 and corrected by 3; in each of three refinements
/// 3 ZRL of 16 bits; and EOBn of 30 bits in five scans.
inline constexpr int kMaxProgressiveBlockBits =
    kMaxBlockBits + kMaxLowBits * (63 + 3 * 16) + (2 + kMaxLowBits) * 30;

}  // namespace zerorun
