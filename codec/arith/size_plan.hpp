// Brings a picture's stream to a wanted size: symbols are counted at some settings, then the
// picture is coded, and its size corrects what the counts predict. Host and device run the same
// plan, so that they write the same bytes.
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
    // Later steps of thrift may save less than the ones before.
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

/// A setting to be looked at, or the one that is found.
struct SizeQuestion {
  SizeSetting setting;
  bool is_answer;
};

/// Sizes that were coded, and sizes that counts predict. Plain data.
class SizePoints {
 public:
  static constexpr int kMost = 40;

  /// `other_bytes`: bytes of the stream beside the scan and the values of optimal tables.
  ZR_HD void start(std::uint64_t other_bytes, std::uint64_t blocks, std::uint64_t counted_blocks) {
    count_ = 0;
    other_bytes_ = other_bytes;
    ratio_ = limited(((blocks << kRatioBits) / 8 + blocks * kStuffing) / counted_blocks);
  }

  ZR_HD int count() const { return count_; }
  ZR_HD bool is_full() const { return count_ == kMost; }

  ZR_HD void add(const SizeSetting& setting, const CountedSize& counted) {
    constexpr std::uint64_t kMostBits = std::uint64_t{1} << 35;  // a sample of the largest frame
    const std::uint64_t bits = counted.bits < kMostBits ? counted.bits : kMostBits;
    Point& point = point_[count_++];
    point = {bits > 0 ? bits : 1,
             0,
             counted.kinds,
             static_cast<std::uint16_t>(setting.quality_16ths),
             static_cast<std::uint16_t>(setting.thrift),
             0};
    point.size = predicted(point);
  }

  /// The setting was coded and the stream has `bytes`: all predicted sizes grow in the ratio of
  /// that to what was counted.
  ZR_HD void learn(const SizeSetting& setting, std::uint64_t bytes) {
    for (int i = 0; i < count_; ++i) {
      if (!(setting_of(point_[i]) == setting)) continue;
      point_[i].size = bytes;
      point_[i].is_coded = 1;
      const std::uint64_t others = other_bytes_ + point_[i].kinds;
      const std::uint64_t scan = bytes > others ? bytes - others : 1;
      ratio_ = limited((scan << kRatioBits) / point_[i].bits);
    }
    for (int i = 0; i < count_; ++i)
      if (point_[i].is_coded == 0) point_[i].size = predicted(point_[i]);
  }

  ZR_HD bool is_coded(const SizeSetting& setting) const {
    for (int i = 0; i < count_; ++i)
      if (setting_of(point_[i]) == setting) return point_[i].is_coded != 0;
    return false;
  }

  /// First finds the lowest quality that fills the window, then the thrift that brings the size
  /// into it. `most` gives the most bytes. One point at least has its thrift. `is_rough`: a quality
  /// alone will do, if there is one.
  ZR_HD SizeQuestion ask(const SizeWindow& aim, const SizeSetting& most, bool is_rough,
                         const SizeCurve& curve) const {
    const int found = best_point(aim);
    const SizeQuestion answer{found < 0 ? smallest_setting() : setting_of(point_[found]), true};
    if (found >= 0 && point_[found].size >= aim.least) return answer;
    SizePoint above, below;
    for (int i = 0; i < count_; ++i) {
      const SizePoint p = on_scale(point_[i], point_[i].quality_16ths);
      if (point_[i].thrift == most.thrift && p.size > aim.most &&
          (!above.is_known() || p.at < above.at))
        above = p;
    }
    for (int i = 0; i < count_; ++i) {
      const SizePoint p = on_scale(point_[i], point_[i].quality_16ths);
      if (point_[i].thrift == most.thrift && p.size <= aim.most && p.at > below.at &&
          (!above.is_known() || p.at < above.at))
        below = p;
    }
    if (below.at == most.quality_16ths) return answer;
    const bool is_lowest =
        above.at == kLeastQuality || (below.is_known() && above.at == below.at + 1);
    const SizeStep step{aim, count_};
    bool thrift_helps = !is_rough;
    if (above.is_known()) {
      const ThriftRange range = thrift_of(above, aim, most.thrift);
      if (!range.is_used_up() && (is_lowest || (thrift_helps && is_near(above, aim))))
        return {{above.at, step.thrift(range.none, range.little, range.much,
                                       usual_by_one(above.at, most.thrift, curve), range.tries)},
                false};
      if (is_lowest) return answer;
      thrift_helps = thrift_helps && !range.is_used_up();
    }
    const int quality = step.quality(below, above, most.quality_16ths, thrift_helps, curve);
    return {{quality, most.thrift}, false};
  }

  /// The setting of the largest size that is not above the aim, or else of the smallest stream.
  ZR_HD SizeSetting best(const SizeWindow& aim) const {
    const int found = best_point(aim);
    return found < 0 ? smallest_setting() : setting_of(point_[found]);
  }

