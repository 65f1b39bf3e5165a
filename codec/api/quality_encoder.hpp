// Codes a picture until its decoded samples are as near as was asked for, and keeps that stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "codec/arith/quality_search.hpp"
#include "codec/pipeline/quality_control.hpp"
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

class QualityEncoder {
 public:
  struct Picture {
    ConstFrameView frame;
    /// Codes it with a quality in 16ths to a whole stream.
    std::function<Status(int, std::vector<std::byte>&)> code;
  };

  /// Codes a sample of the picture, too, if there is one: it shows which qualities to try.
  /// `threads` decode. Errors: quality_not_reached, those of `code` and of Decoder.
  Result<QualityOutcome> encode(const SizeGoal& goal, int threads, const Picture& picture,
                                const std::optional<Picture>& sample);

  /// The stream that was found, and its PSNR or SSIM.
  const std::vector<std::byte>& jpeg() const { return reached_; }
  double value() const { return reached_value_; }

 private:
  Result<PictureLoss> measure(const Picture& picture, const SizeGoal& goal, int quality_16ths);
  Result<PictureLoss> measure_whole(const Picture& picture, const SizeGoal& goal,
                                    int quality_16ths);
  Status not_reached(const SizeGoal& goal) const;

  std::optional<PictureJudge> judge_;
  std::vector<std::byte> measured_, reached_;
  double measured_value_ = 0, reached_value_ = 0;
};

}  // namespace zerorun
