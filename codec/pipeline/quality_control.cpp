// Codes a picture again and again until its decoded samples are as near as was asked for.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/quality_control.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "codec/base/try.hpp"

namespace zerorun {
namespace {

/// Estimates the quality that the picture needs from the losses of the sample.
class SampleModel {
 public:
  explicit SampleModel(const QualityCoders& coders)
      : coders_(coders),
        wanted_(QualitySearch::log_of(coders.loss_wanted)),
        ratio_(QualitySearch::log_of(coders.whole_samples) -
               QualitySearch::log_of(coders.sample_samples)) {}

  /// Nothing without a sample.
  Result<std::optional<int>> expected(const QualitySearch& outer) {
    if (!coders_.sample) return std::optional<int>();
    // The loss of the sample at which the picture should have the wanted loss.
    const std::int64_t most = wanted_ - ratio_;
    QualitySearch search(1, outer.low(), outer.high());
    while (!search.is_done()) {
      ZR_LET(log, log_at(search.next(between_known(most, search))));
      search.add({log <= most, 1});
    }
    return std::optional<int>(search.found().value_or(outer.high()));
  }

  /// What the picture had at a quality.
  Status correct(int quality_16ths, std::uint64_t loss) {
    if (!coders_.sample) return Status::ok();
    ZR_LET(log, log_at(quality_16ths));
    ratio_ = QualitySearch::log_of(loss) - log;
    return Status::ok();
  }

 private:
  Result<std::int64_t> log_at(int quality_16ths) {
    if (const auto known = logs_.find(quality_16ths); known != logs_.end()) return known->second;
    ZR_LET(sampled, coders_.sample(quality_16ths));
    return logs_[quality_16ths] = QualitySearch::log_of(sampled.loss);
  }

  /// Linear between the nearest that are known.
  std::optional<int> between_known(std::int64_t most, const QualitySearch& search) const {
    auto above = logs_.begin();
    while (above != logs_.end() && above->second > most) ++above;
    if (above == logs_.begin() || above == logs_.end()) return std::nullopt;
    const auto below = std::prev(above);
    const std::int64_t width = above->first - below->first, fall = below->second - above->second;
    const std::int64_t at = below->first + (below->second - most) * width / fall;
    return std::clamp(static_cast<int>(at), search.low() + 1, search.high());
  }

  const QualityCoders& coders_;
  std::int64_t wanted_, ratio_;  // log2 in 2^-16
  std::map<int, std::int64_t> logs_;
};

}  // namespace

Result<QualityOutcome> reach_quality(const QualityCoders& coders) {
  QualitySearch search(coders.loss_wanted);
  SampleModel model(coders);
  int codings = 0;
  while (!search.is_done()) {
    ZR_LET(expected, model.expected(search));
    const int quality = search.next(expected);
    ZR_LET(loss, coders.whole(quality));
    ++codings;
    search.add(loss);
    if (!search.is_done()) ZR_TRY(model.correct(quality, loss.loss));
  }
  return QualityOutcome{search.found().value_or(0), codings};
}

}  // namespace zerorun
