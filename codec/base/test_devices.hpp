// For tests: the CPU pretends to be several CUDA devices, and a device fails.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/status.hpp"

namespace zerorun {

/// The choice of a test.
struct TestDevices {
  int count = 0;     ///< the CPU pretends to be so many CUDA devices, up to 64, and there are no
                     ///< others; 0: it does not pretend
  int failing = -1;  ///< this device, a real one too, fails; -1: none does
  int frames = 0;    ///< so many frames of all its coders are coded before that
};

/// For what is asked and made from now on. The frames are counted anew. Thread-safe.
void set_test_devices(const TestDevices& devices);

/// How many devices the CPU pretends to be; 0: it does not pretend.
int test_device_count();
/// To be called after each frame of a device. Errors: device_failure, of the failing device after
/// its frames.
Status failure_for_test(int device);

}  // namespace zerorun
