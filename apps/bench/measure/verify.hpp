// Nothing is timed that is wrong: what a coder makes is compared with the reference.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/measure/lane.hpp"
#include "apps/bench/measure/reference.hpp"

namespace zerorun::app::bench {

struct Verdict {
  double psnr = 0;
  double stream_bytes = 0;
  std::string text;
};

/// Both code every frame once and look at what came out; an error says why its times are worth
/// nothing. Streams are decoded, samples compared with the source, and what is ours with the
/// reference.
Result<Verdict> check_encoder(EncodeLane& lane, bool ours, const FrameSet& frames,
                              const Reference& reference);

/// The lanes share the frames, a thread each. `together` frames are started before a lane finishes.
Result<Verdict> check_decoder(const std::vector<std::unique_ptr<Lane>>& lanes, std::size_t together,
                              bool ours, const FrameSet& frames, const Reference& reference);

}  // namespace zerorun::app::bench
