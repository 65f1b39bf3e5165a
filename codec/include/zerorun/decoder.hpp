// Inspection of streams, and the decoder: baseline, extended sequential and progressive JPEG with
// Huffman coding, 8 bits, 1, 3 or 4 components.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Colour space of the components, by libjpeg's rules (JFIF, Adobe APP14, component ids).
enum class ColorModel : std::uint8_t {
  gray,
  ycbcr,
  rgb,
  cmyk,           ///< four components without an Adobe segment: 0 is no ink
  inverted_cmyk,  ///< with one, colour transform 0: 255 is no ink
  ycck,           ///< with one of another transform: Y, Cb and Cr are inverted_cmyk's 255 - C, M, Y
};
/// Four components.
constexpr bool has_inks(ColorModel model) { return model >= ColorModel::cmyk; }

struct ComponentInfo {
  int id = 0;                 ///< Ci
  int h = 1, v = 1;           ///< sampling factors Hi, Vi
  int quant_table = 0;        ///< Tqi
  int width = 0, height = 0;  ///< samples, T.81 A.1.1
};

/// Limits, checked before memory is allocated.
struct StreamLimits {
  std::int64_t max_pixels = std::int64_t{1} << 27;
  int max_scans = 100;  ///< progressive: and max_scans * max_pixels / 64 blocks in all scans
  std::int64_t max_header_bytes = std::int64_t{64} << 20;  ///< all marker segments of an image

  /// Allows every size that a header can hold: for inspect(), which allocates no pixels, and for
  /// streams that the caller made or has inspected.
  static constexpr StreamLimits any_size() {
    StreamLimits limits;
    limits.max_pixels = std::int64_t{65535} * 65535;
    return limits;
  }
  friend bool operator==(const StreamLimits&, const StreamLimits&) = default;
};

struct StreamInfo {
  int width = 0, height = 0;
  bool extended = false;     ///< SOF1 instead of SOF0
  bool progressive = false;  ///< SOF2
  ColorModel color = ColorModel::ycbcr;
  std::vector<ComponentInfo> components;
  std::optional<Subsampling> subsampling;  ///< unset for factors that have no such name
  int restart_interval_mcus = 0;           ///< as of the first scan; 0 = none
  bool has_jfif = false;
  bool standard_huffman_tables = false;  ///< the first scan uses Annex K.3, sent or not; false for
                                         ///< progressive
  std::optional<int> quality;  ///< libjpeg's scale, if the tables are K.1 and K.2 scaled by it
  int pixel_aspect_x = 1, pixel_aspect_y = 1;
  int exif_orientation = 1;  ///< 1..8; 1 where there is none
  /// APPn and COM, in order.
  std::vector<MarkerSegment> segments;
  std::size_t header_bytes = 0;  ///< offset of the first entropy-coded byte
};

/// Reads the headers up to the first scan. Decodes no sample and allocates no frame.
/// Errors: the 2xx and 3xx codes, too_many_pixels, too_much_header. Thread-safe.
ZERORUN_API Result<StreamInfo> inspect(std::span<const std::byte> jpeg,
                                       const StreamLimits& limits = {});

enum class ChromaUpsampling : std::uint8_t {
  fancy,    ///< libjpeg's triangle filter, as djpeg does by default
  nearest,  ///< repetition, as djpeg -nosmooth
};

/// A rectangle of pixels.
struct Region {
  int x = 0, y = 0;           ///< its first pixel
  int width = 0, height = 0;  ///< both 0: the whole picture
  friend bool operator==(const Region&, const Region&) = default;
};

