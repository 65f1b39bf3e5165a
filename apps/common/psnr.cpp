// Peak signal-to-noise ratios as text and JSON.
// SPDX-License-Identifier: MIT
#include "apps/common/psnr.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>

namespace zerorun::app {

std::string psnr_components_text(const SquaredError& error) {
  constexpr std::array kYCbCr{"Y", "Cb", "Cr"}, kRgb{"R", "G", "B"};
  const auto& names = error.is_rgb ? kRgb : kYCbCr;
  std::string text;
  for (int c = 0; c < error.components; ++c)
    text += fmt::format("{}{} {:.3f}", c == 0 ? "" : ", ", names[static_cast<std::size_t>(c)],
                        error.psnr(c));
  return text;
}

nlohmann::json psnr_json(double decibels) {
  return std::isinf(decibels) ? nlohmann::json()
                              : nlohmann::json(std::round(decibels * 1000.0) / 1000.0);
}

}  // namespace zerorun::app
