// What one block adds to a scan of a progressive frame (T.81 G.1.2), by a lane. Host code too.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

/// Blocks of a run of ends of bands, at most: EOB14 with all its bits set.
inline constexpr int kMostEobRun = 0x7FFF;
/// A run ends with the block behind which it has more correction bits, as libjpeg's does.
inline constexpr int kMostRunBits = 937;

ZR_HD int lowest_bit(std::uint64_t mask) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(mask)) - 1;
#else
  return __builtin_ctzll(mask);
#endif
}
ZR_HD int count_bits(std::uint64_t mask) {
#ifdef __CUDA_ARCH__
  return __popcll(mask);
#else
  return __builtin_popcountll(mask);
#endif
}
/// The bits above the highest one; all of them if there is none.
ZR_HD std::uint64_t bits_behind(std::uint64_t mask) {
  if (mask == 0) return ~std::uint64_t{0};
#ifdef __CUDA_ARCH__
  const int highest = 63 - __clzll(static_cast<long long>(mask));
#else
  const int highest = 63 - __builtin_clzll(mask);
#endif
  return ~std::uint64_t{1} << highest;
}

/// The coefficients of a block in a band, by zig-zag index.
struct BandBlock {
  std::uint64_t band;   ///< those of the scan
  std::uint64_t fresh;  ///< those that are not 0 from this scan on
  std::uint64_t old;    ///< those that were not 0 before it

  /// `now`: which are not 0 in bits Al and above; `before`: likewise for Ah, or 0 in a first scan.
  ZR_HD BandBlock(std::uint64_t band_of_scan, std::uint64_t now, std::uint64_t before)
      : band(band_of_scan), fresh(now & ~before & band), old(before & band) {}

  /// It has symbols of its own, before which a run ends.
  ZR_HD bool breaks_run() const { return fresh != 0; }
  /// The coefficients behind the last one with a symbol.
  ZR_HD std::uint64_t tail() const { return band & bits_behind(fresh); }
  /// It ends with an end of band, which a run of them counts: its last coefficient has no symbol.
  ZR_HD bool has_tail() const { return (fresh & band & ~(band >> 1)) == 0; }
  /// Correction bits of the tail.
  ZR_HD int tail_bits() const { return count_bits(old & tail()); }
};

ZR_HD std::uint32_t magnitude_of(std::int16_t value, int al) {
  return static_cast<std::uint32_t>(value < 0 ? -std::int32_t{value} : std::int32_t{value}) >> al;
}

/// Emits the symbols of a block in a first scan of AC but for its end of band:
/// sink.symbol(RRRRSSSS, appended bits, how many). `values` by zig-zag index.
template <typename Sink>
ZR_HD void walk_first_scan(const BandBlock& block, int ss, int al, const std::int16_t* values,
                           Sink& sink) {
  int next = ss;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (std::uint64_t left = block.fresh; left != 0; left &= left - 1) {
    const int k = lowest_bit(left);
    int run = k - next;
    for (; run > 15; run -= 16) sink.symbol(kZrl, 0, 0);
    const std::int16_t value = values[k];
    const std::uint32_t magnitude = magnitude_of(value, al);
    const int size = category(static_cast<std::int32_t>(magnitude));
    const std::uint32_t appended = value < 0 ? ~magnitude & ((1u << size) - 1) : magnitude;
    sink.symbol(run << 4 | size, appended, size);
    next = k + 1;
  }
}

/// Counts the symbols of a block in all first scans of AC with one Al, as JobCounts:
/// sink.add(row, RRRRSSSS, how many), modulo 2^32.
template <typename Sink>
class LevelWalk {
 public:
  /// `now`: which coefficients are not 0.
  ZR_HD LevelWalk(std::uint64_t now, int al, const std::int16_t* values, Sink& sink)
      : now_(now), al_(al), values_(values), sink_(sink) {}

  ZR_HD void count() const {
    int next = 1;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (std::uint64_t left = now_; left != 0; left &= left - 1) {
      const int k = lowest_bit(left);
      add(row_of(k, Cuts{}), k - next, size_of(k), 1);
      next = k + 1;
    }
    count_cuts(Cuts{});
  }

 private:
  using Cuts = std::make_index_sequence<kAcCutCount>;
  template <std::size_t kNumber>
  static constexpr int kCut = kAcCuts[kNumber];

