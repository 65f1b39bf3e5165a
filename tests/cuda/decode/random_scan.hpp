// Undamaged scans of random symbols.
// SPDX-License-Identifier: MIT
#pragma once

#include "tests/cuda/decode/host_scan.hpp"

namespace zerorun::test {

/// Some blocks in one or two of sample_tables(), with every symbol that these have, in intervals of
/// up to eight MCUs or in one.
CleanScan random_scan(Random& random);

}  // namespace zerorun::test
