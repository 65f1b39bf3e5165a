// PSNR-HVS-M: N. Ponomarenko et al., "On between-coefficient contrast masking of DCT basis
// functions", VPQM 2007.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/rd/hvs_block.hpp"
#include "tests/rd/metrics.hpp"

namespace zerorun::rd {
namespace {

using Block = std::array<double, 64>;

/// The eye's sensitivity to each frequency of luma, as Daala's metric has it (Xiph, BSD-2-Clause).
constexpr Block kSensitivity{
    1.6193873005,   2.2901594831,   2.08509755623,  1.48366094411,  1.00227514334,  0.678296995242,
    0.466224900598, 0.3265091542,   2.2901594831,   1.94321815382,  2.04793073064,  1.68731108984,
    1.2305666963,   0.868920337363, 0.61280991668,  0.436405793551, 2.08509755623,  2.04793073064,
    1.34329019223,  1.09205635862,  0.875748795257, 0.670882927016, 0.501731932449, 0.372504254596,
    1.48366094411,  1.68731108984,  1.09205635862,  0.772819797575, 0.605636379554, 0.48309405692,
    0.380429446972, 0.295774038565, 1.00227514334,  1.2305666963,   0.875748795257, 0.605636379554,
    0.448996256676, 0.352889268808, 0.283006984131, 0.226951348204, 0.678296995242, 0.868920337363,
    0.670882927016, 0.48309405692,  0.352889268808, 0.27032073436,  0.215017739696, 0.17408067321,
    0.466224900598, 0.61280991668,  0.501731932449, 0.380429446972, 0.283006984131, 0.215017739696,
    0.168869545842, 0.136153931001, 0.3265091542,   0.436405793551, 0.372504254596, 0.295774038565,
    0.226951348204, 0.17408067321,  0.136153931001, 0.109083846276};

Block transformed(const Block& in, const double* basis) {
  Block rows{}, out{};
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t k = 0; k < 8; ++k)
      for (std::size_t x = 0; x < 8; ++x) rows[8 * y + k] += in[8 * y + x] * basis[8 * k + x];
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t y = 0; y < 8; ++y)
      for (std::size_t x = 0; x < 8; ++x) out[8 * k + x] += rows[8 * y + x] * basis[8 * k + y];
  return out;
}

double masking(const Block& samples, const Block& frequencies, const HvsTables& tables) {
  double parts[kHvsParts];
  for (int i = 0; i < kHvsParts; ++i)
    parts[i] = hvs_part(i, samples.data(), frequencies.data(), tables);
  return hvs_mask(parts);
}

Block block_at(const Plane& p, int x0, int y0) {
  Block out;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      out[static_cast<std::size_t>(8 * y + x)] = static_cast<double>(p.row(y0 + y)[x0 + x]);
  return out;
}

double block_error(const Block& a, const Block& b, const HvsTables& tables) {
  const Block fa = transformed(a, tables.basis), fb = transformed(b, tables.basis);
  const double mask = std::max(masking(a, fa, tables), masking(b, fb, tables));
  double sum = 0;
  for (std::size_t k = 0; k < 64; ++k)
    sum += hvs_error(fa[k], fb[k], mask, static_cast<int>(k), tables);
  return sum;
}

}  // namespace

HvsTables hvs_tables() {
  HvsTables tables;
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t x = 0; x < 8; ++x)
      tables.basis[8 * k + x] =
          (k == 0 ? std::sqrt(0.125) : 0.5) *
          std::cos(static_cast<double>((2 * x + 1) * k) * std::acos(-1.0) / 16);
  for (std::size_t k = 0; k < 64; ++k) {
    const double m = 0.3885746225901003 * kSensitivity[k];
    tables.sensitivity[k] = kSensitivity[k];
    tables.masking[k] = m * m;
  }
  return tables;
}

double masked_errors(const Plane& a, const Plane& b) {
  static const HvsTables kTables = hvs_tables();
  double sum = 0;
  for (int y = 0; y < hvs_blocks(a.height); ++y)
    for (int x = 0; x < hvs_blocks(a.width); ++x)
      sum += block_error(block_at(a, x * kHvsStep, y * kHvsStep),
                         block_at(b, x * kHvsStep, y * kHvsStep), kTables);
  return sum;
}

}  // namespace zerorun::rd
