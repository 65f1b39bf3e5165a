// Which quantised coefficients of a block are kept: decisions by rate and distortion, in integers;
// and how far the clipped samples of a block are moved before its transform.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"

namespace zerorun {

// Deringing of clipped blocks: where samples of a block are at an end of their range, the encoder
// moves them beyond it. A decoder limits its samples, so the ringing of a coarse quantiser at the
// edges of text, which swings back into the range, stays outside. The effect is that of mozjpeg's
// overshoot (K. Lesinski, 2014), which draws a curve through each run of clipped samples; on text
// one distance for all of them saves as much and needs no walk over the block.

/// The furthest that a sample is moved. With it no 16-bit form of the transform leaves its range.
inline constexpr std::uint32_t kMostOvershoot = 31;

/// How far samples are moved at most, by the smallest entry of the quantisation table. Bytes saved
/// at equal SSIMULACRA2 by 2, 3 and 4 steps: 13.9, 14.8 and 14.9 % in 4:2:0, and 9.7, 10.0 and
/// 9.9 % in 4:4:4 (six pictures of text and drawings, `--tune text --effort best`).
///
/// A sample is then at most 128 + min(3 q, 31) from zero and no divisor is below q, so that
/// coefficients are limited in the same places as without overshoot (may_exceed_limit() of
/// cuda/encode/float_quant.hpp): for any other frequency, 8 * 131 * 2.83 * 2.62 < 7800 with q = 1.
ZR_HD std::uint32_t most_overshoot(std::uint32_t least_step) {
  return 3 * least_step < kMostOvershoot ? 3 * least_step : kMostOvershoot;
}

/// The 64 samples of a block: their sum, and how many are 255 and 0.
struct ClippedSamples {
  std::uint32_t sum, white, black;
};

/// How far a block's samples of 255 and of 0 are moved.
struct Overshoot {
  std::uint32_t above, below;

  ZR_HD bool any() const { return (above | below) != 0; }
  /// `sample`: 0..255
  ZR_HD std::int32_t apply(std::uint32_t sample) const {
    const auto value = static_cast<std::int32_t>(sample);
    return sample == 255 ? value + static_cast<std::int32_t>(above)
           : sample == 0 ? value - static_cast<std::int32_t>(below)
                         : value;
  }
  /// The sum of a block's samples, each of them moved: 0..64 * 255.
  ZR_HD std::uint32_t sum_of(const ClippedSamples& block) const {
    return block.sum + block.white * above - block.black * below;
  }
};

/// The mean of the block stays in the range: the range of DC is that of the samples, and a block
/// that is almost flat gets no contrast that it did not have.
ZR_HD Overshoot overshoot_of(const ClippedSamples& block, std::uint32_t most) {
  const auto up_to_most = [most](std::uint32_t room, std::uint32_t count) {
    if (count == 0) return std::uint32_t{0};
    const std::uint32_t each = room / count;
    return each < most ? each : most;
  };
  return {up_to_most(64 * 255 - block.sum, block.white), up_to_most(block.sum, block.black)};
}

// Decisions about coefficients.

/// Magnitudes are counted in 32nds of a quantiser step.
inline constexpr int kFineBits = 5;
inline constexpr std::int32_t kFineStep = 1 << kFineBits, kFineHalf = kFineStep / 2;
/// Baseline holds AC coefficients up to 1023 (T.81 Table F.2).
inline constexpr std::uint32_t kMostFine = 1023 * kFineStep + kFineHalf - 1;

/// ceil(2^27 / 2q), q in 1..255.
ZR_HD std::uint32_t fine_reciprocal(std::uint32_t q) { return ((1u << 27) + 2 * q - 1) / (2 * q); }

/// |x| / 8q in 32nds, rounded half up; 8 is the factor that the forward transform leaves. That is
/// n / 2q of n = 8 |x| + q. With |x| < 2^14, n * 2q < 2^27: the quotient is exact.
ZR_HD std::uint32_t fine_magnitude(std::uint32_t magnitude, std::uint32_t q,
                                   std::uint32_t reciprocal) {
  const auto fine = static_cast<std::uint32_t>(std::uint64_t{8 * magnitude + q} * reciprocal >> 27);
  return fine < kMostFine ? fine : kMostFine;
}
/// The smallest magnitude that does not become 0: fine_magnitude() is at least kFineHalf.
ZR_HD std::uint32_t least_magnitude(std::uint32_t q) { return (31 * q + 7) / 8; }

ZR_HD std::int32_t round_fine(std::uint32_t fine) {
  return (static_cast<std::int32_t>(fine) + kFineHalf) >> kFineBits;
}

/// The numbers by which the blocks of a component are decided. Plain data.
struct TuneTable {
  std::uint32_t reciprocal[kBlockSize];  ///< fine_reciprocal() of q, by zig-zag position
  std::uint16_t step[kBlockSize];        ///< q
  std::uint16_t least[kBlockSize];       ///< least_magnitude() of q
  std::uint8_t bits[256];                ///< of a symbol RRRRSSSS with its appended bits
  std::uint32_t most_overshoot;          ///< of the smallest step; 0: samples stay as they are
  /// The default one goes from element to element: 420 ns for TuneRules, 18 with this one (Xeon).
  friend bool operator==(const TuneTable& a, const TuneTable& b) {
    static_assert(std::has_unique_object_representations_v<TuneTable>);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
};

/// How texture hides errors: they are worth half as much in a block of energy `energy`, as far as
/// `least` does not matter, and never less than `least` 32nds of what they are worth in a block
/// without texture.
struct Masking {
  std::uint32_t energy, least;
  friend bool operator==(const Masking&, const Masking&) = default;
};

/// Plain data. `weight` is what a squared error of one step is worth, in 256ths of a bit, in a
/// block without texture; 0: coefficients are rounded and nothing else is decided. Blocks whose
/// turn is below `thrifty_turns` have `thrifty_weight`.
struct TuneRules {
  std::uint32_t weight;
  std::uint32_t thrifty_weight, thrifty_turns;
  Masking masking;  ///< used where `masked`
  bool masked;      ///< errors in blocks with texture are worth less
  bool by_rate;     ///< decide by the bits that are saved; else by a dead zone
  bool overshoots;  ///< clipped samples are moved beyond the range
  bool gathers;     ///< by a dead zone that is narrower among other coefficients
  TuneTable table[2];

