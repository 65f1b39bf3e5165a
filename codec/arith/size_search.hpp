// Which setting gives a stream of a wanted size: the order in which settings are tried, in
// integers.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace zerorun {

/// What a stream of a wanted size is coded with. More quality is more bytes, more thrift is fewer.
struct SizeSetting {
  int quality_16ths;  ///< 16 to 1600; between two qualities the tables change entry by entry
  int thrift;         ///< 0: coefficients are decided as `tune` says; up to kMostThrift: fewer stay

  friend bool operator==(const SizeSetting&, const SizeSetting&) = default;
};

inline constexpr int kQualityUnit = 16;
inline constexpr int kLeastQuality = kQualityUnit, kMostQuality = 100 * kQualityUnit;
inline constexpr int kMostThrift = 1024;
/// From one multiple of it to the next, block after block gets the next lower worth of an error.
inline constexpr int kThriftStep = 256, kThriftSteps = kMostThrift / kThriftStep;

/// log2(value) in 2^-16, rounded down; value is at least 1.
inline std::int64_t log2_fixed(std::uint64_t value) {
  const int whole = 63 - __builtin_clzll(value);
  std::uint64_t mantissa = whole > 31 ? value >> (whole - 31) : value << (31 - whole);
  std::int64_t log = whole;
  for (int bit = 0; bit < 16; ++bit) {
    mantissa = mantissa * mantissa >> 31;
    log <<= 1;
    if (mantissa >> 32 != 0) {
      mantissa >>= 1;
      ++log;
    }
  }
  return log;
}

/// A size that is wanted, in bytes.
struct SizeWindow {
  std::uint64_t least, most;

  bool holds(std::uint64_t size) const { return size >= least && size <= most; }
};

/// 0.5 % below a target; every size below 200 bytes is on its own.
inline SizeWindow window_of(std::uint64_t target) { return {target - target / 200, target}; }

/// Asks for sizes at settings, one after another, until one is in the window or none can be. First
/// it looks for the quality that is the least to fill the window, then for the thrift that brings
/// the size into it. Sizes may jump, and need not be monotone: the best size asked for counts.
class SizeSearch {
 public:
  /// `least_thrift`: what goes with all qualities.
  SizeSearch(SizeWindow window, int most_quality, int least_thrift)
      : window_(window),
        middle_(log2_fixed(std::max<std::uint64_t>(1, (window.least + window.most) / 2))),
        most_quality_(most_quality),
        least_thrift_(least_thrift),
        next_{std::min(kFirstQuality, most_quality), least_thrift} {}

  bool is_done() const { return is_done_; }
  /// Until it is done: whose size to add() next.
  SizeSetting next() const { return next_; }

  void add(std::uint64_t size) {
    if (size <= window_.most && (!best_.is_known() || size > best_.size)) best_ = {next_, size};
    if (!least_.is_known() || size < least_.size) least_ = {next_, size};
    is_done_ = ++asked_ == kMostSizes || window_.holds(size);
    if (is_done_) return;
    if (!is_thrifty_)
      add_of_quality(size);
    else
      add_of_thrift(size);
  }

  struct Found {
    SizeSetting setting{0, 0};  // none
    std::uint64_t size = 0;

    bool is_known() const { return setting.quality_16ths != 0; }
  };
  /// The largest size that is not above the window; not known: every size was.
  const Found& best() const { return best_; }
  /// The smallest size of all.
  const Found& least() const { return least_; }

 private:
  static constexpr int kFirstQuality = 75 * kQualityUnit, kSecondQuality = 94 * kQualityUnit;
  static constexpr int kFirstThrift = 128;
  static constexpr int kMostSizes = 48;

  /// A place on one of the two scales and the size there.
  struct Point {
    int at = -1;  // none
    std::uint64_t size = 0;

    bool is_known() const { return at >= 0; }
  };

  void add_of_quality(std::uint64_t size) {
    const int at = next_.quality_16ths;
    (size > window_.most ? above_ : below_) = Point{at, size};
    if (size > window_.most && is_near(size))
      save_from(above_);
    else
      next_quality();
  }

  /// Thrift bridges some percent without harm, if it has not failed to.
  bool is_near(std::uint64_t size) const {
    return !is_thrift_weak_ && size - window_.most <= window_.most / 32;
  }

  void next_quality() {
    int& quality = next_.quality_16ths;
    if (!above_.is_known()) {
      is_done_ = below_.at == most_quality_;  // the picture does not fill the size
      quality = std::min(below_.at < kSecondQuality ? kSecondQuality : kMostQuality, most_quality_);
    } else if (above_.at == kLeastQuality || (below_.is_known() && above_.at - below_.at <= 1)) {
      save_from(above_);
    } else if (below_.is_known()) {
      quality = between(below_, above_);
    } else {
      quality = above_.at / 2 > 4 * kLeastQuality ? above_.at / 2 : kLeastQuality;
    }
  }

  void save_from(const Point& quality) {
    is_thrifty_ = true;
    saves_too_little_ = {least_thrift_, quality.size};
    saves_too_much_ = {};
    next_ = {quality.at, kFirstThrift};
  }

  void add_of_thrift(std::uint64_t size) {
    (size > window_.most ? saves_too_little_ : saves_too_much_) = Point{next_.thrift, size};
    if (!saves_too_much_.is_known()) {
      if (next_.thrift == kMostThrift)
        give_thrift_up();
      else
        next_.thrift = std::min(4 * next_.thrift, kMostThrift);
    } else if (saves_too_much_.at - saves_too_little_.at <= 1) {
      is_done_ = true;
    } else {
      next_.thrift = between(saves_too_little_, saves_too_much_);
    }
  }

  /// All of it was not enough: back to the qualities, as near as they come.
  void give_thrift_up() {
    const bool was_last =
        above_.at == kLeastQuality || (below_.is_known() && above_.at - below_.at <= 1);
    is_done_ = was_last;
    is_thrift_weak_ = true;
    is_thrifty_ = false;
    next_.thrift = least_thrift_;
    if (!was_last) next_quality();
  }

  /// Where the size is expected in the middle of the window, if its logarithm is linear; at least
  /// an eighth of the way from either end.
  int between(const Point& low, const Point& high) const {
    const std::int64_t from = log2_fixed(std::max<std::uint64_t>(1, low.size));
    const std::int64_t to = log2_fixed(std::max<std::uint64_t>(1, high.size));
    const int width = high.at - low.at, margin = std::max(1, width / 8);
    const int step =
        from == to ? width / 2 : static_cast<int>((middle_ - from) * width / (to - from));
    return low.at + std::clamp(step, margin, width - margin);
  }

  SizeWindow window_;
  std::int64_t middle_;
  int most_quality_, least_thrift_;
  SizeSetting next_;
  bool is_thrifty_ = false, is_thrift_weak_ = false, is_done_ = false;
  int asked_ = 0;
  Point above_, below_;  // by size, of qualities
  Point saves_too_little_, saves_too_much_;
  Found best_, least_;
};

}  // namespace zerorun
