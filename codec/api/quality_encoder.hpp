// Codes a picture until its decoded samples are as near as was asked for, and keeps that stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "codec/arith/quality_search.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

struct QualityOutcome {
  int quality_16ths;  ///< the lowest that was found to be near enough
  int codings;        ///< of the picture, without those of the sample
};

/// The decisions depend on the losses of pictures alone, which are measured on the CPU, so that
/// every backend writes the same bytes.
class QualityEncoder {
 public:
  struct Picture {
    ConstFrameView frame;
    /// Codes it with a quality in 16ths to a whole stream.
    std::function<Status(int, std::vector<std::byte>&)> code;
  };

  /// By target_psnr or target_ssim of `goal`, one of which is set. Codes a sample of the picture,
  /// too, if there is one: it shows which qualities to try. `threads` decode.
  /// Errors: quality_not_reached, those of `code` and of Decoder.
  Result<QualityOutcome> encode(const SizeGoal& goal, int threads, const Picture& picture,
                                const std::optional<Picture>& sample);

  /// The stream that was found, and its PSNR or SSIM.
  const std::vector<std::byte>& jpeg() const { return reached_; }
  double value() const { return reached_value_; }

 private:
  Result<PictureLoss> measure(const Picture& picture, const SizeGoal& goal, int quality_16ths);
  Status not_reached(const SizeGoal& goal) const;

  std::optional<Decoder> decoder_;
  Frame decoded_;
  std::vector<std::byte> measured_, reached_;
  double measured_value_ = 0, reached_value_ = 0;  // PSNR in dB, or SSIM
};

}  // namespace zerorun
