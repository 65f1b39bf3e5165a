// For tests: devices that have no more than those of another compute capability.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun {

/// 86 or another of kCapabilities: every device has no more than a device of that capability.
/// Kernels are refused, and processors hold as few CTAs, as there. 0: devices are what they are.
/// Any other number: no device can be used. To be called before anything asks for a device.
void set_test_capability(int capability);
int test_capability();

}  // namespace zerorun