  /// The setting of the size that was not coded and is nearest to the aim, within a 32nd of it, or
  /// else of the smallest stream.
  ZR_HD SizeSetting nearest(const SizeWindow& aim) const {
    SizeSetting found = smallest_setting();
    std::uint64_t best = aim.most / 32;
    for (int i = 0; i < count_; ++i) {
      const std::uint64_t at = point_[i].size, middle = aim.middle();
      const std::uint64_t away = at > middle ? at - middle : middle - at;
      if (point_[i].is_coded != 0 || away > best) continue;
      best = away;
      found = setting_of(point_[i]);
    }
    return found;
  }

 private:
  /// `ratio_` is bytes of the scan for each bit that was counted, in 2^-20.
  static constexpr int kRatioBits = 20;
  /// Stuffing adds about a 256th.
  static constexpr std::uint64_t kStuffing = (1u << kRatioBits) / 8 / 256;

  struct Point {
    std::uint64_t bits, size;  ///< size is predicted until the setting is coded
    std::uint32_t kinds;
    std::uint16_t quality_16ths, thrift;
    std::uint32_t is_coded;
  };

  /// The product with bits fits 64 bits.
  ZR_HD static std::uint64_t limited(std::uint64_t ratio) {
    constexpr std::uint64_t kMostRatio = std::uint64_t{1} << 28;
    return ratio < kMostRatio ? ratio : kMostRatio;
  }
  ZR_HD static SizeSetting setting_of(const Point& p) { return {p.quality_16ths, p.thrift}; }
  ZR_HD std::uint64_t predicted(const Point& p) const {
    return other_bytes_ + p.kinds + (p.bits * ratio_ >> kRatioBits);
  }
  /// Thrift bridges some percent without harm.
  ZR_HD static bool is_near(const SizePoint& above, const SizeWindow& aim) {
    return above.size - aim.most <= aim.most / 32;
  }
  ZR_HD static SizePoint on_scale(const Point& p, int at) { return {at, p.size}; }

  /// -1: all are larger.
  ZR_HD int best_point(const SizeWindow& aim) const {
    int found = -1;
    std::uint64_t size = 0;
    for (int i = 0; i < count_; ++i) {
      const std::uint64_t at = point_[i].size;
      if (at > aim.most || at <= size) continue;
      size = at;
      found = i;
    }
    return found;
  }

  /// The sizes that are known of a quality, by thrift.
  struct ThriftRange {
    SizePoint none, little, much;  ///< the last that saves too little, the first that does not
    int tries;                     ///< that saved too little

    ZR_HD bool is_used_up() const {
      return little.at == kMostThrift || (much.is_known() && much.at - little.at <= 1);
    }
  };

  ZR_HD ThriftRange thrift_of(const SizePoint& quality, const SizeWindow& aim, int least) const {
    ThriftRange range{{least, quality.size}, {least, quality.size}, {}, 0};
    for (int i = 0; i < count_; ++i) {
      const SizePoint p = on_scale(point_[i], point_[i].thrift);
      if (point_[i].quality_16ths != quality.at || p.size <= aim.most || p.at == least) continue;
      ++range.tries;
      if (p.at > range.little.at) range.little = p;
    }
    for (int i = 0; i < count_; ++i) {
      const SizePoint p = on_scale(point_[i], point_[i].thrift);
      if (point_[i].quality_16ths == quality.at && p.size <= aim.most && p.at > range.little.at &&
          (!range.much.is_known() || p.at < range.much.at))
        range.much = p;
    }
    return range;
  }

  /// The saving by one step of thrift where it was last counted, or the usual one.
  ZR_HD std::int64_t usual_by_one(int quality_16ths, int least, const SizeCurve& curve) const {
    for (int i = count_ - 1; i > 0; --i) {
      if (point_[i].thrift <= least) continue;
      for (int j = i - 1; j >= 0; --j) {
        if (point_[j].quality_16ths != point_[i].quality_16ths || point_[j].thrift != least)
          continue;
        const std::int64_t saved = log2_fixed(point_[j].bits) - log2_fixed(point_[i].bits);
        return saved / (point_[i].thrift - least);
      }
    }
    return SizeStep::usual_by_one(quality_16ths, curve);
  }

  int count_;
  std::uint64_t other_bytes_, ratio_;
  Point point_[kMost];
};

/// The size that a picture shall have. Plain data.
struct SizeTask {
  SizeWindow window;
  std::uint64_t overrun;  ///< what the smallest stream may have; 0: no more than the window
  /// Bytes of the stream around the scan, without the values of optimal tables.
  std::uint64_t other_bytes;
  std::uint64_t blocks, counted_blocks;  ///< of the picture, and of what is counted of it
  SizeSetting most;                      ///< gives the most bytes
  bool tries_most;                       ///< it is coded first, without thrift

  ZR_HD bool is_sampled() const { return counted_blocks < blocks; }
};

