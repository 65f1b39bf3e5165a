// How 64 threads find the errors of PSNR-HVS-M in a block. Their sum equals that of
// masked_errors(), but for the order in which it is added up; window_tile_test runs the threads on
// the host.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "apps/bench/quality/cuda/window_tile.hpp"
#include "apps/bench/quality/hvs_block.hpp"
#include "codec/arith/host_device.hpp"

namespace zerorun::rd {

/// The block in both pictures. Thread k of 64 takes the five steps below, with a barrier between
/// each.
struct HvsPair {
  double samples[2][64];
  double rows[2][64];         ///< the DCT along rows: 8 y + frequency
  double frequencies[2][64];  ///< 8 v + h
  double parts[2][kHvsParts];
};

/// Step 1 loads the sample k of the block that begins at (x0, y0).
ZR_HD void load_pair(HvsPair& pair, const PlanePair& planes, int x0, int y0, int k) {
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y0 + k / 8) * planes.width + x0 + k % 8;
  pair.samples[0][k] = static_cast<double>(planes.a[at]);
  pair.samples[1][k] = static_cast<double>(planes.b[at]);
}

/// Step 2.
ZR_HD void transform_rows(HvsPair& pair, const HvsTables& tables, int k) {
  const double* const basis = tables.basis + 8 * (k % 8);
  for (int picture = 0; picture < 2; ++picture) {
    const double* const row = pair.samples[picture] + 8 * (k / 8);
    double sum = 0;
    for (int x = 0; x < 8; ++x) sum += row[x] * basis[x];
    pair.rows[picture][k] = sum;
  }
}

/// Step 3.
ZR_HD void transform_columns(HvsPair& pair, const HvsTables& tables, int k) {
  const double* const basis = tables.basis + 8 * (k / 8);
  for (int picture = 0; picture < 2; ++picture) {
    const double* const column = pair.rows[picture] + k % 8;
    double sum = 0;
    for (int y = 0; y < 8; ++y) sum += column[8 * y] * basis[y];
    pair.frequencies[picture][k] = sum;
  }
}

/// Step 4: twelve of the threads find the parts of the masks.
ZR_HD void find_parts(HvsPair& pair, const HvsTables& tables, int k) {
  if (k >= 2 * kHvsParts) return;
  const int picture = k / kHvsParts, part = k % kHvsParts;
  pair.parts[picture][part] =
      hvs_part(part, pair.samples[picture], pair.frequencies[picture], tables);
}

/// Step 5 gives the error of frequency k.
ZR_HD double error_at(const HvsPair& pair, const HvsTables& tables, int k) {
  const double a = hvs_mask(pair.parts[0]), b = hvs_mask(pair.parts[1]);
  return hvs_error(pair.frequencies[0][k], pair.frequencies[1][k], a < b ? b : a, k, tables);
}

}  // namespace zerorun::rd
