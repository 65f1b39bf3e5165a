// The order of the decoder's stages, as one backend runs them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/syntax/header_parser.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {

class ScanSymbols;
class StoredFrame;
struct RecodedScan;
struct StageTable;

/// The result of decoding one scan.
struct ScanOutcome {
  std::uint64_t consumed_bytes = 0;  ///< up to the marker that ends it
  std::int64_t intervals = 0;
  std::int64_t concealed_intervals = 0;
  bool on_cpu = false;  ///< counts in DecodeReport::cpu_scans
  /// The first damage or oddity; its offset counts from the scan's first byte. ok: none.
  Status problem;
};

/// A scan. `data` ends where a marker ends it.
struct FrameScan {
  ScanHeader header;
  std::span<const std::uint8_t> data;
};

/// One image: begin_*(), decode_scan() for each scan in order, then one finish_*(). In the place of
/// decode_scan() a progressive frame has one decode_progressive() with all scans.
class DecodePipeline {
 public:
  virtual ~DecodePipeline() = default;

  /// Output of samples. `frame` is the image's header, or the window of an ImagePart. `direct`, if
  /// not null, is a host frame whose planes are the component planes, so samples may be written
  /// there. `luma_only`: only component 0 is wanted.
  virtual Status begin_planes(const FrameHeader& frame, const FrameView* direct,
                              bool luma_only) = 0;
  /// What finish_frame() will be asked for; after begin_planes(). A pipeline may make it with the
  /// last scan.
  virtual void expect_frame(ColorModel /*model*/, ChromaUpsampling /*upsampling*/,
                            const FrameView& /*out*/) {}
  /// Output of coefficients into `out`, which the caller has cleared.
  virtual Status begin_coefficients(StoredFrame& out) = 0;

  virtual Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                             ScanOutcome& outcome) = 0;

  /// `frame` is the image's header. `outcomes` has one entry a scan. Errors: progressive, of a
  /// pipeline without it.
  virtual Status decode_progressive(const FrameHeader& /*frame*/,
                                    std::span<const FrameScan> /*scans*/,
                                    std::span<ScanOutcome> /*outcomes*/) {
    return Status(Errc::progressive);
  }

  /// In place of all that: the symbols of a sequential frame with one scan, for the code tables
  /// that the coder gives components of this model. False: its coefficients have to be decoded,
  /// which finds out what is wrong.
  virtual bool read_symbols(const FrameHeader& /*frame*/, std::span<const FrameScan> /*scans*/,
                            ColorModel /*color*/, ScanSymbols& /*out*/) {
    return false;
  }
  /// The same symbols, coded with tables of their own. False: read_symbols() has to try.
  virtual Result<bool> recode_scan(const FrameHeader& /*frame*/,
                                   std::span<const FrameScan> /*scans*/, ColorModel /*color*/,
                                   RecodedScan& /*out*/) {
    return false;
  }

  /// Components that no scan contains are 128 (coefficients 0).
  virtual Status finish_frame(ColorModel model, ChromaUpsampling upsampling,
                              const FrameView& out) = 0;
  virtual Status finish_planes(std::vector<ComponentPlane>& out) = 0;
  virtual Status finish_coefficients() = 0;
};

/// `stages` outlives the pipeline; tests and benchmarks pass tables that observe the calls.
std::unique_ptr<DecodePipeline> make_cpu_decode_pipeline(int threads, const StageTable& stages);

/// As make_cuda_encode_pipeline().
Result<std::unique_ptr<DecodePipeline>> make_cuda_decode_pipeline(int device, int threads);
/// The same, with recode_scan().
Result<std::unique_ptr<DecodePipeline>> make_cuda_recode_pipeline(int device, int threads);

}  // namespace zerorun
