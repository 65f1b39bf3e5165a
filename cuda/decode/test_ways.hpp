// For tests: how to have scans decoded in ways that otherwise only some of them are.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun {

/// If this variable is set, scans in pinned memory are decoded as they come over the bus
/// (scan_progress.cuh), however short they are and whatever else the process decodes on the device.
inline constexpr const char* kTestFollowVariable = "ZERORUN_TEST_FOLLOW_BUS";

/// If this variable is set, scans are synchronised by walks from every bit (long_walks.cuh), if the
/// device has the memory for it.
inline constexpr const char* kTestEveryBitVariable = "ZERORUN_TEST_EVERY_BIT";

}  // namespace zerorun