struct ImageSize {
  int width = 0, height = 0;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// Width and height of an image of `width` x `height` at 1 / `scale`: rounded up, as in libjpeg.
/// Preconditions: both above 0, and a scale of 1, 2, 4 or 8.
constexpr ImageSize scaled_size(int width, int height, int scale) noexcept {
  return {(width - 1) / scale + 1, (height - 1) / scale + 1};
}

/// The size of the frame that Decoder::select() gives of an image of `width` x `height`. Errors:
/// invalid_argument (the scale; a region that is none, or goes beyond the picture). Thread-safe.
ZERORUN_API Result<ImageSize> decoded_size(int width, int height, int scale, const Region& region);

struct DecodeParams {
  /// Which part of the picture, at which size: see Decoder::select().
  int scale = 1;
  Region region = {};
  ChromaUpsampling upsampling = ChromaUpsampling::fancy;
  /// Damage, a missing EOI or stray bytes are errors instead of entries in the report.
  bool strict = false;
  StreamLimits limits = {};
  Backend backend = Backend::automatic;
  int device = 0;   ///< CUDA device index
  int threads = 0;  ///< CPU threads for one image; 0 = usable cores; CUDA: to copy it, 0 = a few
  InstructionSet instruction_set = InstructionSet::best;  ///< of the CPU backend
  friend bool operator==(const DecodeParams&, const DecodeParams&) = default;
};

/// What one call found.
struct DecodeReport {
  std::size_t bytes_consumed = 0;  ///< to the end of EOI; the next image starts here or later
  std::int64_t intervals = 0;      ///< restart intervals (one per scan without DRI)
  /// Damaged ones: previous DC and no AC from the damage on. A component that no scan has counts as
  /// one, and is 128.
  std::int64_t concealed_intervals = 0;
  /// Scans that the CUDA backend left to the CPU: those of progressive frames and of four
  /// components, damaged ones, scans with values that no encoder makes, some of noise, and all
  /// scans of decode_coefficients(). 0 on the CPU backend.
  int cpu_scans = 0;
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

/// Decodes image after image and keeps its memory. Move-only. One thread at a time per object;
/// objects are independent.
///
/// A damaged restart interval is concealed and counted in the report, unless `strict` makes it an
/// error: from the damaged block on, its blocks repeat the last DC and have no AC. In a progressive
/// scan they keep what earlier scans have sent; missing last scans cost detail and are no damage.
/// libjpeg's block smoothing of such images is not done. Damaged headers, 3xx streams and exceeded
/// limits are errors.
class ZERORUN_API Decoder {
 public:
  /// Errors: invalid_argument, and those of resolve_backend().
  static Result<Decoder> create(const DecodeParams& params = {});

  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  /// For the images from here on: the picture at 1 / `scale`, which is 1, 2, 4 or 8, and `region`
  /// of it, in pixels of the scaled picture (as tj3SetCroppingRegion() of TurboJPEG counts).
  ///
  /// A scaled picture has scaled_size(). Its pixels are those of libjpeg's reduced inverse
  /// transforms (djpeg -scale 1/2, 1/4, 1/8): the chroma of a 4:2:0 stream at 1/2 is not enlarged,
  /// because its blocks are transformed at full size. A frame of a region has the size of the
  /// region, and its samples are those of the whole picture in the same format. In formats with
  /// fewer chroma samples they begin with the sample that covers the first pixel; yuyv and uyvy
  /// have regions at even x alone.
  ///
  /// Blocks outside the region are not transformed, MCUs behind it and restart intervals that do
  /// not touch it are not decoded; damage there is not found, and is no error with `strict`.
  /// Progressive frames at 1/8: scans of AC that no sample depends on are not decoded either.
  /// Errors: invalid_argument; that a region goes beyond a picture is found when that is decoded.
  Status select(int scale, const Region& region = {});

  /// Decodes the first image in `jpeg` into the caller's frame (host memory), which has the size of
  /// the image, or of what select() wants of it, and any pixel format; RGB streams (Adobe) are
  /// converted to YCbCr formats. CMYK and YCCK become RGB by R = round(c k / 255), where c and k
  /// are 255 at no ink, as in libjpeg-turbo and Pillow. No colour profile is used. cmyk32 takes
  /// their inks as they are. Errors: 2xx, 3xx, 4xx, invalid_frame (wrong size), invalid_argument
  /// (region), pixel_format (cmyk32 of another stream), device_*.
  Result<DecodeReport> decode(std::span<const std::byte> jpeg, const FrameView& out);

  /// The same into `out`, which is reshaped.
  Result<DecodeReport> decode(std::span<const std::byte> jpeg, PixelFormat format, Frame& out);

  /// Every component as stored, in SOF order; any legal sampling factors. Scaled, as from libjpeg's
  /// jpeg_read_raw_data(). Errors: invalid_argument with a region.
  Result<DecodeReport> decode_planes(std::span<const std::byte> jpeg,
                                     std::vector<ComponentPlane>& out);

  /// The quantised coefficients, in SOF order; no inverse transform, and always all.
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
