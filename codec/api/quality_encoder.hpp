// Codes a picture until its decoded samples are as near as was asked for, and keeps that stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "codec/api/picture_judge.hpp"
#include "codec/pipeline/quality_control.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

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
