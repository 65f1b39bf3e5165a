// Where the CUDA stages of one frame first leave the CPU stages.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "zerorun/encoder.hpp"

namespace zerorun::test {

/// Runs a host frame through both stage tables and compares every intermediate array in the order
/// of the stages. Empty if all are equal, else the first stage that differs, the MCU and the block.
std::string first_difference(const EncodeParams& params, const ConstFrameView& frame);

}  // namespace zerorun::test
