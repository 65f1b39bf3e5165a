// PSNR-HVS-M: N. Ponomarenko et al., "On between-coefficient contrast masking of DCT basis
// functions", VPQM 2007.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>

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

/// By frequency, 8 v + h.
struct Tables {
  double basis[64];    ///< of the DCT: 8 frequency + sample
  double masking[64];  ///< how much each frequency masks others
};

Tables make_tables() {
  Tables tables;
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t x = 0; x < 8; ++x)
      tables.basis[8 * k + x] =
          (k == 0 ? std::sqrt(0.125) : 0.5) *
          std::cos(static_cast<double>((2 * x + 1) * k) * std::acos(-1.0) / 16);
  for (std::size_t k = 0; k < 64; ++k) {
    const double m = 0.3885746225901003 * kSensitivity[k];
    tables.masking[k] = m * m;
  }
  return tables;
}

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

/// Sample variance times the number of samples, of a square of the block.
double variance(const Block& samples, std::size_t x0, std::size_t y0, std::size_t edge) {
  double sum = 0, squares = 0;
  for (std::size_t y = y0; y < y0 + edge; ++y)
    for (std::size_t x = x0; x < x0 + edge; ++x) {
      sum += samples[8 * y + x];
      squares += samples[8 * y + x] * samples[8 * y + x];
    }
  const auto n = static_cast<double>(edge * edge);
  return std::max(squares - sum * sum / n, 0.0) / (n - 1) * n;
}

/// How much a block masks: by the energy of its frequencies, and by the variances of its quarters
/// beside that of the whole.
double mask_of(const Block& samples, const Block& frequencies, const Tables& tables) {
  double energy = 0;
  for (std::size_t k = 1; k < 64; ++k)
    energy += frequencies[k] * frequencies[k] * tables.masking[k];
  double spread = variance(samples, 0, 0, 8);
  if (spread > 0)
    spread = (variance(samples, 0, 0, 4) + variance(samples, 4, 0, 4) + variance(samples, 0, 4, 4) +
              variance(samples, 4, 4, 4)) /
             spread;
  return std::sqrt(energy * spread) / 32;
}

Block block_at(const Plane& p, int x0, int y0) {
  Block out;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      out[static_cast<std::size_t>(8 * y + x)] = static_cast<double>(p.row(y0 + y)[x0 + x]);
  return out;
}

double block_error(const Block& a, const Block& b, const Tables& tables) {
  const Block fa = transformed(a, tables.basis), fb = transformed(b, tables.basis);
  const double mask = std::max(mask_of(a, fa, tables), mask_of(b, fb, tables));
  double sum = 0;
  for (std::size_t k = 0; k < 64; ++k) {
    double error = std::abs(fa[k] - fb[k]);
    if (k > 0) error = std::max(error - mask / tables.masking[k], 0.0);
    sum += error * kSensitivity[k] * error * kSensitivity[k];
  }
  return sum;
}

}  // namespace

double masked_errors(const Plane& a, const Plane& b) {
  static const Tables kTables = make_tables();
  double sum = 0;
  for (int y = 0; y < hvs_blocks(a.height); ++y)
    for (int x = 0; x < hvs_blocks(a.width); ++x)
      sum += block_error(block_at(a, x * kHvsStep, y * kHvsStep),
                         block_at(b, x * kHvsStep, y * kHvsStep), kTables);
  return sum;
}

}  // namespace zerorun::rd
