// A kernel that breaks the context of its device, as a fault in a driver or in hardware does.
// SPDX-License-Identifier: MIT
#include "tests/cuda/break_device.hpp"

#include <cuda_runtime.h>

namespace zerorun::test {

static __global__ void trap_kernel() { asm("trap;"); }

bool break_device(int device) {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  trap_kernel<<<1, 1>>>();
  const bool is_broken = cudaDeviceSynchronize() != cudaSuccess;
  cudaGetLastError();
  cudaSetDevice(before);
  cudaGetLastError();
  return is_broken;
}

}  // namespace zerorun::test
