// How near the samples of a stream are to the frame that it was made of.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/arith/quality_search.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

struct Judgement {
  PictureLoss loss;
  double value;  ///< PSNR in dB, or SSIM
};

/// Decodes on the CPU, whatever coded the stream.
class PictureJudge {
 public:
  /// Errors: those of Decoder::create().
  static Result<PictureJudge> create(int threads);

  /// By target_psnr or target_ssim of `goal`, one of which is set. Errors: those of
  /// Decoder::decode().
  Result<Judgement> judge(std::span<const std::byte> jpeg, const ConstFrameView& frame,
                          const SizeGoal& goal);
  /// Roughly the loss that the goal allows. PictureLoss::is_near_enough is exact.
  static std::uint64_t loss_wanted(const ConstFrameView& frame, const SizeGoal& goal);
  /// Two pictures that lose the same at each sample have losses in the ratio of their weights.
  static std::uint64_t weight_of(const ConstFrameView& frame, const SizeGoal& goal);

 private:
  explicit PictureJudge(Decoder decoder) : decoder_(std::move(decoder)) {}

  Decoder decoder_;
  Frame decoded_;
};

}  // namespace zerorun
