// Codes a picture until its decoded samples are as near as was asked for, and keeps that stream.
// SPDX-License-Identifier: MIT
#include "codec/api/quality_encoder.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun {

Result<QualityOutcome> QualityEncoder::encode(const SizeGoal& goal, int threads,
                                              const Picture& picture,
                                              const std::optional<Picture>& sample) {
  if (!judge_) {
    ZR_LET(made, PictureJudge::create(threads));
    judge_ = std::move(made);
  }
  QualityCoders coders;
  coders.loss_wanted = PictureJudge::loss_wanted(picture.frame, goal);
  coders.whole = [&](int quality) { return measure_whole(picture, goal, quality); };
  if (sample) {
    coders.sample = [&](int quality) { return measure(*sample, goal, quality); };
    coders.whole_samples = PictureJudge::weight_of(picture.frame, goal);
    coders.sample_samples = PictureJudge::weight_of(sample->frame, goal);
  }
  ZR_LET(outcome, reach_quality(coders));
  if (outcome.quality_16ths == 0) return not_reached(goal);
  return outcome;
}

Result<PictureLoss> QualityEncoder::measure(const Picture& picture, const SizeGoal& goal,
                                            int quality_16ths) {
  ZR_TRY(picture.code(quality_16ths, measured_));
  ZR_LET(judged, judge_->judge(measured_, picture.frame, goal));
  measured_value_ = judged.value;
  return judged.loss;
}

/// Keeps a stream that is near enough: its quality is lower than that of all earlier ones.
Result<PictureLoss> QualityEncoder::measure_whole(const Picture& picture, const SizeGoal& goal,
                                                  int quality_16ths) {
  ZR_LET(loss, measure(picture, goal, quality_16ths));
  if (loss.is_near_enough) {
    reached_.swap(measured_);
    reached_value_ = measured_value_;
  }
  return loss;
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
