// The order of the encoder's stages, as one backend runs them.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "codec/encode/fdct_quant.hpp"
#include "codec/syntax/huffman_spec.hpp"
#include "codec/syntax/scan_index.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

struct StageTable;

/// What frame size, format and parameters decide, before a sample is looked at.
struct EncodeSetup {
  PixelFormat format;
  int width, height;
  int h_max, v_max;
  ScanLayout layout;
  std::array<QuantTable, 2> quant;
  DivisorTables divisors;
  HuffmanTables huffman;
  int index_group_mcus;  ///< MCUs of a group of the scan index; 0: there is none
  /// The frame's planes are the component planes: stage 1 has nothing to do.
  bool planes_are_components;
};

/// The entropy-coded segment of one frame, from the frame.
class EncodePipeline {
 public:
  virtual ~EncodePipeline() = default;

  /// Codes the frame; `specs` are the tables that it used.
  virtual Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                             std::array<HuffmanSpec, 4>& specs) = 0;
  /// Of the frame coded last.
  virtual std::uint64_t scan_bytes() const = 0;
  /// What a device took for the coding, without moving frame and bytes; 0 where none was used.
  virtual double device_microseconds() const { return 0.0; }
  virtual Status copy_scan(std::byte* out) const = 0;
  /// Of the frame coded last; empty where the setup asks for no index.
  virtual std::span<const IndexEntry> index() const = 0;
};

/// `stages` outlives the pipeline; another table than cpu_stages() looks at the calls.
std::unique_ptr<EncodePipeline> make_cpu_encode_pipeline(int threads, const StageTable& stages);

}  // namespace zerorun
