// Peak signal-to-noise ratios as text and JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "codec/base/frame_distance.hpp"

namespace zerorun::app {

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