  ZR_HD bool active() const { return weight != 0; }
  friend bool operator==(const TuneRules&, const TuneRules&) = default;
};

/// Thrift, up to kMostThrift, makes the coder drop coefficients more readily. From one multiple of
/// kThriftStep to the next, one block after another gets the next lower weight of an error.
inline constexpr int kMostThrift = 1024, kThriftStep = 256;
inline constexpr int kThriftSteps = kMostThrift / kThriftStep;

/// The weights of TuneRules at multiples of kThriftStep.
struct ThriftWeights {
  std::uint32_t at[kThriftSteps + 1];

  ZR_HD void set(int thrift, TuneRules& rules) const {
    const int step = thrift / kThriftStep;
    rules.weight = at[step];
    rules.thrifty_weight = at[step < kThriftSteps ? step + 1 : kThriftSteps];
    rules.thrifty_turns = static_cast<std::uint32_t>(thrift % kThriftStep);
  }
};

/// Sets what depends on the entry q of a quantisation table at zig-zag position k.
ZR_HD void set_step(TuneTable& table, int k, std::uint32_t q) {
  table.reciprocal[k] = fine_reciprocal(q);
  table.step[k] = static_cast<std::uint16_t>(q);
  table.least[k] = static_cast<std::uint16_t>(least_magnitude(q));
}
/// Sets what depends on the smallest entry.
ZR_HD void set_least_step(TuneTable& table, bool overshoots, std::uint32_t q) {
  table.most_overshoot = overshoots ? most_overshoot(q) : 0;
}

/// The gains of 63 coefficients fit 31 bits, and the product with kMostMasking fits 32.
inline constexpr std::uint32_t kMostWeight = 16000;
/// The largest masking.energy + 2^20 * masking.least / 32.
inline constexpr std::uint32_t kMostMasking = 1u << 18;

/// Squared AC coefficients of a block, from its 64 samples: at most 2^20.
ZR_HD std::uint32_t ac_energy(std::uint32_t sum, std::uint32_t sum_of_squares) {
  return (64 * sum_of_squares - sum * sum) / 64;
}

/// The turn of a block to become thrifty: 0..255, evenly spread over the plane. The constants are
/// 2^32 g and 2^32 g^2, rounded, with 1 / g the real root of x^3 = x + 1.
ZR_HD std::uint32_t turn_of_block(int component, int x_block, int y_block) {
  return (static_cast<std::uint32_t>(x_block) * 3242174889u +
          static_cast<std::uint32_t>(y_block) * 2447445414u +
          static_cast<std::uint32_t>(component) * 1431655765u) >>
         24;
}

/// Energy and turn of a block in one word; an energy takes 21 bits.
ZR_HD std::uint32_t energy_and_turn(std::uint32_t energy, std::uint32_t turn) {
  return energy | turn << 24;
}

/// The weight of a squared error in a block, in 256ths of a bit.
ZR_HD std::uint32_t error_weight(const TuneRules& rules, std::uint32_t energy_turn) {
  const bool is_thrifty = energy_turn >> 24 < rules.thrifty_turns;
  const std::uint32_t weight = is_thrifty ? rules.thrifty_weight : rules.weight;
  if (!rules.masked) return weight;
  const std::uint32_t energy = energy_turn & 0xFFFFFF;
  return weight * (rules.masking.energy + (energy * rules.masking.least >> 5)) /
         (rules.masking.energy + energy);
}

/// Grows from 0 at half a step. Its limits are what a coefficient has to reach.
ZR_HD std::uint64_t zone_product(std::uint32_t fine, std::uint32_t weight) {
  return std::uint64_t{fine - kFineHalf} * weight * 5;
}
/// At 1/2 + (1 + k / 20) / w steps for weight w: the higher the frequency, the wider is the zone.
ZR_HD constexpr std::uint32_t sure_from(int k) { return static_cast<std::uint32_t>(20 + k) * 2048; }
/// At one step; with `gathers` at 1/2 + 0.6 / w.
ZR_HD std::uint32_t likely_from(std::uint32_t weight, bool gathers) {
  return gathers ? 12 * 2048 : static_cast<std::uint32_t>(zone_product(kFineStep, weight));
}

/// The dead zone: which coefficients are not 0. Bit k is position k in zig-zag order. `sure` have
/// reached sure_from(), `likely` likely_from(). Without `gathers`, all of them are kept, so that
/// the zone never ends beyond one step.
///
/// With it, coefficients among zeros are dropped sooner, since they take the most bits: a long run,
/// and a longer block if it is the last one. One that is only likely is kept if another likely one
/// is at most two positions away, and the last sure one (or DC) is at most one position before it.
ZR_HD std::uint64_t beyond_dead_zone(std::uint64_t sure, std::uint64_t likely, bool gathers) {
  if (!gathers) return sure | likely;
#ifdef __CUDA_ARCH__
  const int above_last = __clzll(static_cast<long long>(sure | 1));
#else
  const int above_last = __builtin_clzll(sure | 1);
#endif
  const std::uint64_t up_to_last = (~std::uint64_t{0} >> above_last) << 1 | 1;
  const std::uint64_t near = likely << 1 | likely << 2 | likely >> 1 | likely >> 2;
  return sure | (likely & near & up_to_last);
}

/// Bits of a coefficient behind `run` zeros, with those of ZRL.
ZR_HD std::int32_t pair_bits(const TuneTable& table, int run, int size) {
  return (run >> 4) * table.bits[kZrl] + table.bits[(run & 15) << 4 | size];
}

/// A coefficient that does not round to 0: its place, its magnitude, and that rounded.
struct TunedItem {
  int k;
  std::uint32_t fine;
  std::int32_t rounded;
};

/// Bits that one step less saves, as long as the coefficients before and behind keep their rounded
/// values. `before`: position of the one before; `behind.k` 64: there is none.
ZR_HD std::int32_t saved_bits(const TuneTable& table, int before, const TunedItem& item,
                              const TunedItem& behind) {
  const int run = item.k - before - 1, size = category(item.rounded);
  const std::int32_t now = pair_bits(table, run, size);
  if (item.rounded > 1) return now - pair_bits(table, run, category(item.rounded - 1));
  if (behind.k == kBlockSize) return item.k == kBlockSize - 1 ? now - table.bits[kEob] : now;
  const int next_size = category(behind.rounded), next_run = behind.k - item.k - 1;
  return now + pair_bits(table, next_run, next_size) -
         pair_bits(table, run + next_run + 1, next_size);
}

/// Whether a step towards zero costs less than its bits are worth. The squared error grows by
/// 1 + 2 e steps, where e is the error now.
ZR_HD bool is_worth_a_step(std::int32_t saved, const TunedItem& item, std::uint32_t weight) {
  const std::int32_t error = static_cast<std::int32_t>(item.fine) - (item.rounded << kFineBits);
  const auto grows = static_cast<std::uint32_t>(kFineStep + 2 * error);
  return saved > 0 && grows * weight < static_cast<std::uint32_t>(saved) * (256 << kFineBits);
}

/// How much coding a coefficient as `level` lowers rate and distortion, against 0; in 2^-13 bits.
/// The error is limited so that a block's sum fits 32 bits; at the limit no bits outweigh it.
ZR_HD std::int32_t gain_of(std::uint32_t fine, std::int32_t level, std::int32_t bits,
                           std::uint32_t weight) {
  const std::int32_t squares = level * (2 * static_cast<std::int32_t>(fine) - (level << kFineBits));
  const std::int32_t limited = level > 10 || squares > 2048 ? 2048 : squares;
  return limited * static_cast<std::int32_t>(weight) - bits * (256 << kFineBits);
}

/// Candidates, one after another. Block has fine(k).
template <typename Block>
ZR_HD TunedItem next_item(const Block& block, std::uint64_t& left) {
  if (left == 0) return {kBlockSize, 0, 0};
#ifdef __CUDA_ARCH__
  const int k = __ffsll(static_cast<long long>(left)) - 1;
#else
  const int k = __builtin_ctzll(left);
#endif
  left &= left - 1;
  const std::uint32_t fine = block.fine(k);
  return {k, fine, round_fine(fine)};
}

/// Decides about the AC coefficients of a block. Bit k of `candidates` is set where fine(k) is at
/// least kFineHalf, k > 0. Calls block.set(k, magnitude) for those that are not 0 in the end, and
/// for some that are; returns which are not 0.
template <typename Block>
ZR_HD std::uint64_t tune_by_dead_zone(Block& block, std::uint64_t candidates, std::uint32_t weight,
                                      bool gathers) {
  const std::uint32_t likely_product = likely_from(weight, gathers);
  std::uint64_t sure = 0, likely = 0, left = candidates;
  while (left != 0) {
    const TunedItem item = next_item(block, left);
    const std::uint64_t product = zone_product(item.fine, weight);
    block.set(item.k, item.rounded);
    sure |= std::uint64_t{product >= sure_from(item.k)} << item.k;
    likely |= std::uint64_t{product >= likely_product} << item.k;
  }
  return beyond_dead_zone(sure, likely, gathers);
}

/// As tune_by_dead_zone(): each coefficient goes one step towards zero or stays; then the block
/// ends where rate and distortion together are lowest.
template <typename Block>
ZR_HD std::uint64_t tune_by_rate(Block& block, std::uint64_t candidates, const TuneTable& table,
                                 std::uint32_t weight) {
  const std::int32_t eob = table.bits[kEob] * (256 << kFineBits);
  std::uint64_t kept = 0, best_kept = 0, left = candidates;
  std::int32_t gain = 0, best = -eob;
  int before = 0, last = 0;  // the candidate before, and the last one that is not 0
  TunedItem item = next_item(block, left);
  while (item.k < kBlockSize) {
    const TunedItem behind = next_item(block, left);
    const bool down = is_worth_a_step(saved_bits(table, before, item, behind), item, weight);
    const std::int32_t level = item.rounded - (down ? 1 : 0);
    if (level > 0) {
      block.set(item.k, level);
      kept |= std::uint64_t{1} << item.k;
      const std::int32_t bits = pair_bits(table, item.k - last - 1, category(level));
      gain += gain_of(item.fine, level, bits, weight);
      last = item.k;
      const std::int32_t all = gain - (item.k == kBlockSize - 1 ? 0 : eob);
      if (all > best) {
        best = all;
        best_kept = kept;
      }
    }
    before = item.k;
    item = behind;
  }
  return best_kept;
}

template <typename Block>
ZR_HD std::uint64_t tune_block(Block& block, std::uint64_t candidates, const TuneRules& rules,
                               const TuneTable& table, std::uint32_t energy_turn) {
  const std::uint32_t weight = error_weight(rules, energy_turn);
  return rules.by_rate ? tune_by_rate(block, candidates, table, weight)
                       : tune_by_dead_zone(block, candidates, weight, rules.gathers);
}

/// A Block whose coefficients stand in memory as the transform left them, and are replaced.
/// Position k is at values[k * stride].
class RawBlock {
 public:
  ZR_HD RawBlock(std::int16_t* values, int stride, const TuneTable& table)
      : values_(values), stride_(stride), table_(table) {}

  ZR_HD std::uint32_t magnitude(int k) const {
    const std::int32_t value = values_[k * stride_];
    return static_cast<std::uint32_t>(value < 0 ? -value : value);
  }
  ZR_HD std::uint32_t fine(int k) const {
    return fine_magnitude(magnitude(k), table_.step[k], table_.reciprocal[k]);
  }
  ZR_HD void set(int k, std::int32_t level) {
    std::int16_t& value = values_[k * stride_];
    value = static_cast<std::int16_t>(value < 0 ? -level : level);
  }
  ZR_HD std::uint64_t candidates() const {
    std::uint64_t mask = 0;
    for (int k = 1; k < kBlockSize; ++k)
      mask |= std::uint64_t{magnitude(k) >= table_.least[k]} << k;
    return mask;
  }
  ZR_HD void clear_all_but(std::uint64_t kept) {
    for (int k = 1; k < kBlockSize; ++k)
      if ((kept >> k & 1) == 0) values_[k * stride_] = 0;
  }

 private:
  std::int16_t* values_;
  int stride_;
  const TuneTable& table_;
};

}  // namespace zerorun
