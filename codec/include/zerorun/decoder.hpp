// The decoder: baseline and extended-sequential 8-bit Huffman JPEG, 1 or 3 components.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/export.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"
#include "zerorun/stream_info.hpp"

namespace zerorun {

enum class ChromaUpsampling : std::uint8_t {
  fancy,    ///< libjpeg's triangle filter, as djpeg does by default
  nearest,  ///< repetition, as djpeg -nosmooth
};

struct DecodeParams {
  ChromaUpsampling upsampling = ChromaUpsampling::fancy;
  /// Damage, a missing EOI or bytes that do not belong become errors instead of a report.
  bool strict = false;
  StreamLimits limits;
  Backend backend = Backend::automatic;
  int device = 0;   ///< CUDA device index
  int threads = 0;  ///< CPU threads for one image; 0 = one per core
};

/// What one call found.
struct DecodeReport {
  std::size_t bytes_consumed = 0;        ///< to the end of EOI; the next image starts here or later
  std::int64_t intervals = 0;            ///< restart intervals (one per scan without DRI)
  std::int64_t concealed_intervals = 0;  ///< damaged ones: previous DC and no AC from the damage on
  /// Scans that the CUDA backend decoded stage by stage, which is slower: damaged ones, those with
  /// values that no encoder makes, large pictures of noise without restart markers, and all of
  /// decode_coefficients().
  int staged_scans = 0;
  Status first_problem;  ///< the first damage or oddity in stream order; ok if there was none
  bool is_concealed() const noexcept { return concealed_intervals > 0; }
};

/// One component's samples as the stream stores them.
struct ComponentPlane {
  int width = 0, height = 0;          ///< samples: ceil(X Hi / Hmax) x ceil(Y Vi / Vmax)
  std::vector<std::uint8_t> samples;  ///< [height][width]
};

/// One component's quantised coefficients.
struct ComponentCoefficients {
  int blocks_wide = 0, blocks_high = 0;  ///< blocks that hold samples, without MCU padding
  std::vector<std::int16_t> values;      ///< [blocks_high][blocks_wide][64], natural order
};

/// Decodes image after image and keeps its memory between them. Move-only.
/// One thread at a time per object; objects are independent.
///
/// A damaged restart interval does not fail the call: from the damaged block on its blocks repeat
/// the last DC and have no AC, the interval is counted in the report, and the rest is decoded
/// (`strict` makes it an error). Damaged headers, 3xx streams and broken limits are errors.
class ZERORUN_API Decoder {
 public:
  /// Errors: invalid_argument, and those of resolve_backend().
  static Result<Decoder> create(const DecodeParams& params = {});

  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  /// Decodes the first image in `jpeg` into the caller's frame (host memory), which has the size
  /// of the image and any pixel format. RGB streams (Adobe) become YCbCr where that is asked for.
  /// Errors: 2xx, 3xx, 4xx, invalid_frame (wrong size), device_*.
  Result<DecodeReport> decode(std::span<const std::byte> jpeg, const FrameView& out);

  /// The same into `out`, reshaped to the image.
  Result<DecodeReport> decode(std::span<const std::byte> jpeg, PixelFormat format, Frame& out);

  /// Every component as stored, in SOF order; any legal sampling factors.
  Result<DecodeReport> decode_planes(std::span<const std::byte> jpeg,
                                     std::vector<ComponentPlane>& out);

  /// The quantised coefficients, in SOF order; no inverse transform.
  Result<DecodeReport> decode_coefficients(std::span<const std::byte> jpeg,
                                           std::vector<ComponentCoefficients>& out);

  Backend backend() const noexcept;
  const DecodeParams& params() const noexcept;

 private:
  struct Impl;
  explicit Decoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zerorun
