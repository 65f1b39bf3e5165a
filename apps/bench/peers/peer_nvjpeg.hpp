// The peer nvJPEG on one device.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/bench/measure/contenders.hpp"
#include "apps/bench/peers/nvjpeg_library.hpp"

namespace zerorun::app::bench {

Status add_nvjpeg_encoder(const Setting& setting, int device, Contenders& out);
/// One contender a backend.
Status add_nvjpeg_decoders(const Setting& setting, int device, Contenders& out);

}  // namespace zerorun::app::bench
