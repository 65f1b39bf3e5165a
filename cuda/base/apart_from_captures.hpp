// Keeps calls of CUDA apart from what other threads capture.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

namespace zerorun {

/// While a thread captures, CUDA refuses some calls to all other threads, except to those that have
/// chosen the relaxed mode, as this object does while it lives.
class ApartFromCaptures {
 public:
  ApartFromCaptures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~ApartFromCaptures() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ApartFromCaptures(const ApartFromCaptures&) = delete;
  ApartFromCaptures& operator=(const ApartFromCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace zerorun
