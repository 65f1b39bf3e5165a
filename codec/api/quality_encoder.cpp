// Codes a picture until its decoded samples are as near as was asked for, and keeps that stream.
// SPDX-License-Identifier: MIT
#include "codec/api/quality_encoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "codec/base/pixel_rows.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
namespace {

/// 1 - ssim, in steps of 2^-40.
std::uint64_t missing_to_one(double ssim) {
  return ssim >= 1 ? 0 : static_cast<std::uint64_t>(std::ldexp(1 - ssim, 40));
}

std::uint64_t samples_of(const ConstFrameView& frame) {
  std::uint64_t samples = 0;
  for (int c = 0; c < (frame.format == PixelFormat::gray8 ? 1 : 3); ++c) {
    const ComponentLayout at = component_layout(frame.format, c, frame.width, frame.height);
    samples += static_cast<std::uint64_t>(at.width) * static_cast<std::uint64_t>(at.height);
  }
  return samples;
}

/// Roughly the loss that the goal allows. PictureLoss::is_near_enough is exact.
std::uint64_t loss_wanted(const ConstFrameView& frame, const SizeGoal& goal) {
  if (goal.target_ssim != 0) return missing_to_one(goal.target_ssim);
  const double mean = 255.0 * 255.0 / std::pow(10.0, goal.target_psnr / 10.0);
  return static_cast<std::uint64_t>(mean * static_cast<double>(samples_of(frame)));
}

/// log2 of the ratio of the losses of two pictures that lose the same at each sample.
std::int64_t log_ratio(const ConstFrameView& a, const ConstFrameView& b, const SizeGoal& goal) {
  if (goal.target_ssim != 0) return 0;
  return QualitySearch::log_of(samples_of(a)) - QualitySearch::log_of(samples_of(b));
}

/// Estimates the quality that a picture needs from the losses of a sample of it. Logarithms are
/// log2 in 2^-16.
class SampleModel {
 public:
  using Measure = std::function<Result<PictureLoss>(int)>;

  /// `measure` finds the loss of the sample at a quality; empty: there is no sample. `ratio` is the
  /// expected one of the picture's loss to that of the sample.
  SampleModel(Measure measure, std::uint64_t wanted, std::int64_t ratio)
      : measure_(std::move(measure)), wanted_(QualitySearch::log_of(wanted)), ratio_(ratio) {}

  /// Nothing without a sample.
  Result<std::optional<int>> expected(const QualitySearch& outer) {
    if (!measure_) return std::optional<int>();
    // The loss of the sample at which the picture should have the wanted loss.
    const std::int64_t most = wanted_ - ratio_;
    QualitySearch search(1, outer.low(), outer.high());
    while (!search.is_done()) {
      ZR_LET(log, log_at(search.next(between_known(most, search))));
      search.add({log <= most, 1});
    }
    return std::optional<int>(search.found().value_or(outer.high()));
  }

  /// Takes the loss that the picture had at a quality.
  Status correct(int quality_16ths, std::uint64_t loss) {
    if (!measure_) return Status::ok();
    ZR_LET(log, log_at(quality_16ths));
    ratio_ = QualitySearch::log_of(loss) - log;
    return Status::ok();
  }

 private:
  Result<std::int64_t> log_at(int quality_16ths) {
    if (const auto known = logs_.find(quality_16ths); known != logs_.end()) return known->second;
    ZR_LET(sampled, measure_(quality_16ths));
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

  const Measure measure_;
  const std::int64_t wanted_;
  std::int64_t ratio_;
  std::map<int, std::int64_t> logs_;
};

}  // namespace

Result<QualityOutcome> QualityEncoder::encode(const SizeGoal& goal, int threads,
                                              const Picture& picture,
                                              const std::optional<Picture>& sample) {
  if (!decoder_) {
    DecodeParams params;
    params.backend = Backend::cpu;
    params.limits = StreamLimits::any_size();
    params.threads = threads;
    ZR_LET(made, Decoder::create(params));
    decoder_ = std::move(made);
  }
  const std::uint64_t wanted = loss_wanted(picture.frame, goal);
  SampleModel::Measure measure_sample;
  if (sample) measure_sample = [&](int quality) { return measure(*sample, goal, quality); };
  SampleModel model(measure_sample, wanted,
                    sample ? log_ratio(picture.frame, sample->frame, goal) : 0);
  QualitySearch search(wanted);
  int codings = 0;
  while (!search.is_done()) {
    ZR_LET(expected, model.expected(search));
    const int quality = search.next(expected);
    ZR_LET(loss, measure(picture, goal, quality));
    ++codings;
    if (loss.is_near_enough) {  // its quality is lower than that of all earlier ones
      reached_.swap(measured_);
      reached_value_ = measured_value_;
    }
    search.add(loss);
    if (!search.is_done()) ZR_TRY(model.correct(quality, loss.loss));
  }
  if (!search.found()) return not_reached(goal);
  return QualityOutcome{*search.found(), codings};
}

Result<PictureLoss> QualityEncoder::measure(const Picture& picture, const SizeGoal& goal,
                                            int quality_16ths) {
  ZR_TRY(picture.code(quality_16ths, measured_));
  ZR_TRY(decoder_->decode(measured_, picture.frame.format, decoded_).status());
  const ConstFrameView decoded = std::as_const(decoded_).view();
  if (goal.target_ssim != 0) {
    measured_value_ = luma_ssim(picture.frame, decoded);
    return PictureLoss{measured_value_ >= goal.target_ssim, missing_to_one(measured_value_)};
  }
  const SquaredError error = squared_error(picture.frame, decoded);
  measured_value_ = error.psnr();
  return PictureLoss{measured_value_ >= goal.target_psnr,
                     error.sum[0] + error.sum[1] + error.sum[2]};
}

/// The last coding was that of quality 100.
Status QualityEncoder::not_reached(const SizeGoal& goal) const {
  const bool is_psnr = goal.target_psnr != 0;
  const auto text = [&](double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, is_psnr ? "%.3f dB" : "%.6f", value);
    return std::string(digits);
  };
  return Status(Errc::quality_not_reached, "at quality 100 this picture has " +
                                               std::string(is_psnr ? "a PSNR" : "an SSIM") +
                                               " of " + text(measured_value_) + ", and " +
                                               text(is_psnr ? goal.target_psnr : goal.target_ssim) +
                                               " was asked for; ask for less");
}

}  // namespace zerorun
