// What a build without FFmpeg says about the peer.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/contenders.hpp"

namespace zerorun::app::bench {

void add_ffmpeg(const Setting& setting, Contenders&) {
  if (setting.selection.peers) setting.notes.push_back("FFmpeg: this build was made without it");
}

}  // namespace zerorun::app::bench
