// The encoder's stages one after another on a device, with every intermediate array in memory.
// Tests and benchmarks compare the encoder of the product (cuda/encode/frame_encoder.hpp) with it.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "codec/encode/symbol_histogram.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/span_clock.hpp"
#include "cuda/stages/stages_cuda.hpp"

namespace zerorun {

/// Device arrays of the frame coded last, as the stage contracts describe them.
struct StagedEncodeArrays {
  ConstPlaneView plane[kMaxComponents];
  std::int16_t* zz;                    ///< [blocks][64]
  std::int16_t* diff;                  ///< [blocks]
  Symbol* symbols;                     ///< [block_first_symbol[blocks]]
  std::uint32_t* block_first_symbol;   ///< [blocks + 1]
  HuffmanEncodeTables* tables;         ///< one
  HuffmanSpec* specs;                  ///< [kEncodeTables]
  std::uint32_t* code;                 ///< as many as symbols
  std::uint8_t* code_bits;             ///< as many as symbols
  std::uint8_t* packed;                ///< [interval_first_byte[intervals]]
  std::uint64_t* interval_first_byte;  ///< [intervals + 1]
  std::uint64_t* interval_bits;        ///< [intervals]
  std::uint8_t* scan;                  ///< [*scan_bytes]: the entropy-coded segment
  std::uint64_t* scan_bytes;           ///< one number
};

/// Keeps its memory between frames. The caller orders work on different streams.
class StagedEncoder {
 public:
  /// Enqueues all stages; `frame` is device memory. `probe` may be empty.
  Status enqueue(const EncodeSetup& setup, const ConstFrameView& frame, cudaStream_t stream,
                 const StepProbe& probe = {}) {
    ZR_TRY(check_size(setup.layout));
    ZR_TRY(reserve(setup));
    ZR_TRY(upload_tables(setup, stream));
    Exec exec = cuda_exec(stream, scratch_);
    ZR_TRY(make_planes(setup, frame, exec, probe));
    ZR_TRY(make_symbols(setup, exec, probe));
    ZR_TRY(make_tables(setup, exec, probe));
    ZR_TRY(make_bits(setup, exec, probe));
    return announce(probe, "");
  }

  const StagedEncodeArrays& arrays() const noexcept { return arrays_; }

 private:
  /// Symbols are counted in 32 bits.
  static Status check_size(const ScanLayout& layout) {
    if (layout.blocks() <= std::numeric_limits<std::uint32_t>::max() / kBlockSize)
      return Status::ok();
    return Status(Errc::out_of_memory,
                  "the CUDA backend codes 67 million blocks of a frame at most, this one has " +
                      std::to_string(layout.blocks()));
  }

  Status reserve(const EncodeSetup& setup) {
    const std::int64_t blocks = setup.layout.blocks(), intervals = setup.layout.intervals();
    packed_capacity_ = max_packed_bytes(blocks, intervals);
    scan_capacity_ = max_stuffed_bytes(packed_capacity_, intervals);
    std::int64_t plane_bytes[kMaxComponents] = {};
    if (!setup.planes_are_components)
      for (int c = 0; c < setup.layout.components; ++c) {
        const auto& component = setup.layout.component[c];
        plane_bytes[c] = std::int64_t{plane_stride(component)} * component.height;
      }
    const std::int64_t fitted_bytes = setup.fits_chroma ? plane_bytes[1] : 0;
    return memory_.carve(
        scratch_array(planes_[0], plane_bytes[0]), scratch_array(planes_[1], plane_bytes[1]),
        scratch_array(planes_[2], plane_bytes[2]), scratch_array(fitted_[0], fitted_bytes),
        scratch_array(fitted_[1], fitted_bytes), scratch_array(counts_, 1),
        scratch_array(divisors_, 1), scratch_array(tune_, 1), scratch_array(arrays_.tables, 1),
        scratch_array(arrays_.specs, kEncodeTables), scratch_array(arrays_.zz, blocks * kBlockSize),
        scratch_array(arrays_.diff, blocks), scratch_array(arrays_.symbols, blocks * kBlockSize),
        scratch_array(arrays_.block_first_symbol, blocks + 1),
        scratch_array(arrays_.code, blocks * kBlockSize),
        scratch_array(arrays_.code_bits, blocks * kBlockSize),
        scratch_array(arrays_.packed, packed_capacity_),
        scratch_array(arrays_.interval_first_byte, intervals + 1),
        scratch_array(arrays_.interval_bits, intervals),
        scratch_array(arrays_.scan, scan_capacity_), scratch_array(arrays_.scan_bytes, 1));
  }

  Status upload_tables(const EncodeSetup& setup, cudaStream_t stream) {
    // From pageable memory the call returns when the source has been read.
    constexpr cudaMemcpyKind kUp = cudaMemcpyHostToDevice;
    ZR_CUDA_TRY(cudaMemcpyAsync(divisors_, &setup.divisors, sizeof setup.divisors, kUp, stream));
    ZR_CUDA_TRY(cudaMemcpyAsync(tune_, &setup.tune, sizeof setup.tune, kUp, stream));
    if (setup.huffman != HuffmanTables::optimal)
      ZR_TRY(upload_huffman(*setup.fixed_specs, arrays_.specs, arrays_.tables, stream));
    return Status::ok();
  }

