// The lowest setting whose picture is near enough to its original: the order in which settings are
// tried, in integers.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "codec/arith/size_search.hpp"

namespace zerorun {

/// The loss of a picture: its squared error, or 1 minus its similarity.
struct PictureLoss {
  bool is_near_enough;  ///< decides
  std::uint64_t loss;   ///< only shows where to look next
};

/// Asks for the loss at qualities, in 16ths, until one is near enough and the next lower one is
/// not, or none can be. More quality is less loss, but need not be: below the one that is found
/// others may exist that are near enough, too.
class QualitySearch {
 public:
  /// So many are asked for at most: kMostGuided by what is known, then halves of the rest.
  static constexpr int kMostGuided = 12, kMostAsked = kMostGuided + 11;

  /// Among the qualities above `low`, which is not near enough, up to `high`, which may not be.
  explicit QualitySearch(std::uint64_t loss_wanted, int low = kLeastQuality - 1,
                         int high = kMostQuality)
      : wanted_(log_of(loss_wanted)), low_{low, std::nullopt}, high_{high, std::nullopt} {}

  bool is_done() const { return is_done_; }
  /// Valid when done: the quality that was found; empty if the highest one is not near enough.
  std::optional<int> found() const { return has_high_ ? std::optional(high_.at) : std::nullopt; }
  /// The quality lies above low() and is at most high().
  int low() const { return low_.at; }
  int high() const { return high_.at; }

  /// Until it is done: the quality whose loss to add() next. `expected`: the lowest that should be
  /// near enough, from elsewhere.
  int next(std::optional<int> expected = std::nullopt) {
    next_ = asked_ < kMostGuided ? guided(expected ? *expected : expectation())
                                 : (low_.at + high_.at + (has_high_ ? 0 : 1)) / 2;
    return next_;
  }

  void add(const PictureLoss& at) {
    ++asked_;
    const bool is_same_side = asked_ > 1 && at.is_near_enough == was_near_enough_;
    step_ = is_same_side ? 2 * step_ : 1;
    was_near_enough_ = at.is_near_enough;
    (at.is_near_enough ? high_ : low_) = Place{next_, log_of(at.loss)};
    has_high_ |= at.is_near_enough;
    is_done_ = high_.at - low_.at <= (has_high_ ? 1 : 0);
  }

  /// log2 in 2^-16; no loss counts as 1.
  static std::int64_t log_of(std::uint64_t loss) {
    return log2_fixed(std::max<std::uint64_t>(1, loss));
  }

 private:
  static constexpr int kFirst = 75 * kQualityUnit, kSecond = 94 * kQualityUnit;

  struct Place {
    int at;
    std::optional<std::int64_t> log;
  };

  /// Beyond the last one by `step_` at least, so that the other side comes nearer, too.
  int guided(int expected) const {
    int at = expected;
    if (asked_ > 0)
      at = was_near_enough_ ? std::min(at, high_.at - step_) : std::max(at, low_.at + step_);
    return std::clamp(at, low_.at + 1, has_high_ ? high_.at - 1 : high_.at);
  }

  int expectation() const {
    if (low_.log && high_.log) return between();
    if (high_.log) return high_.at / 2;
    return low_.log && low_.at >= kFirst ? (low_.at < kSecond ? kSecond : kMostQuality) : kFirst;
  }

  /// Takes the logarithm of the loss as linear. Losses that rise with quality are not used.
  int between() const {
    const std::int64_t fall = *low_.log - *high_.log;
    const int width = high_.at - low_.at;
    if (fall <= 0) return low_.at + width / 2;
    const std::int64_t part = std::clamp<std::int64_t>(*low_.log - wanted_, 0, fall);
    return low_.at + static_cast<int>((part * width + fall - 1) / fall);
  }

  std::int64_t wanted_;
  Place low_, high_;
  bool has_high_ = false, is_done_ = false, was_near_enough_ = false;
  int next_ = 0, asked_ = 0, step_ = 1;
};

}  // namespace zerorun
