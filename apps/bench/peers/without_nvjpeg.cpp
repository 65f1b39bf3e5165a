// What a build without nvJPEG's header says about the peer.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/contenders.hpp"

namespace zerorun::app::bench {

void add_nvjpeg(const Setting& setting, Contenders&) {
  if (setting.selection.peers && !setting.selection.cuda.empty())
    setting.notes.push_back("nvJPEG: this build was made without it");
}

}  // namespace zerorun::app::bench