  Status make_planes(const EncodeSetup& setup, const ConstFrameView& frame, Exec& exec,
                     const StepProbe& probe) {
    const ScanLayout& layout = setup.layout;
    if (setup.planes_are_components) {
      for (int c = 0; c < layout.components; ++c) {
        const auto p = static_cast<std::size_t>(c);
        arrays_.plane[c] = {frame.data[p], frame.stride_bytes[p], layout.component[c].width,
                            layout.component[c].height};
      }
      return Status::ok();
    }
    ColorSubsampleArgs args{frame, layout.components, setup.h_max,       setup.v_max, {},
                            0,     frame.height,      setup.shapes_noise};
    for (int c = 0; c < layout.components; ++c) {
      const auto& component = layout.component[c];
      const std::int32_t stride = plane_stride(component);
      args.plane[c] = {planes_[c], stride, stride, component.height};
      arrays_.plane[c] = {planes_[c], stride, stride, component.height};
    }
    ZR_TRY(announce(probe, "color_subsample"));
    ZR_TRY(color_subsample_cuda(args, exec));
    if (!setup.fits_chroma) return Status::ok();
    ZR_TRY(announce(probe, "fit_chroma"));
    FitChromaArgs fit{{}, {}, args.plane[1].width, args.plane[1].height, 0, 1};
    for (int c = 0; c < 2; ++c) {
      fit.from[c] = planes_[c + 1], fit.to[c] = fitted_[c];
      arrays_.plane[c + 1].data = fitted_[c];
    }
    return fit_chroma(fit, stream_of(exec));
  }

  Status make_symbols(const EncodeSetup& setup, Exec& exec, const StepProbe& probe) {
    const ScanLayout& layout = setup.layout;
    ZR_TRY(announce(probe, "fdct_quant"));
    FdctQuantArgs transform{layout, {}, divisors_, 0, layout.mcus(), arrays_.zz, nullptr};
    if (setup.tune.active()) transform.tune = tune_;
    std::copy_n(arrays_.plane, layout.components, transform.plane);
    ZR_TRY(fdct_quant_cuda(transform, exec));
    ZR_TRY(announce(probe, "dc_diff"));
    ZR_TRY(dc_diff_cuda({layout, 0, layout.mcus(), arrays_.zz, arrays_.diff}, exec));
    ZR_TRY(announce(probe, "zero_run"));
    return zero_run_cuda({layout, layout.blocks(), arrays_.zz, arrays_.diff, arrays_.symbols,
                          arrays_.block_first_symbol},
                         exec);
  }

  Status make_tables(const EncodeSetup& setup, Exec& exec, const StepProbe& probe) {
    if (setup.huffman != HuffmanTables::optimal) return Status::ok();
    const std::int64_t blocks = setup.layout.blocks();
    ZR_TRY(announce(probe, "symbol_histogram"));
    ZR_CUDA_TRY(cudaMemsetAsync(counts_, 0, sizeof(SymbolCounts), stream_of(exec)));
    ZR_TRY(symbol_histogram_cuda(
        {arrays_.symbols, arrays_.block_first_symbol + blocks, blocks * kBlockSize, counts_},
        exec));
    ZR_TRY(announce(probe, "optimal_huffman"));
    return optimal_huffman_cuda(counts_, arrays_.specs, arrays_.tables, exec);
  }

  Status make_bits(const EncodeSetup& setup, Exec& exec, const StepProbe& probe) {
    const std::int64_t blocks = setup.layout.blocks(), intervals = setup.layout.intervals();
    ZR_TRY(announce(probe, "huffman_encode"));
    ZR_TRY(
        huffman_encode_cuda({arrays_.symbols, arrays_.block_first_symbol + blocks,
                             blocks * kBlockSize, arrays_.tables, arrays_.code, arrays_.code_bits},
                            exec));
    const std::int64_t interval_blocks = setup.layout.interval_mcus() * setup.layout.blocks_per_mcu;
    ZR_TRY(announce(probe, "bit_pack"));
    ZR_TRY(bit_pack_cuda(
        {blocks, interval_blocks, arrays_.block_first_symbol, arrays_.code, arrays_.code_bits,
         arrays_.packed, packed_capacity_, arrays_.interval_first_byte, arrays_.interval_bits},
        exec));
    ZR_TRY(announce(probe, "byte_stuff"));
    return byte_stuff_cuda({arrays_.packed, arrays_.interval_first_byte, intervals, 0, intervals,
                            arrays_.scan, scan_capacity_, arrays_.scan_bytes},
                           exec);
  }

  Scratch scratch_;  // of the stages
  Scratch memory_;   // of all that follow, in device memory
  std::uint8_t *planes_[kMaxComponents] = {}, *fitted_[2] = {};
  SymbolCounts* counts_ = nullptr;
  DivisorTables* divisors_ = nullptr;
  TuneRules* tune_ = nullptr;
  StagedEncodeArrays arrays_{};
  std::int64_t packed_capacity_ = 0, scan_capacity_ = 0;
};

}  // namespace zerorun
