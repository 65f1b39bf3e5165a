// The peer nvJPEG on all devices that are measured.
// SPDX-License-Identifier: MIT
#include "apps/bench/peers/peer_nvjpeg.hpp"

namespace zerorun::app::bench {

void add_nvjpeg(const Setting& setting, Contenders& out) {
  if (!setting.selection.peers || setting.selection.cuda.empty()) return;
  if (!nvjpeg_takes(setting.what.pixels)) {
    setting.notes.push_back("nvJPEG: it does not take this pixel format");
    return;
  }
  for (const int device : setting.selection.cuda) {
    const Status status = setting.what.operation == Operation::encode
                              ? add_nvjpeg_encoder(setting, device, out)
                              : add_nvjpeg_decoders(setting, device, out);
    if (!status) setting.notes.push_back("nvJPEG: " + status.message());
  }
}

}  // namespace zerorun::app::bench
