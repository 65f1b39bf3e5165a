// The order of the encoder's stages, as one backend runs them.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "codec/arith/size_search.hpp"
#include "codec/arith/tune.hpp"
#include "codec/encode/fdct_quant.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "codec/syntax/header_writer.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "codec/syntax/tables.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun {

struct StageTable;

/// All that follows from frame size, format and parameters alone.
struct EncodeSetup {
  PixelFormat format;
  int width, height;
  int h_max, v_max;
  ScanLayout layout;
  std::array<QuantTable, 2> quant;
  DivisorTables divisors;
  TuneRules tune;         ///< not active where the bytes are libjpeg's
  SizeSetting setting;    ///< what tables and rules were made for
  HuffmanTables huffman;  ///< optimal where the stream is progressive
  bool progressive;
  int restart_rows;  ///< of a progressive stream: as CoefficientCoding
  /// Where huffman is not optimal: its tables, which outlive all coders. The same tables have the
  /// same address.
  const std::array<HuffmanSpec, 4>* fixed_specs;
  /// The frame's planes are the component planes: no color_subsample.
  bool planes_are_components;
  /// Chroma that color_subsample made is fitted to a decoder's up-sampling: fit_chroma_rows().
  bool fits_chroma;
  bool shapes_noise;  ///< as ColorSubsampleArgs
};

/// How a picture was coded to a size. Plain data.
struct SizedCoding {
  SizeSetting setting;
  std::uint64_t bytes;  ///< of the stream; where none is so small, of the smallest
  std::int32_t codings;
  std::uint32_t is_reached;  ///< 0: there is no stream
};

/// Codes frames to entropy-coded segments. The getters are about the last frame.
class EncodePipeline {
 public:
  virtual ~EncodePipeline() = default;

  /// Codes the frame; `specs` returns its tables. If the setup is progressive, the scan is all
  /// between SOF and EOI: CoefficientCoder::code_scans(), searched; and there are no `specs`.
  virtual Status encode_scan(const EncodeSetup& setup, const ConstFrameView& frame,
                             std::array<HuffmanSpec, 4>& specs) = 0;
  /// The same for a picture in the memory of the pipeline's device; the setup is that of a yuv420p
  /// frame. Errors: invalid_argument (the pipeline is the CPU's).
  virtual Status encode_surface(const EncodeSetup& /*setup*/, const DeviceSurface& /*surface*/,
                                std::array<HuffmanSpec, 4>& /*specs*/) {
    return refused();
  }
  /// Codes the frame of the last encode_scan(), which must not have changed, with a setup that
  /// differs from the last one in nothing but tables and rules.
  virtual Status encode_again(const EncodeSetup& setup, const ConstFrameView& frame,
                              std::array<HuffmanSpec, 4>& specs) {
    return encode_scan(setup, frame, specs);
  }
  /// True if the pipeline brings a picture to a size by itself, which the next two do.
  virtual bool reaches_sizes(const EncodeSetup& /*setup*/) const { return false; }
  /// Codes the frame to params.size, which is in bytes. The stream as a whole, from SOI to EOI,
  /// then is what scan_bytes() and copy_scan() are about. From call to call `params` differ in size
  /// and quality alone. Errors: invalid_argument (it does not reach sizes).
  virtual Result<SizedCoding> encode_to_size(const EncodeParams& /*params*/,
                                             const EncodeSetup& /*setup*/,
                                             const ConstFrameView& /*frame*/) {
    return refused();
  }
  virtual Result<SizedCoding> encode_to_size(const EncodeParams& /*params*/,
                                             const EncodeSetup& /*setup*/,
                                             const DeviceSurface& /*surface*/) {
    return refused();
  }
  /// Counts what the scan of the frame would consist of. `is_again`: the frame is that of the last
  /// call, which must not have changed, and the setup differs as for encode_again(). The getters
  /// are then about no frame.
  virtual Status count_symbols(const EncodeSetup& setup, const ConstFrameView& frame, bool is_again,
                               SymbolCounts& counts) = 0;
  virtual std::uint64_t scan_bytes() const = 0;
  /// Device time for the coding, without copies of frame and bytes; 0 on the CPU.
  virtual double device_microseconds() const { return 0.0; }
  virtual Status copy_scan(std::byte* out) const = 0;

 private:
  static Status refused() {
    return Status(Errc::invalid_argument, "the CPU backend cannot code pictures in device memory");
  }
};

/// `stages` outlives the pipeline; tests and benchmarks pass tables that observe the calls.
std::unique_ptr<EncodePipeline> make_cpu_encode_pipeline(int threads, const StageTable& stages);

/// The pipeline of the CUDA backend, defined in cuda/. Precondition: cuda_backend_devices() lists
/// `device` as usable. `threads` copy pageable frames: 0 = as many as helps. Errors: out_of_memory,
/// device_failure.
Result<std::unique_ptr<EncodePipeline>> make_cuda_encode_pipeline(int device, int threads);

// Parameters and the shape of a frame -> its setup.

/// Errors: invalid_argument.
Status validate_quality(int quality);

/// Errors: invalid_argument (a size does not go with own tables, targets of quality are out of
/// range or do not go with a size).
Status validate_size(const EncodeParams& params);

/// Range checks of everything that does not depend on a frame.
Status validate_params(const EncodeParams& params);

/// Errors: invalid_argument (restart rows of more than 65535 MCUs, an index too large for
/// decoders), invalid_frame.
Result<EncodeSetup> make_encode_setup(const EncodeParams& params, PixelFormat format, int width,
                                      int height);

/// The same for another setting than that of params.quality. `setup` is of the same parameters and
/// shape.
void change_setting(const EncodeParams& params, const SizeSetting& setting, EncodeSetup& setup);

/// The input of write_header(); it refers to `params`.
StreamHeader make_stream_header(const EncodeParams& params, const EncodeSetup& setup,
                                const std::array<HuffmanSpec, 4>& specs);

/// `params.tables`, or what `automatic` stands for.
QuantTables resolve_tables(const EncodeParams& params);

/// For Tune::exact only with thrift: without it no coefficient is decided.
ThriftWeights thrift_weights(Tune tune, Effort effort, bool is_420);

/// `quant`: luma and chroma, natural order. 4:2:0 has weights of its own.
TuneRules make_tune_rules(const EncodeParams& params, bool is_420,
                          const std::array<QuantTable, 2>& quant, int thrift = 0);

}  // namespace zerorun
