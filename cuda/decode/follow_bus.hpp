// For tests: how to have scans followed that otherwise would not be.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun {

/// If this variable is set, scans in pinned memory are decoded as they come over the bus
/// (scan_progress.cuh), however short they are and whatever else the process decodes on the device.
inline constexpr const char* kTestFollowVariable = "ZERORUN_TEST_FOLLOW_BUS";

}  // namespace zerorun
