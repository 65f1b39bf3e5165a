// Codes a picture until its decoded samples are as near as was asked for, and keeps that stream.
// SPDX-License-Identifier: MIT
#include "codec/api/quality_encoder.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "codec/base/frame_distance.hpp"
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

}  // namespace

Result<PictureJudge> PictureJudge::create(int threads) {
  DecodeParams params;
  params.backend = Backend::cpu;
  params.limits = StreamLimits::any_size();
  params.threads = threads;
  ZR_LET(decoder, Decoder::create(params));
  return PictureJudge(std::move(decoder));
}

Result<Judgement> PictureJudge::judge(std::span<const std::byte> jpeg, const ConstFrameView& frame,
                                      const SizeGoal& goal) {
  auto report = decoder_.decode(jpeg, frame.format, decoded_);
  if (!report) return report.status();
  const ConstFrameView decoded = std::as_const(decoded_).view();
  if (goal.target_ssim != 0) {
    const double ssim = luma_ssim(frame, decoded);
    return Judgement{{ssim >= goal.target_ssim, missing_to_one(ssim)}, ssim};
  }
  const SquaredError error = squared_error(frame, decoded);
  const double psnr = error.psnr();
  return Judgement{{psnr >= goal.target_psnr, error.sum[0] + error.sum[1] + error.sum[2]}, psnr};
}

std::uint64_t PictureJudge::loss_wanted(const ConstFrameView& frame, const SizeGoal& goal) {
  if (goal.target_ssim != 0) return missing_to_one(goal.target_ssim);
  const double mean = 255.0 * 255.0 / std::pow(10.0, goal.target_psnr / 10.0);
  return static_cast<std::uint64_t>(mean * static_cast<double>(samples_of(frame)));
}

std::uint64_t PictureJudge::weight_of(const ConstFrameView& frame, const SizeGoal& goal) {
  return goal.target_ssim != 0 ? 1 : samples_of(frame);
}

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
