// Codes a picture again and again until its stream has the size that was asked for.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/size_control.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/base/try.hpp"

namespace zerorun {
namespace {

/// Codings of the whole picture before its own sizes alone count: the first shows how it compares
/// with the sample, so that the second seldom fails.
constexpr int kMostGuesses = 4;

class SizeRun {
 public:
  SizeRun(std::uint64_t target, std::uint64_t overrun, SizeSetting most, const SizedCoders& coders)
      : window_(window_of(target)), overrun_(overrun), most_(most), coders_(coders) {}

  Result<SizeOutcome> run(bool try_quality_first) {
    if (try_quality_first) {
      ZR_LET(size, code({most_.quality_16ths, 0}));
      if (size <= window_.most) return outcome();
    }
    ZR_LET(by_sample, coders_.sample ? reach_by_sample() : Result<bool>(false));
    if (!by_sample) ZR_TRY(reach_exactly());
    return outcome();
  }

 private:
  /// The picture's size, which is coded unless it was the last one.
  Result<std::uint64_t> code(const SizeSetting& setting) {
    const auto known = std::find_if(whole_.begin(), whole_.end(),
                                    [&](const auto& one) { return one.first == setting; });
    if (known != whole_.end()) return known->second;
    ZR_LET(size, coders_.whole(setting));
    last_ = setting;
    ++codings_;
    other_bytes_ = size.total - size.scan;
    whole_.emplace_back(setting, size.total);
    return size.total;
  }

  Result<std::uint64_t> code_sample(const SizeSetting& setting) {
    for (const auto& [coded, bytes] : sampled_)
      if (coded == setting) return bytes;
    ZR_LET(bytes, coders_.sample(setting));
    sampled_.emplace_back(setting, bytes);
    return bytes;
  }

  /// What the sample says about the picture: both grow in the same ratio.
  std::uint64_t predict(std::uint64_t sample_bytes) const {
    return sample_bytes * ratio_.first / ratio_.second + other_bytes_;
  }

  /// The setting that should give the size, by the sample.
  Result<SizeSetting> guess() {
    // Away from the ends of the window, as the guess is about 0.1 % wrong.
    const SizeWindow inner{window_.most - window_.most / 250, window_.most - window_.most / 1000};
    SizeSearch search(inner, most_.quality_16ths, most_.thrift);
    while (!search.is_done()) {
      ZR_LET(bytes, code_sample(search.next()));
      search.add(predict(bytes));
    }
    return search.best().is_known() ? search.best().setting : search.least().setting;
  }

  /// False: the sample does not lead there.
  Result<bool> reach_by_sample() {
    ratio_ = {coders_.whole_blocks, coders_.sample_blocks};
    for (int n = 0; n < kMostGuesses; ++n) {
      ZR_LET(setting, guess());
      ZR_LET(size, code(setting));
      if (window_.holds(size)) return settle(setting);
      if (setting == most_ && size < window_.least) return settle(setting);
      ZR_LET(sample_bytes, code_sample(setting));
      const std::pair<std::uint64_t, std::uint64_t> ratio{size - other_bytes_,
                                                          std::max<std::uint64_t>(1, sample_bytes)};
      if (std::exchange(ratio_, ratio) == ratio) return false;  // nothing new was learnt
    }
    return false;
  }

  Status reach_exactly() {
    SizeSearch search(window_, most_.quality_16ths, most_.thrift);
    while (!search.is_done()) {
      ZR_LET(size, code(search.next()));
      search.add(size);
    }
    if (!search.best().is_known()) {
      if (search.least().size > overrun_) return not_reached(search.least().size);
      return settle(search.least().setting).status();
    }
    return settle(best_of_all(search.best().setting)).status();
  }

  /// Guesses may have come nearer.
  SizeSetting best_of_all(SizeSetting setting) const {
    std::uint64_t most = 0;
    for (const auto& [coded, size] : whole_)
      if (size <= window_.most && size > most) {
        most = size;
        setting = coded;
      }
    return setting;
  }

  /// The last coding is that of the setting.
  Result<bool> settle(const SizeSetting& setting) {
    if (last_ == setting) return true;
    whole_.clear();
    ZR_TRY(code(setting).status());
    return true;
  }

  Status not_reached(std::uint64_t least) const {
    const std::string limit = overrun_ == 0 ? std::to_string(window_.most) + " were asked for"
                                            : "there is room for " + std::to_string(overrun_);
    return Status(Errc::size_not_reached, "the smallest stream of this picture has " +
                                              std::to_string(least) + " bytes, and " + limit +
                                              "; ask for more, or scale the picture down");
  }

  SizeOutcome outcome() const { return {*last_, codings_}; }

  const SizeWindow window_;
  const std::uint64_t overrun_;  // what the smallest stream may have; 0: the window's
  const SizeSetting most_;       // that gives the most bytes
  const SizedCoders& coders_;
  std::vector<std::pair<SizeSetting, std::uint64_t>> whole_, sampled_;
  std::pair<std::uint64_t, std::uint64_t> ratio_{1, 1};
  std::uint64_t other_bytes_ = 600;  // about a header, until one is known
  std::optional<SizeSetting> last_;
  int codings_ = 0;
};

}  // namespace

Result<SizeOutcome> reach_size(const SizeGoal& goal, const SizeSetting& most,
                               const SizedCoders& coders) {
  const bool caps_alone = goal.target_bytes == 0;
  std::uint64_t target = caps_alone ? goal.max_bytes : goal.target_bytes;
  if (goal.max_bytes != 0) target = std::min<std::uint64_t>(target, goal.max_bytes);
  const std::uint64_t overrun = caps_alone ? 0 : goal.overrun_bytes;
  return SizeRun(target, overrun, {caps_alone ? most.quality_16ths : kMostQuality, most.thrift},
                 coders)
      .run(caps_alone);
}

}  // namespace zerorun
