// How far a decoded picture is from its original: PSNR, SSIM, MS-SSIM, PSNR-HVS-M, SSIMULACRA2.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace zerorun::rd {

enum Metric {
  psnr,
  ssim,
  ms_ssim,
  psnr_hvs_m,
  ssimulacra2,
  kOwnMetrics,
  butteraugli = kOwnMetrics,  ///< by a program (programs.hpp)
  kMetrics
};
inline constexpr std::array<std::string_view, kMetrics> kMetricNames{
    "psnr_y", "ssim", "ms_ssim", "psnr_hvs_m", "ssimulacra2", "butteraugli"};
/// The first four are of luma. SSIM and MS-SSIM are in decibels: -10 log10(1 - x). Butteraugli is
/// the negative 3-norm, so that more is better; NaN: not measured.
using Scores = std::array<double, kMetrics>;
Scores no_scores();

struct Size {
  int width = 0, height = 0;
  std::size_t pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
  bool operator==(const Size&) const = default;
};

/// RGB, 3 bytes a pixel, no gaps.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;

  std::size_t pixels() const { return Size{width, height}.pixels(); }
};

/// One component as numbers, row by row.
struct Plane {
  int width = 0, height = 0;
  std::vector<float> v;

  Plane() = default;
  Plane(int w, int h) : width(w), height(h), v(Size{w, h}.pixels()) {}
  float* row(int y) { return v.data() + static_cast<std::ptrdiff_t>(y) * width; }
  const float* row(int y) const { return v.data() + static_cast<std::ptrdiff_t>(y) * width; }
};

/// The window of SSIM and SSIMULACRA2: a Gaussian of sigma 1.5, over rows, then columns. Samples
/// outside the plane count as 0.
inline constexpr int kBlurRadius = 5;
Plane blur(const Plane& in);

/// Sample by sample.
Plane product(const Plane& a, const Plane& b);

/// Means of 2x2 samples; the last row and column are repeated. `size` is half of the plane's,
/// rounded up or down.
Plane halved(const Plane& in, Size size);

/// Two planes at a sample, and blurred there.
struct Moments {
  float a, b;
  float mean_a, mean_b;
  float square_a, square_b, both;  ///< of a*a, b*b, a*b
};

/// The sizes of a picture's scales, as many as the metric has for it: a picture without 24 samples
/// of a side has no further scale in MS-SSIM, one without 8 none in SSIMULACRA2.
inline constexpr std::size_t kMsSsimScales = 5, kSsimulacra2Scales = 6;
std::vector<Size> ms_ssim_scales(Size size);
std::vector<Size> ssimulacra2_scales(Size size);

/// PSNR-HVS-M: blocks along a side. They begin every 7 samples, so that they overlap.
inline constexpr int kHvsStep = 7;
constexpr int hvs_blocks(int samples) { return samples < 8 ? 0 : (samples - 8) / kHvsStep + 1; }
/// The errors of PSNR-HVS-M, of planes of luma.
double masked_errors(const Plane& a, const Plane& b);

/// SSIMULACRA2 (Cloudinary, 2022; version 2.1): 100 is no difference, 90 hardly a visible one. A
/// picture with a side below 256 has fewer scales. The weights then belong to other features, as in
/// the reference implementation: scores of such pictures mean something else.
class Ssimulacra2 {
 public:
  /// Keeps what depends on the original alone.
  explicit Ssimulacra2(const Image& original);
  /// `distorted` has the size of the original.
  double score(const Image& distorted) const;

 private:
  struct Scale {
    std::array<Plane, 3> xyb, mean, square;  // the last two are blurred
  };
  std::vector<Scale> scales_;
};

/// SSIM and MS-SSIM as Wang has them (2003, 2004). PSNR-HVS-M (Ponomarenko 2007) is Daala's form of
/// it: other sensitivities, blocks every 7 samples.
class Meter {
 public:
  explicit Meter(const Image& original);
  virtual ~Meter() = default;
  /// `distorted` has the size of the original. Own metrics alone.
  virtual Scores measure(const Image& distorted) const;

 private:
  Plane luma_;
  Ssimulacra2 ssimulacra2_;
};

}  // namespace zerorun::rd
