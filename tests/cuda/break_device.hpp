// Breaks a device for the rest of the process.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::test {

/// All later calls on the device fail in this process; others are not touched. False: it still
/// works.
bool break_device(int device);

}  // namespace zerorun::test
