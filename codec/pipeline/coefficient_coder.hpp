// The quantised coefficients of a whole frame: their memory, and their coding to a JPEG stream,
// sequential with optimal tables or progressive. The second half of the encoder, and of everything
// that codes a stream again. Turning, mirroring and cutting a picture by moving its blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/decode/scan_symbols.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "codec/syntax/tables.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/status.hpp"
#include "zerorun/transcoder.hpp"

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

/// libjpeg's jpeg_set_colorspace(): which components have the tables of chroma.
std::uint8_t table_of(ColorModel color, int component);

/// A sequential scan that a device has coded.
struct RecodedScan {
  std::array<HuffmanSpec, kEncodeTables> specs;
  std::span<const std::uint8_t> bytes;  ///< valid until the next scan
};

/// A frame as its coefficients. The memory is the caller's.
struct CoefficientFrame {
  /// Size, components with ids, factors and table numbers. `progressive` and `extended` do not
  /// count: the coding decides. Components with other tables than their number has already get
  /// another number.
  const FrameHeader* frame = nullptr;
  ColorModel color = ColorModel::ycbcr;  ///< decides which components share Huffman tables
  /// Not null, where one sequential scan is coded: its symbols, and no blocks.
  const ScanSymbols* symbols = nullptr;
  /// Likewise; the caller puts the scan in front of EOI.
  const RecodedScan* recoded = nullptr;
  /// One a component of the frame.
  StoredBlocks blocks[kMaxDecodedComponents];
  bool is_zigzag = false;  ///< the order of StoredBlocks::ac is that of zig-zag indices
  QuantTable quant[kMaxDecodedComponents];
};

/// How the coefficients are coded.
struct CoefficientCoding {
  enum class Scans : std::uint8_t {
    sequential,  ///< one interleaved scan; optimal tables
    searched,    ///< progressive, the script that takes the fewest bits of those tried
    given,       ///< progressive, `script`
  };
  Scans scans = Scans::sequential;
  int restart_interval = 0;  ///< MCUs of each scan; 0: no markers
  int restart_rows = 0;      ///< above 0, instead: rows of MCUs of each scan
  ScanScript script = {};    ///< no scan has an MCU of more than 10 blocks
};

/// Keeps its memory from frame to frame.
class CoefficientCoder {
 public:
  CoefficientCoder();
  ~CoefficientCoder();

  /// Appends DQT, SOF, DHT, DRI, scans and EOI to `out`, which has SOI and the segments before.
  /// `pool`: null for the caller's thread alone. The bytes do not depend on the pool. Errors:
  /// invalid_argument (a coefficient or a difference of DCs has more than 15 bits, DRI holds no
  /// `restart_rows` of a scan).
  Status code(const CoefficientFrame& frame, const CoefficientCoding& coding, ThreadPool* pool,
              std::vector<std::uint8_t>& out);

  /// DHT, DRI and scans alone: what stands between SOF and EOI.
  Status code_scans(const CoefficientFrame& frame, const CoefficientCoding& coding,
                    ThreadPool* pool, std::vector<std::uint8_t>& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a LosslessTransform does to one frame.
struct TransformPlan {
  FrameHeader frame;  ///< of the new picture
  /// The blocks are first transposed, then mirrored.
  bool transposes = false, mirrors_x = false, mirrors_y = false;
  /// MCUs of the new frame: where it begins in the turned picture, and how many whole ones that
  /// has. Blocks behind the whole ones are not mirrored.
  std::int32_t first_x = 0, first_y = 0, whole_x = 0, whole_y = 0;
  bool moves_blocks = false;  ///< false: every block that is kept stays where it is
};

/// `orientation` is EXIF's. Errors: invalid_argument (crop, edges), pixel_format (gray).
Result<TransformPlan> plan_transform(const FrameHeader& frame, ColorModel model,
                                     const LosslessTransform& transform, int orientation);

/// `from` has the frame of the plan's source; `to` gets that of the plan.
void transform_blocks(const TransformPlan& plan, const StoredFrame& from, ThreadPool& pool,
                      StoredFrame& to);

}  // namespace zerorun
