// CPU reference of the forward transform and quantisation. CUDA twin: cuda/stages/fdct_quant.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/fdct_quant.hpp"

#include <algorithm>

#include "codec/arith/dct8.hpp"

namespace zerorun {
namespace {

/// Quantises a block whose coefficients stand in `zz` as the transform left them.
void tune_raw_block(const TuneRules& rules, int table, std::uint32_t energy_turn, const Divisor& dc,
                    std::int16_t* zz) {
  zz[0] = static_cast<std::int16_t>(quantise(zz[0], dc));
  RawBlock block(zz, 1, rules.table[table]);
  block.clear_all_but(
      tune_block(block, block.candidates(), rules, rules.table[table], energy_turn));
}

/// One block (T.81 A.3.1, A.3.3, A.3.4). The plane's last column and row are repeated.
void code_block(const FdctQuantArgs& a, const BlockPlace& place, std::int16_t* zz) {
  const ConstPlaneView& plane = a.plane[place.component];
  const int x0 = place.x * kBlockEdge, y0 = place.y * kBlockEdge;
  const int table = place.component == 0 ? 0 : 1;
  const bool tuned = a.tune != nullptr;
  std::uint32_t squares = 0;
  ClippedSamples samples{};
  std::uint32_t work[kBlockEdge][kBlockEdge];
  for (int y = 0; y < kBlockEdge; ++y) {
    const std::uint8_t* row = plane.data + std::min(y0 + y, plane.height - 1) * plane.stride_bytes;
    for (int x = 0; x < kBlockEdge; ++x) {
      const std::uint32_t sample = row[std::min(x0 + x, plane.width - 1)];
      samples.sum += sample;
      samples.white += sample == 255;
      samples.black += sample == 0;
      squares += sample * sample;
      work[y][x] = sample;
    }
  }
  const Overshoot overshoot =
      overshoot_of(samples, tuned ? a.tune->table[table].most_overshoot : 0);
  for (auto& row : work) {
    for (std::uint32_t& sample : row)
      sample = static_cast<std::uint32_t>(overshoot.apply(sample) - 128);
    fdct8<1>(row);
  }
  for (int x = 0; x < kBlockEdge; ++x) {
    std::uint32_t column[kBlockEdge];
    for (int y = 0; y < kBlockEdge; ++y) column[y] = work[y][x];
    fdct8<2>(column);
    for (int y = 0; y < kBlockEdge; ++y) work[y][x] = column[y];
  }
  for (unsigned k = 0; k < kBlockSize; ++k) {
    const unsigned at = kNaturalOfZigzag[k];
    const auto coefficient = static_cast<std::int32_t>(work[at / kBlockEdge][at % kBlockEdge]);
    zz[k] = static_cast<std::int16_t>(tuned ? coefficient
                                            : quantise(coefficient, a.divisors->table[table][at]));
  }
  if (tuned)
    tune_raw_block(*a.tune, table,
                   energy_and_turn(ac_energy(samples.sum, squares),
                                   turn_of_block(place.component, place.x, place.y)),
                   a.divisors->table[table][0], zz);
}

}  // namespace

Status fdct_quant_cpu(const FdctQuantArgs& a, Exec&) {
  std::int16_t* zz = a.zz;
  for (std::int64_t mcu = a.first_mcu; mcu < a.first_mcu + a.mcu_count; ++mcu) {
    for (int i = 0; i < a.layout.blocks_per_mcu; ++i, zz += kBlockSize) {
      const BlockPlace place = place_block(a.layout, mcu, i);
      if (!place.inside) {
        std::fill_n(zz, kBlockSize, std::int16_t{0});
        zz[0] = zz[-kBlockSize];
        continue;
      }
      code_block(a, place, zz);
    }
  }
  return Status::ok();
}

}  // namespace zerorun
