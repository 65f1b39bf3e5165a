// Nothing is timed that is wrong: reference streams from the CPU encoder, and a judge that nobody
// here wrote where libjpeg-turbo was found.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/bench/lane.hpp"

namespace zerorun::app::bench {

EncodeParams encode_params(const Case& what);

/// What the CPU encoder makes of the frames.
struct Reference {
  std::vector<std::vector<std::byte>> streams;
  double stream_bytes = 0;  ///< mean
  std::size_t largest = 0;
  double psnr = 0;
};

/// Ends the command when a stream does not decode.
Reference make_reference(const Case& what, const FrameSet& frames);

struct Verdict {
  double psnr = 0;
  double stream_bytes = 0;
  std::string text;
};

/// Encodes every frame, decodes the streams, compares them with the source, and with the reference
/// where the coder is ours. An error says why its times are worth nothing.
Result<Verdict> check_encoder(EncodeLane& lane, bool ours, const FrameSet& frames,
                              const Reference& reference);

}  // namespace zerorun::app::bench
