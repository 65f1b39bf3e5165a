// The sources of the library with cub::DeviceScan, as one: CUB's headers take most of their time.
// ZERORUN_UNITY and tests/check_kernels.sh compile this instead.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_scan.cu"
#include "cuda/entropy/run_length_parle.cu"
#include "cuda/entropy/scan_compact.cu"
