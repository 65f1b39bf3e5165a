// Brings a picture's stream to a wanted size: symbols are counted at some settings, then the
// picture is coded, and its size corrects what the counts predict. Host and device run the same
// plan, so that they write the same bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/size_search.hpp"

namespace zerorun {

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
