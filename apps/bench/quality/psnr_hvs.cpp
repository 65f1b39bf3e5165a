// PSNR-HVS-M: N. Ponomarenko et al., "On between-coefficient contrast masking of DCT basis
// functions", VPQM 2007.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>

#include "apps/bench/quality/metrics.hpp"

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

/// How much each frequency masks others.
double masking_of(std::size_t k) {
  const double m = 0.3885746225901003 * kSensitivity[k];
  return m * m;
}

Block transformed(const Block& in) {
  static const Block kBasis = [] {
    Block basis;
    for (std::size_t k = 0; k < 8; ++k)
      for (std::size_t x = 0; x < 8; ++x)
        basis[8 * k + x] = (k == 0 ? std::sqrt(0.125) : 0.5) *
                           std::cos(static_cast<double>((2 * x + 1) * k) * std::acos(-1.0) / 16);
    return basis;
  }();
  Block rows{}, out{};
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t k = 0; k < 8; ++k)
      for (std::size_t x = 0; x < 8; ++x) rows[8 * y + k] += in[8 * y + x] * kBasis[8 * k + x];
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t y = 0; y < 8; ++y)
      for (std::size_t x = 0; x < 8; ++x) out[8 * k + x] += rows[8 * y + x] * kBasis[8 * k + y];
  return out;
}

/// Sample variance times the number of samples, of a part of the block.
double variance(const Block& b, std::size_t x0, std::size_t y0, std::size_t edge) {
  double sum = 0, squares = 0;
  for (std::size_t y = y0; y < y0 + edge; ++y)
    for (std::size_t x = x0; x < x0 + edge; ++x) {
      sum += b[8 * y + x];
      squares += b[8 * y + x] * b[8 * y + x];
    }
  const auto n = static_cast<double>(edge * edge);
  return std::max(0.0, squares - sum * sum / n) / (n - 1) * n;
}

double masking(const Block& samples, const Block& frequencies) {
  double sum = 0;
  for (std::size_t k = 1; k < 64; ++k) sum += frequencies[k] * frequencies[k] * masking_of(k);
  double spread = variance(samples, 0, 0, 8);
  if (spread > 0)
    spread = (variance(samples, 0, 0, 4) + variance(samples, 4, 0, 4) + variance(samples, 0, 4, 4) +
              variance(samples, 4, 4, 4)) /
             spread;
  return std::sqrt(sum * spread) / 32;
}

Block block_at(const Plane& p, int x0, int y0) {
  Block out;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x)
      out[static_cast<std::size_t>(8 * y + x)] = static_cast<double>(p.row(y0 + y)[x0 + x]);
  return out;
}

double block_error(const Block& a, const Block& b) {
  const Block fa = transformed(a), fb = transformed(b);
  const double mask = std::max(masking(a, fa), masking(b, fb));
  double sum = 0;
  for (std::size_t k = 0; k < 64; ++k) {
    double error = std::abs(fa[k] - fb[k]);
    if (k > 0) error = std::max(0.0, error - mask / masking_of(k));
    sum += error * kSensitivity[k] * error * kSensitivity[k];
  }
  return sum;
}

}  // namespace

double psnr_hvs_m_of(const Plane& a, const Plane& b) {
  constexpr int kStep = 7;
  double sum = 0, count = 0;
  for (int y = 0; y + 8 <= a.height; y += kStep)
    for (int x = 0; x + 8 <= a.width; x += kStep, count += 64)
      sum += block_error(block_at(a, x, y), block_at(b, x, y));
  return 10 * std::log10(255.0 * 255.0 * count / std::max(sum, 1e-9));
}

}  // namespace zerorun::rd
