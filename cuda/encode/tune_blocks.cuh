// The tuned forms of transform_columns(): a lane decides about the coefficients of its block by
// codec/arith/tune.hpp. The dead zone stays in registers; decisions by rate walk over the block in
// shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/tune.hpp"
#include "cuda/encode/list_items.cuh"

namespace zerorun::cuda_encode {

/// Zig-zag position of each natural index.
struct ZigzagPosition {
  std::uint8_t of[kBlockSize];
  constexpr ZigzagPosition() : of{} {
    for (int k = 0; k < kBlockSize; ++k)
      of[kNaturalOfZigzag[static_cast<std::size_t>(k)]] = static_cast<std::uint8_t>(k);
  }
};
__device__ constexpr ZigzagPosition kZigzagPosition{};

/// The rules in shared memory, of tuned kernels alone.
__device__ inline TuneRules& shared_rules() {
  __shared__ alignas(16) TuneRules rules;
  return rules;
}

/// Starts to copy the rules, by all threads of the CTA; wait_for_fetched() waits for them.
__device__ inline void fetch_rules(const TuneRules& from) { fetch_by_cta(shared_rules(), &from); }

/// Calls visit(natural index, coefficient with kFloatMagicBits, its reciprocal) for the transformed
/// columns of a block.
template <typename Visit>
__device__ void for_each_column(const Reciprocals& reciprocals, Coefficients& c,
                                const Visit& visit) {
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    std::uint32_t column[8];
#pragma unroll
    for (int y = 0; y < 8; ++y) column[y] = c.v[8 * y + x];
    fdct_column(column);
    float reciprocal[8];
    reciprocals.load(x, reciprocal);
#pragma unroll
    for (int y = 0; y < 8; ++y) visit(8 * y + x, column[y], reciprocal[y]);
  }
}

/// tune_by_dead_zone(). The masks alone say what is coded: the values of what is dropped stay. In
/// PTX, because the compiler makes such bits so late that it spills 40 registers (9.0).
__device__ inline void tune_columns_by_zone(const Reciprocals& reciprocals, float magic,
                                            const TuneRules& rules, std::uint32_t weight,
                                            Coefficients& c) {
  const FloatZone zone(weight);
  const auto likely_product = static_cast<float>(likely_from(weight, rules.gathers));
  std::uint32_t sure[2] = {}, likely[2] = {};
  for_each_column(reciprocals, c, [&](int natural, std::uint32_t x, float reciprocal) {
    if (natural == 0) {
      c.v[0] = quantise_float(x, reciprocal, magic);
      return;
    }
    float fine = __uint_as_float(fine_float(x, reciprocal)) - kFineMagic;
    constexpr float kMost = static_cast<float>(kMostFine) / kFineStep;
    if (may_exceed_limit(natural)) fine = fminf(fmaxf(fine, -kMost), kMost);
    c.v[natural] = round_float(fine, magic);
    const int k = kZigzagPosition.of[natural];
    asm("{\n\t"
        ".reg .pred is_sure, is_likely;\n\t"
        "setp.ge.f32 is_sure, %2, %3;\n\t"
        "@is_sure or.b32 %0, %0, %5;\n\t"
        "setp.ge.f32 is_likely, %2, %4;\n\t"
        "@is_likely or.b32 %1, %1, %5;\n\t"
        "}"
        : "+r"(sure[k / 32]), "+r"(likely[k / 32])
        : "f"(zone.product(fabsf(fine))), "f"(static_cast<float>(sure_from(k))),
          "f"(likely_product), "r"(1u << k % 32));
  });
  // From the limit, which has no other such value: a register for it would be one too many.
  const bool gathers = likely_product == static_cast<float>(likely_from(0, true));
  const std::uint64_t kept = beyond_dead_zone(std::uint64_t{sure[1]} << 32 | sure[0],
                                              std::uint64_t{likely[1]} << 32 | likely[0], gathers);
  c.low = static_cast<std::uint32_t>(kept);
  c.high = static_cast<std::uint32_t>(kept >> 32);
}

/// A Block whose coefficients stand in shared memory in 32nds of a step, and are replaced.
class FineBlock {
 public:
  __device__ explicit FineBlock(std::int16_t* values) : values_(values) {}

  __device__ std::uint32_t fine(int k) const {
    return static_cast<std::uint32_t>(abs(std::int32_t{values_[k * 32]}));
  }
  __device__ void set(int k, std::int32_t level) {
    std::int16_t& value = values_[k * 32];
    value = static_cast<std::int16_t>(value < 0 ? -level : level);
  }

 private:
  std::int16_t* values_;
};

/// Stores all AC coefficients in the lane's column of w.coefficient, in 32nds of a step. Returns
/// which of them do not round to 0, by zig-zag position.
__device__ inline std::uint64_t store_fine_columns(WarpShared& w, const Reciprocals& reciprocals,
                                                   float magic, Coefficients& c) {
  std::uint32_t low = 0, high = 0, dc = 0;
  for_each_column(reciprocals, c, [&](int natural, std::uint32_t x, float reciprocal) {
    if (natural == 0) {
      dc = quantise_float(x, reciprocal, magic);
      return;
    }
    const int k = kZigzagPosition.of[natural];
    auto fine = static_cast<std::int32_t>(fine_float(x, reciprocal) - kFineMagicBits);
    constexpr auto kMost = static_cast<std::int32_t>(kMostFine);
    if (may_exceed_limit(natural)) fine = min(max(fine, -kMost), kMost);
    w.coefficient[k][lane_index()] = static_cast<std::int16_t>(fine);
    const std::uint32_t bit = abs(fine) >= kFineHalf ? 1u << k % 32 : 0;
    (k < 32 ? low : high) |= bit;
  });
  c.v[0] = dc;
  return static_cast<std::uint64_t>(high) << 32 | low;
}

/// tune_by_rate()
__device__ inline void tune_columns_by_rate(WarpShared& w, const Reciprocals& reciprocals,
                                            float magic, const TuneTable& table,
                                            std::uint32_t weight, Coefficients& c) {
  std::uint64_t kept = store_fine_columns(w, reciprocals, magic, c);
  FineBlock block(&w.coefficient[0][lane_index()]);
  kept = tune_by_rate(block, kept, table, weight);
  const std::uint32_t base = __float_as_uint(magic);
#pragma unroll
  for (int k = 1; k < kBlockSize; ++k)
    c.v[kZigzag.natural[k]] =
        base + static_cast<std::uint32_t>(std::int32_t{w.coefficient[k][lane_index()]});
  c.low = static_cast<std::uint32_t>(kept);
  c.high = static_cast<std::uint32_t>(kept >> 32);
  __syncwarp();  // other lanes write items over these coefficients
}

/// Transforms the columns of the lane's block and decides about its coefficients.
__device__ inline void tune_columns_of_tile(const Shared& s, WarpShared& w, const Coded& b,
                                            Coefficients& c) {
  const TuneRules& rules = shared_rules();
  const unsigned destination = b.destination();
  const Reciprocals reciprocals(s.reciprocals, destination);
  const float magic = kLevelMagic + (destination == 0 ? 0.0f : kChromaMagic);
  const std::uint32_t weight = error_weight(rules, w.item[lane_index()]);
  __syncwarp();  // the coefficients lie over the energies of other lanes
  if (rules.by_rate)
    tune_columns_by_rate(w, reciprocals, magic, rules.table[destination], weight, c);
  else
    tune_columns_by_zone(reciprocals, magic, rules, weight, c);
  if (b.bare()) c.low = c.high = 0;
}

}  // namespace zerorun::cuda_encode
