// Nothing is timed that is wrong: reference streams and pictures from the CPU, and a judge that
// nobody here wrote where libjpeg-turbo was found.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/bench/lane.hpp"

namespace zerorun::app::bench {

EncodeParams encode_params(const Case& what);
/// Streams of any size: they were made here, or loaded with what --max-pixels allows.
DecodeParams decode_params(Backend backend, int device = 0);

/// What the CPU makes of the frames.
struct Reference {
  std::vector<std::vector<std::byte>> streams;
  /// The streams decoded; for decode cases alone. Of the input's own streams the frames of the set
  /// are what it would hold, so it is empty.
  std::vector<PaddedFrame> pictures;
  double stream_bytes = 0;  ///< mean
  std::size_t largest = 0;
  double psnr = 0;
  double least_psnr = 0;  ///< what a peer must reach
};

/// Ends the command when a stream does not decode.
Reference make_reference(const Case& what, const FrameSet& frames);

/// What a decoder of ours has to make of stream `index`.
ConstFrameView reference_picture(const FrameSet& frames, const Reference& reference,
                                 std::size_t index);
bool same_samples(const ConstFrameView& a, const ConstFrameView& b);

struct Verdict {
  double psnr = 0;
  double stream_bytes = 0;
  std::string text;
};

/// Codes every frame once and looks at what came out: streams are decoded, samples compared with
/// the source, and what is ours with the reference. An error says why its times are worth nothing.
Result<Verdict> check_encoder(EncodeLane& lane, bool ours, const FrameSet& frames,
                              const Reference& reference);
Result<Verdict> check_decoder(DecodeLane& lane, bool ours, const FrameSet& frames,
                              const Reference& reference);

}  // namespace zerorun::app::bench
