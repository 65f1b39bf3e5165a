// Nothing is timed before its output was checked: the reference of a case, and the checks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/bench/measure/runner.hpp"
#include "apps/bench/peers/libjpeg.hpp"
#include "apps/common/psnr.hpp"

namespace zerorun::app::bench {

EncodeParams encode_params(const Case& what, Backend backend, int device = 0);
/// For streams of any size: they were made here, or loaded with what --max-pixels allows.
DecodeParams decode_params(Backend backend, int device = 0);

/// What the CPU makes of the frames of a case.
struct Reference {
  std::vector<std::vector<std::byte>> streams;
  /// The decoded streams, for decode cases alone. Empty for the input's own streams, whose decoded
  /// pictures are the frames of the set.
  std::vector<PaddedFrame> pictures;
  double stream_bytes = 0;  ///< mean
  std::size_t largest = 0;
  double psnr = 0;           ///< of the streams, decoded by StreamCheck
  double pictures_psnr = 0;  ///< of `pictures`, or of the frames that stand for them
  double least_psnr = 0;     ///< what a peer must reach
};

/// Works on one frame a core. Ends the command when a stream does not decode.
Reference make_reference(const Case& what, const FrameSet& frames);

/// What zerorun's decoders must make of stream `index`.
ConstFrameView reference_picture(const FrameSet& frames, const Reference& reference,
                                 std::size_t index);
bool same_samples(const ConstFrameView& a, const ConstFrameView& b);

/// An error that says that zerorun's output for frame `index` is wrong.
Status differs_from_cpu(std::size_t index);

/// In dB, at most 99.99, so that files need no infinity.
double psnr_of(const SquaredError& error);

/// Decodes streams and adds up how much they differ from their sources. Decodes by libjpeg-turbo,
/// which is independent of zerorun, where it was found and takes the format; else by zerorun's CPU
/// decoder.
class StreamCheck {
 public:
  /// `threads`: of zerorun's decoder on one frame, 0 for one a core.
  Status open(const ConstFrameView& like, int threads);
  Status add(std::span<const std::byte> jpeg, const ConstFrameView& source);

  const SquaredError& error() const noexcept { return error_; }
  const char* decoder_name() const { return own_ ? "zerorun" : "libjpeg-turbo"; }

 private:
  PaddedFrame decoded_;
  std::unique_ptr<LibjpegDecoder> libjpeg_;
  std::optional<Decoder> own_;
  SquaredError error_;
};

struct CheckResult {
  double psnr = 0;
  double stream_bytes = 0;
  std::string text;  ///< how it was checked
};

/// Encodes every frame once. Streams are decoded and compared with the source; those of `ours` must
/// have the bytes of the reference. An error says why the times would be worth nothing.
Result<CheckResult> check_encoder(Runner& runner, bool ours, const FrameSet& frames,
                                  const Reference& reference);

/// Decodes every stream once; the runners share the streams, each in a thread of its own, and
/// start `together` of them before they finish. Samples of `ours` must be those of the reference;
/// others are compared with the source.
Result<CheckResult> check_decoder(const std::vector<std::unique_ptr<Runner>>& runners,
                                  std::size_t together, bool ours, const FrameSet& frames,
                                  const Reference& reference);

}  // namespace zerorun::app::bench
