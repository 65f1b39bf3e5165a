// Owners of CUDA objects, and from CUDA's errors to Status.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/cuda_memory.hpp"

#include <string>

namespace zerorun::app::bench {

Status cuda_failure(cudaError_t error, const char* call) {
  (void)cudaGetLastError();  // otherwise the next launch would report it again
  const Errc code = error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failure;
  const std::string text(call);  // "cudaMalloc(&data, bytes)" -> "cudaMalloc"
  return Status(code, text.substr(0, text.find('(')) + ": " + cudaGetErrorString(error));
}

Status make_stream(StreamOwner& stream) {
  cudaStream_t made = nullptr;
  ZR_CUDA_TRY(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  stream.reset(made);
  return Status::ok();
}

Status make_event(EventOwner& event) {
  cudaEvent_t made = nullptr;
  ZR_CUDA_TRY(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  event.reset(made);
  return Status::ok();
}

}  // namespace zerorun::app::bench
