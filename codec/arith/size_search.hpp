// Which setting gives a stream of a wanted size: the size of a scan from the counts of its symbols,
// and what to try next by the sizes at other settings; in integers, so that host and device find
// the same.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/arith/tune.hpp"

namespace zerorun {

/// log2(value) in 2^-16, wrong by at most 2^-13; value is at least 1. Between two powers of two it
/// is f + f (1 - f) g(f), where g is a polynomial of degree 3 through four values.
ZR_HD std::int64_t log2_fixed(std::uint64_t value) {
#ifdef __CUDA_ARCH__
  const int whole = 63 - __clzll(static_cast<long long>(value));
#else
  const int whole = 63 - __builtin_clzll(value);
#endif
  const std::uint64_t aligned = whole > 16 ? value >> (whole - 16) : value << (16 - whole);
  const auto f = static_cast<std::int64_t>(aligned & 0xFFFF);
  const std::int64_t g = 28994 - (f * (17667 - (f * (9865 - (f * 2941 >> 16)) >> 16)) >> 16);
  const std::int64_t bow = f * (0x10000 - f) >> 16;
  return (std::int64_t{whole} << 16) + f + (bow * g >> 16);
}

/// Sums over symbols of one table. Plain data.
struct SymbolSums {
  std::uint64_t symbols;  ///< how many there are
  std::uint64_t bits;     ///< appended bits, and those of the codes if they are known
  std::uint64_t spread;   ///< of count * log2(count), in 2^-16
  std::uint32_t kinds;    ///< symbols that differ

  /// `code_bits`: length of the symbol's code; 0 if it is not known.
  ZR_HD void add(int symbol, std::uint32_t count, std::uint32_t code_bits) {
    if (count == 0) return;
    symbols += count;
    bits += std::uint64_t{count} * (static_cast<std::uint32_t>(symbol & 15) + code_bits);
    spread += std::uint64_t{count} * static_cast<std::uint64_t>(log2_fixed(count));
    ++kinds;
  }
  /// The bits that optimal codes take for these symbols: their entropy, and at least one bit each.
  ZR_HD std::uint64_t optimal_code_bits() const {
    if (symbols == 0) return 0;
    const std::uint64_t all = symbols * static_cast<std::uint64_t>(log2_fixed(symbols));
    const std::uint64_t entropy = all > spread ? (all - spread) >> 16 : 0;
    return entropy > symbols ? entropy : symbols;
  }
};

/// The predicted size of a scan. Plain data.
struct CountedSize {
  std::uint64_t bits;   ///< before stuffing, without fill bits and markers
  std::uint32_t kinds;  ///< values in DHT segments of optimal tables; 0 where tables are fixed
};

/// `is_optimal`: the lengths of the codes were not known.
ZR_HD CountedSize counted_size(const SymbolSums (&sums)[kEncodeTables], bool is_optimal) {
  CountedSize size{0, 0};
  for (int table = 0; table < kEncodeTables; ++table) {
    size.bits += sums[table].bits;
    if (!is_optimal) continue;
    size.bits += sums[table].optimal_code_bits();
    size.kinds += sums[table].kinds;
  }
  return size;
}

/// The setting that a stream is coded with. More quality is more bytes, more thrift is fewer.
struct SizeSetting {
  int quality_16ths;  ///< 16 to 1600; between two qualities the tables change entry by entry
  int thrift;         ///< 0: coefficients are decided as `tune` says; up to kMostThrift: fewer stay

  friend bool operator==(const SizeSetting&, const SizeSetting&) = default;
};

inline constexpr int kQualityUnit = 16;
inline constexpr int kLeastQuality = kQualityUnit, kMostQuality = 100 * kQualityUnit;
/// The setting of the smallest stream.
ZR_HD constexpr SizeSetting smallest_setting() { return {kLeastQuality, kMostThrift}; }

/// A size that is wanted, in bytes.
struct SizeWindow {
  std::uint64_t least, most;

  /// 0.5 % below a target; every size below 200 bytes is on its own.
  ZR_HD static SizeWindow of(std::uint64_t target) { return {target - target / 200, target}; }

  ZR_HD bool holds(std::uint64_t size) const { return size >= least && size <= most; }
  ZR_HD std::uint64_t middle() const { return least + (most - least) / 2; }
  /// Away from its ends, as a guess is about 0.1 % wrong.
  ZR_HD SizeWindow inner() const {
    const std::uint64_t margin = (most - least) / 5;
    return {least + margin, most - margin};
  }
  ZR_HD std::int64_t log_of_middle() const { return log2_fixed(middle() > 0 ? middle() : 1); }
};

/// How the size of pictures goes with quality.
struct SizeCurve {
  /// log2 of bytes a block, in 2^-8, at qualities 1 to 100.
  std::int16_t log_bytes[100];

  /// In 2^-16, between two qualities on a line.
  ZR_HD std::int64_t at(int quality_16ths) const {
    const int quality = quality_16ths / kQualityUnit, part = quality_16ths % kQualityUnit;
    const int from = log_bytes[quality - 1], to = part == 0 ? from : log_bytes[quality];
    return (from * kQualityUnit + (to - from) * part) * (std::int64_t{256} / kQualityUnit);
  }
  /// The lowest quality whose size is not below that, or the highest one.
  ZR_HD int quality_of(std::int64_t log) const {
    int low = kLeastQuality - 1, high = kMostQuality;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (at(middle) < log ? low : high) = middle;
    }
    return high;
  }
};

