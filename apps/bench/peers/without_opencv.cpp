// What a build without OpenCV says about the peer.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/contenders.hpp"

namespace zerorun::app::bench {

void add_opencv(const Setting& setting, Contenders&) {
  if (setting.selection.peers && setting.what.pixels == PixelFormat::bgr24)
    setting.notes.push_back("OpenCV: this build was made without it");
}

}  // namespace zerorun::app::bench
