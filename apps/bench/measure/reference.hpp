// What the CPU makes of the frames of a case, and what everyone else is compared with.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"

namespace zerorun::app::bench {

EncodeParams encode_params(const Case& what);
/// Streams of any size: they were made here, or loaded with what --max-pixels allows.
DecodeParams decode_params(Backend backend, int device = 0);

struct Reference {
  std::vector<std::vector<std::byte>> streams;
  /// The streams decoded; for decode cases alone. Of the input's own streams the frames of the set
  /// are what it would hold, so it is empty.
  std::vector<PaddedFrame> pictures;
  double stream_bytes = 0;  ///< mean
  std::size_t largest = 0;
  double psnr = 0;           ///< of the streams, by a judge
  double pictures_psnr = 0;  ///< of `pictures`, or of frames that stand for them
  double least_psnr = 0;     ///< what a peer must reach
};

/// All frames at a time on all cores. Ends the command when a stream does not decode.
Reference make_reference(const Case& what, const FrameSet& frames);

/// What a decoder of ours has to make of stream `index`.
ConstFrameView reference_picture(const FrameSet& frames, const Reference& reference,
                                 std::size_t index);
bool same_samples(const ConstFrameView& a, const ConstFrameView& b);

}  // namespace zerorun::app::bench