/// Mean of Kodak's first twelve photos and of two mosaics of others, 4:2:0, tables of Annex K.
inline constexpr SizeCurve kPhotoCurve{
    {-57, -56, -37, 0,   37,  71,  103, 130, 157,  180,  203,  222,  242,  258,  275, 291, 305,
     319, 331, 343, 356, 367, 378, 388, 397, 407,  416,  426,  433,  441,  448,  456, 464, 469,
     478, 485, 489, 498, 503, 506, 515, 519, 524,  531,  535,  542,  545,  550,  558, 559, 561,
     569, 575, 578, 583, 589, 595, 602, 606, 610,  618,  622,  630,  634,  642,  647, 653, 662,
     668, 677, 685, 691, 699, 711, 714, 723, 737,  747,  755,  766,  779,  790,  805, 817, 828,
     846, 858, 878, 892, 916, 935, 953, 984, 1018, 1055, 1099, 1143, 1192, 1268, 1317}};

/// A place on the scale of qualities or on that of thrift, and the size there.
struct SizePoint {
  int at = -1;  ///< -1: there is none
  std::uint64_t size = 0;

  ZR_HD bool is_known() const { return at >= 0; }
  ZR_HD std::int64_t log() const { return log2_fixed(size > 0 ? size : 1); }
};

/// Finds the next place to look at between two, or beside one. Plain data.
struct SizeStep {
  SizeWindow aim;
  int tried;  ///< settings whose size is known: the more, the bolder are steps without a border

  /// The next quality. One side at least is known; `most`: the highest quality. `thrift_helps`: a
  /// size just above is best, since thrift takes a percent without harm.
  ZR_HD int quality(const SizePoint& below, const SizePoint& above, int most, bool thrift_helps,
                    const SizeCurve& curve) const {
    constexpr std::int64_t kAbove = 1000;  // 1.1 %
    const std::int64_t wanted = aim.log_of_middle() + (thrift_helps ? kAbove : 0);
    const SizePoint& near = below.is_known() ? below : above;
    std::int64_t there = curve.at(near.at) + wanted - near.log();
    if (below.is_known() && above.is_known()) {
      const std::int64_t from = curve.at(below.at), width = curve.at(above.at) - from;
      const std::int64_t rise = above.log() - below.log();
      there = from + (rise > 0 ? (wanted - below.log()) * width / rise : width / 2);
    }
    int quality = curve.quality_of(there);
    const int low = below.is_known() ? below.at + margin(below, above) : kLeastQuality;
    const int high = above.is_known() ? above.at - margin(below, above) : most;
    quality = quality > low ? quality : low;
    return quality < high ? quality : high < kLeastQuality ? kLeastQuality : high;
  }

  /// The next thrift: `little` saves too little, `much` too much or is not known. `none` is the
  /// size without thrift. `usual`: what thrift saved by one, in 2^-16 of log2, at another quality.
  /// `tries`: how often it was too little.
  ZR_HD int thrift(const SizePoint& none, const SizePoint& little, const SizePoint& much,
                   std::int64_t usual, int tries) const {
    const std::int64_t excess = little.log() - aim.log_of_middle();
    if (much.is_known()) {
      const int width = much.at - little.at, least = width > 8 ? width / 8 : 1;
      const std::int64_t fall = little.log() - much.log();
      // Where sizes fall off a cliff, halves get there sooner.
      const auto step = fall > 0 && tries < 4 ? excess * width / fall : width / 2;
      return little.at + clamp(step, least, width - least);
    }
    const std::int64_t saved = none.log() - little.log();
    const int width = little.at - none.at;
    std::int64_t by_one = width > 0 ? (saved + width - 1) / width : usual;
    if (by_one > kMostByOne) by_one = kMostByOne;
    const std::int64_t step = by_one > 0 ? excess / by_one + 1 : kMostThrift;
    // It may save less and less.
    const std::int64_t bold = tries > 1 && step < width ? width : step + step / 8;
    return clamp(little.at + bold, little.at + 1, kMostThrift);
  }

  /// The usual saving by one step of thrift, in 2^-16 of log2: 10, 18 and 31 of a photo at
  /// qualities 65, 86 and 93, about as its size grows with quality.
  ZR_HD static std::int64_t usual_by_one(int quality_16ths, const SizeCurve& curve) {
    const int low = quality_16ths > kLeastQuality + 8 ? quality_16ths - 8 : kLeastQuality;
    const int high = low < kMostQuality - 16 ? low + 16 : kMostQuality;
    return 5 + (curve.at(high) - curve.at(low)) / 300;
  }

 private:
  static constexpr std::int64_t kMostByOne = 48;

  ZR_HD static int clamp(std::int64_t value, int least, int most) {
    return value < least ? least : value > most ? most : static_cast<int>(value);
  }
  ZR_HD int margin(const SizePoint& below, const SizePoint& above) const {
    if (!below.is_known() || !above.is_known()) return 2 * tried;
    const int width = above.at - below.at;
    return width > 32 ? width / 16 : 1;
  }
};

}  // namespace zerorun
