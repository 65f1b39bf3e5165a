// Brings a picture's stream to a wanted size: symbols are counted at some settings, then the
// picture is coded, and its size corrects what the counts predict. Host and device run the same
// plan, so that they write the same bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/arith/size_points.hpp"

namespace zerorun {

/// What is wanted of a picture. Plain data.
struct SizeTask {
  SizeWindow window;
  std::uint64_t overrun;  ///< what the smallest stream may have; 0: no more than the window
  /// Of the stream around the scan, without the values of optimal tables.
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
  /// Of the last coding.
  ZR_HD std::uint64_t bytes() const { return last_.bytes; }

  ZR_HD void add_count(const CountedSize& counted, const SizeCurve& curve) {
    points_.add(setting_, counted);
    // What thrift 0 gave is known, which is nearly the same.
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

  /// The last coding becomes the best one, or that of the smallest stream.
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
