// The oracle: libjpeg-turbo's encoder, for raw planes and for pixels.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::test {

struct SamplingFactors {
  int h = 1, v = 1;
};

/// The components of one scan of a sequential script, by index.
using ScanScript = std::vector<std::vector<int>>;

/// One scan of a progressive script: components by index, spectral selection and approximation.
struct ProgressiveScan {
  std::vector<int> components;
  int ss = 0, se = 0, ah = 0, al = 0;
};

/// Options of libjpeg. The defaults are those of jpeg_set_defaults() at quality 90, 4:4:4.
struct LibjpegOptions {
  int quality = 90;
  bool force_baseline = true;  ///< false: tables over 255, 16-bit DQT, SOF1
  std::array<SamplingFactors, 3> factors{};
  SamplingFactors black{};  ///< of the fourth component
  bool optimal = false;
  bool arithmetic = false;
  bool progressive = false;
  int restart_mcus = 0;
  int restart_rows = 0;                            ///< MCU rows; 0 = use restart_mcus
  ScanScript scans;                                ///< empty: one interleaved scan
  std::vector<ProgressiveScan> progressive_scans;  ///< of a progressive stream; instead of `scans`
  std::optional<QuantTable> luma_table;
  std::optional<QuantTable> chroma_table;
  bool rgb_stream = false;   ///< components R, G, B with an Adobe marker
  bool cmyk_stream = false;  ///< four components with an Adobe marker, from any four bytes a pixel
  bool ycck_stream = false;  ///< with cmyk_stream: Y, Cb, Cr and K
};

std::array<SamplingFactors, 3> factors_of(Subsampling sampling);

/// Samples of one component, [height][stride].
struct ComponentSource {
  int width = 0, height = 0;
  const std::uint8_t* samples = nullptr;
  std::ptrdiff_t stride = 0;
};

/// jpeg_write_raw_data, for 1 or 3 components; the last column and row are repeated up to whole
/// MCUs. If libjpeg refuses, the vector is empty and *error has a sentence.
std::vector<std::byte> libjpeg_encode_planes(int width, int height,
                                             std::span<const ComponentSource> components,
                                             const LibjpegOptions& options,
                                             std::string* error = nullptr);

/// The same for a planar frame of the project; options.factors is set from its format.
std::vector<std::byte> libjpeg_encode_frame(const ConstFrameView& planar, LibjpegOptions options);

/// How libjpeg reads interleaved pixels.
enum class PixelInput { gray, rgb, bgr, rgbx, bgrx, xrgb, xbgr, ycbcr };

/// jpeg_write_scanlines: libjpeg also converts colours and down-samples. With `gray_stream` colour
/// pixels give a grey stream (jpeg_set_colorspace).
std::vector<std::byte> libjpeg_encode_pixels(int width, int height, PixelInput input,
                                             const std::uint8_t* pixels, std::ptrdiff_t stride,
                                             const LibjpegOptions& options,
                                             bool gray_stream = false,
                                             std::string* error = nullptr);

/// A stream for tests that need any: from an RGB picture, or a grey one for Subsampling::gray.
std::vector<std::byte> libjpeg_sample(int width, int height, Subsampling sampling,
                                      LibjpegOptions options = {}, std::uint64_t seed = 1);

using Factors = std::array<SamplingFactors, 3>;
/// "2x2,1x1,1x1"
std::string to_string(const Factors& factors);
/// Sampling factors with at most 10 blocks in an MCU (T.81 B.2.3), common and odd.
std::vector<Factors> all_factors();

/// A stream that few encoders make, of three photo-like planes whose sizes follow from the factors.
std::vector<std::byte> odd_stream(int width, int height, LibjpegOptions options,
                                  std::uint64_t seed);

}  // namespace zerorun::test
