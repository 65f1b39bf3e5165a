// The coefficients of a whole frame, and the memory that they lie in.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/stored_blocks.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {

/// Keeps its memory from frame to frame: 138 bytes a block.
class StoredFrame {
 public:
  /// Takes the shape of `frame`; all coefficients are 0, and no component has a table.
  void clear(const FrameHeader& frame);
  /// The tables of the scan's components that have none yet: the one at a component's first scan
  /// counts, as in libjpeg.
  void take_tables(const ScanHeader& scan);

  StoredBlocks* blocks() { return blocks_; }
  const StoredBlocks& blocks(std::size_t component) const { return blocks_[component]; }
  const QuantTable& quant(std::size_t component) const { return quant_[component]; }
  void set_quant(std::size_t component, const QuantTable& table) { quant_[component] = table; }

  void copy(std::size_t components, std::vector<ComponentCoefficients>& out) const;

 private:
  struct Memory {
    Buffer<std::int16_t> dc, ac;
    Buffer<std::uint64_t> nonzero;
  };
  StoredBlocks blocks_[kMaxDecodedComponents];
  QuantTable quant_[kMaxDecodedComponents];
  bool has_table_[kMaxDecodedComponents] = {};
  Memory memory_[kMaxDecodedComponents];
};

}  // namespace zerorun