  template <std::size_t... kNumber>
  ZR_HD static int row_of(int k, std::index_sequence<kNumber...>) {
    return (0 + ... + (k > kCut<kNumber> ? 1 : 0));
  }
  ZR_HD int size_of(int k) const {
    return category(static_cast<std::int32_t>(magnitude_of(values_[k], al_)));
  }
  ZR_HD void add(int row, int run, int size, std::uint32_t times) const {
    if (run > 15) sink_.add(row, kZrl, times * static_cast<std::uint32_t>(run / 16));
    sink_.add(row, run % 16 << 4 | size, times);
  }
  /// Where a scan begins within a run of zeros, the run is shorter.
  template <std::size_t... kNumber>
  ZR_HD void count_cuts(std::index_sequence<kNumber...>) const {
    (count_cut<kCut<kNumber>>(static_cast<int>(sizeof...(kNumber) + 1 + kNumber)), ...);
  }
  template <int kLast>
  ZR_HD void count_cut(int row) const {
    const std::uint64_t behind = now_ & ~std::uint64_t{1} << kLast;
    if (behind == 0 || (now_ >> kLast & 1) != 0) return;
    const int k = lowest_bit(behind), size = size_of(k);
    const int before = lowest_bit(bits_behind((now_ & ~behind) | 1)) - 1;  // 0: there is none
    add(row, k - before - 1, size, ~0u);
    add(row, k - kLast - 1, size, 1);
  }

  const std::uint64_t now_;
  const int al_;
  const std::int16_t* const values_;
  Sink& sink_;
};

/// Emits correction bits, sink.bits(), the bits of `which` in order.
template <typename Sink>
ZR_HD void walk_corrections(std::uint64_t which, int al, const std::int16_t* values, Sink& sink) {
  if constexpr (Sink::kReadsValues) {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    while (which != 0) {
      std::uint32_t bits = 0;
      int count = 0;
      for (; which != 0 && count < 16; which &= which - 1, ++count)
        bits = bits << 1 | (magnitude_of(values[lowest_bit(which)], al) & 1);
      sink.bits(bits, count);
    }
  } else {
    sink.bits(0, count_bits(which));
  }
}

/// The same in a refining scan. Correction bits follow the symbol behind their coefficients; those
/// of the tail are left to walk_corrections(), behind the end of band.
template <typename Sink>
ZR_HD void walk_refining_scan(const BandBlock& block, int ss, int al, const std::int16_t* values,
                              Sink& sink) {
  std::uint64_t from = ~std::uint64_t{0} << ss;  // behind the last symbol of a coefficient
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (std::uint64_t left = block.fresh; left != 0; left &= left - 1) {
    const int k = lowest_bit(left);
    const std::uint64_t below = (std::uint64_t{1} << k) - 1;
    std::uint64_t zeros = from & below & ~block.old;
    std::uint64_t open = block.old & from & below;  // not corrected yet
    // ZRL comes where the first coefficient behind its 16 zeros is not 0.
    while (count_bits(zeros) > 15) {
      std::uint64_t last = zeros;
      for (int i = 0; i < 15; ++i) last &= last - 1;
      const std::uint64_t behind = ~std::uint64_t{1} << lowest_bit(last);
      const int stop = lowest_bit((block.old | std::uint64_t{1} << k) & behind);
      const std::uint64_t before = open & ((std::uint64_t{1} << stop) - 1);
      sink.symbol(kZrl, 0, 0);
      walk_corrections(before, al, values, sink);
      open &= ~before;
      zeros &= behind;
    }
    std::uint32_t is_positive = 0;
    if constexpr (Sink::kReadsValues) is_positive = values[k] < 0 ? 0 : 1;
    sink.symbol(count_bits(zeros) << 4 | 1, is_positive, 1);
    walk_corrections(open, al, values, sink);
    from = ~std::uint64_t{1} << k;
  }
}

/// EOBn of a run of `blocks` blocks.
template <typename Sink>
ZR_HD void emit_eob_run(int blocks, Sink& sink) {
  const int bits = category(blocks) - 1;
  sink.symbol(bits << 4, static_cast<std::uint32_t>(blocks) & ((1u << bits) - 1), bits);
}

}  // namespace zerorun
