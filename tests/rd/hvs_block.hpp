// PSNR-HVS-M of one block of 8x8: what masks errors, and the errors that are left.
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "codec/arith/host_device.hpp"

namespace zerorun::rd {

/// Blocks begin every 7 samples, so that they overlap.
inline constexpr int kHvsStep = 7;
/// Blocks along a side.
ZR_HD int hvs_blocks(int samples) { return samples < 8 ? 0 : (samples - 8) / kHvsStep + 1; }

/// By frequency, 8 v + h.
struct HvsTables {
  double basis[64];        ///< of the DCT: 8 frequency + sample
  double sensitivity[64];  ///< of the eye
  double masking[64];      ///< how much each frequency masks others
};
HvsTables hvs_tables();

ZR_HD double hvs_energy(const double* frequencies, const HvsTables& tables) {
  double sum = 0;
  for (int k = 1; k < 64; ++k) sum += frequencies[k] * frequencies[k] * tables.masking[k];
  return sum;
}

/// Sample variance times the number of samples, of a part of the block.
ZR_HD double hvs_variance(const double* samples, int x0, int y0, int edge) {
  double sum = 0, squares = 0;
  for (int y = y0; y < y0 + edge; ++y)
    for (int x = x0; x < x0 + edge; ++x) {
      sum += samples[8 * y + x];
      squares += samples[8 * y + x] * samples[8 * y + x];
    }
  const auto n = static_cast<double>(edge * edge);
  const double spread = squares - sum * sum / n;
  return (spread > 0 ? spread : 0.0) / (n - 1) * n;
}

/// What decides how much a block masks: part 0 is the energy of its frequencies, 1 the variance of
/// all samples, 2 to 5 those of its quarters.
inline constexpr int kHvsParts = 6;
ZR_HD double hvs_part(int part, const double* samples, const double* frequencies,
                      const HvsTables& tables) {
  if (part == 0) return hvs_energy(frequencies, tables);
  if (part == 1) return hvs_variance(samples, 0, 0, 8);
  return hvs_variance(samples, part % 2 * 4, (part - 2) / 2 * 4, 4);
}

ZR_HD double hvs_mask(const double* parts) {
  double spread = parts[1];
  if (spread > 0) spread = (parts[2] + parts[3] + parts[4] + parts[5]) / spread;
  return std::sqrt(parts[0] * spread) / 32;
}

/// Of frequency `k` of two blocks, squared.
ZR_HD double hvs_error(double a, double b, double mask, int k, const HvsTables& tables) {
  double error = std::abs(a - b);
  if (k > 0) {
    error -= mask / tables.masking[k];
    if (!(error > 0)) error = 0;
  }
  return error * tables.sensitivity[k] * error * tables.sensitivity[k];
}

}  // namespace zerorun::rd
