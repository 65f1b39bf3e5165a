// Peak signal-to-noise ratio of two frames, as FFmpeg's psnr filter computes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>

#include "zerorun/frame.hpp"

namespace zerorun::app {

/// Sums of squared differences and numbers of samples, per component in the order of the format
/// (Y Cb Cr or R G B). They are exact over many frames: a stream's PSNR is that of all its samples.
struct SquaredError {
  int components = 0;
  bool is_rgb = false;  ///< else Y, or Y Cb Cr
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> samples{};

  void add(const SquaredError& other) noexcept;
  /// In dB; infinity if nothing differs.
  double psnr(int component) const noexcept;
  double psnr() const noexcept;  ///< over the samples of all components
};

/// Both frames must have the same format and size.
SquaredError squared_error(const ConstFrameView& a, const ConstFrameView& b) noexcept;

/// "Y 43.210, Cb 45.000, Cr 44.100": the components.
std::string psnr_components_text(const SquaredError& error);

/// Decibels as JSON: null if nothing differs, because JSON has no infinity.
nlohmann::json psnr_json(double decibels);
/// Adds "psnr" and "psnr_components".
template <typename Json>
void add_psnr(Json& to, const SquaredError& error) {
  to["psnr"] = psnr_json(error.psnr());
  to["psnr_components"] = Json::array();
  for (int c = 0; c < error.components; ++c)
    to["psnr_components"].emplace_back(psnr_json(error.psnr(c)));
}

}  // namespace zerorun::app