/// Plain data. After start() it says what to do until it is done. Sizes may jump from one setting
/// to the next, and need not be monotone: the best of all codings counts.
class SizePlan {
 public:
  enum class Step : std::uint32_t {
    count,  ///< count symbols with setting(): add_count()
    code,   ///< code the picture with setting(): add_code()
    done    ///< if is_reached(), the last coding is the stream
  };

  /// Codings at most, of a picture that is counted whole and of one of which a sample is; one more
  /// with SizeTask::tries_most. The last one is that of the best setting again, or of the smallest
  /// stream, and the one before it aims low if all others were too large.
  static constexpr int kCodingsOfWhole = 16, kCodingsOfSample = 5;
  ZR_HD static int most_codings(const SizeTask& task) {
    return (task.is_sampled() ? kCodingsOfSample : kCodingsOfWhole) + (task.tries_most ? 1 : 0);
  }

  ZR_HD void start(const SizeTask& task, const SizeCurve& curve) {
    task_ = task;
    points_.start(task.other_bytes, task.blocks, task.counted_blocks);
    codings_ = 0;
    last_ = best_ = {};
    is_settling_ = is_reached_ = false;
    setting_ = task.most;
    step_ = task.tries_most ? Step::code : Step::count;
    if (task.tries_most) {
      setting_.thrift = 0;
      return;
    }
    const std::int64_t wanted = task.window.log_of_middle() - log2_fixed(task.blocks);
    const int quality = curve.quality_of(wanted);
    if (quality < setting_.quality_16ths) setting_.quality_16ths = quality;
  }

  ZR_HD Step step() const { return step_; }
  ZR_HD const SizeSetting& setting() const { return setting_; }
  ZR_HD int codings() const { return codings_; }
  ZR_HD bool is_reached() const { return is_reached_; }
  /// Bytes of the last coding.
  ZR_HD std::uint64_t bytes() const { return last_.bytes; }

  ZR_HD void add_count(const CountedSize& counted, const SizeCurve& curve) {
    points_.add(setting_, counted);
    // The size with thrift 0 is known and nearly the same.
    if (points_.count() == 1 && codings_ == 1) points_.learn(setting_, last_.bytes);
    go_on(curve);
  }

  ZR_HD void add_code(std::uint64_t bytes, const SizeCurve& curve) {
    const bool is_first = task_.tries_most && codings_ == 0;
    ++codings_;
    last_ = {setting_, bytes};
    if (bytes <= task_.window.most && bytes > best_.bytes) best_ = last_;
    const bool fits = is_first ? bytes <= task_.window.most : task_.window.holds(bytes);
    const bool is_all = setting_ == task_.most && bytes <= task_.window.most;
    if (is_settling_ || fits || is_all) {
      finish(bytes <= task_.window.most || bytes <= task_.overrun);
    } else if (is_first) {
      setting_ = task_.most;
      step_ = Step::count;
    } else {
      points_.learn(setting_, bytes);
      go_on(curve);
    }
  }

 private:
  struct Coding {
    SizeSetting setting;
    std::uint64_t bytes;  ///< 0: there is none
  };

  ZR_HD void finish(bool is_reached) {
    step_ = Step::done;
    is_reached_ = is_reached;
  }

  ZR_HD void go_on(const SizeCurve& curve) {
    const int left = most_codings(task_) - codings_;
    if (left == 1) {
      settle();
      return;
    }
    const SizeWindow aim = aim_of(left);
    const SizeQuestion question = points_.is_full()
                                      ? SizeQuestion{points_.best(aim), true}
                                      : points_.ask(aim, task_.most, is_rough(), curve);
    setting_ = question.setting;
    step_ = question.is_answer ? Step::code : Step::count;
    if (!question.is_answer || !(points_.is_coded(setting_) || setting_ == smallest_setting()))
      return;
    // The counts do not predict the size exactly: stuffing may take more than half a percent.
    if (!task_.is_sampled()) setting_ = points_.nearest(aim);
    if (task_.is_sampled() || setting_ == smallest_setting()) settle();
  }

  /// A first guess by a sample is some percent wrong. It shows how wrong the next ones are.
  ZR_HD bool is_rough() const {
    return task_.is_sampled() && codings_ == (task_.tries_most ? 1 : 0);
  }

  ZR_HD SizeWindow aim_of(int left) const {
    const std::uint64_t most = task_.window.most;
    if (is_rough()) return {most - most / 25, most + most / 100};
    if (left > 2 || best_.bytes != 0) return task_.window.inner();
    return {most - most / 8, most - most / 32};
  }

  /// Codes the best setting once more, or the smallest stream if no setting fits.
  ZR_HD void settle() {
    is_settling_ = true;
    setting_ = best_.bytes != 0 ? best_.setting : smallest_setting();
    step_ = Step::code;
    if (setting_ == last_.setting) finish(best_.bytes != 0 || last_.bytes <= task_.overrun);
  }

  SizeTask task_;
  SizePoints points_;
  Step step_;
  SizeSetting setting_;
  int codings_;
  bool is_settling_, is_reached_;
  Coding last_, best_;
};

}  // namespace zerorun
