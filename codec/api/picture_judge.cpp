// How near the samples of a stream are to the frame that it was made of.
// SPDX-License-Identifier: MIT
#include "codec/api/picture_judge.hpp"

#include <cmath>
#include <utility>

#include "codec/base/component_layout.hpp"
#include "codec/base/luma_ssim.hpp"
#include "codec/base/squared_error.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
namespace {

/// What is missing to a similarity of 1, in steps of 2^-40.
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

}  // namespace zerorun
