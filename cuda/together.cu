// The sources with cub::DeviceScan, as one. CUB's headers take most of their time: for an
// architecture these six take 5 s of a core together, and 14 s one by one. ZERORUN_UNITY and
// tests/check_kernels.sh compile this instead.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_scan.cu"
#include "cuda/entropy/run_length_parle.cu"
#include "cuda/entropy/scan_compact.cu"
#include "cuda/stages/byte_unstuff.cu"
#include "cuda/stages/dc_predict.cu"
#include "cuda/stages/huffman_sync.cu"
