// Outcomes of device calls: cleared before the work, turned into a Status after it.
// SPDX-License-Identifier: MIT
#include "cuda/entropy/outcome.cuh"

#include "cuda/base/launch.hpp"

namespace zerorun::cuda_entropy {

static __global__ void reset_kernel(std::uint64_t* state, std::uint64_t words, Outcome* outcome) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (first == 0) *outcome = {0, kNoFault};
  for (std::uint64_t i = first; i < words; i += std::uint64_t{gridDim.x} * blockDim.x) state[i] = 0;
}

Status reset(void* state, std::uint64_t words, Outcome* outcome, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const unsigned grid = grid_size(static_cast<std::int64_t>(words), kThreads, 1024);
  ZR_LAUNCH(reset_kernel, grid, kThreads, stream, static_cast<std::uint64_t*>(state), words,
            outcome);
  return Status::ok();
}

Status to_status(const Outcome& outcome) {
  if (outcome.fault == kNoFault) return Status::ok();
  const auto code = static_cast<Errc>(outcome.fault & kFaultCodeMask);
  Status status(code, "found on the device");
  auto position = static_cast<std::int64_t>(outcome.fault >> kFaultCodeBits);
  if ((outcome.fault & static_cast<std::uint64_t>(FaultPosition::bits)) != 0)
    position /= 8;
  else if ((outcome.fault & static_cast<std::uint64_t>(FaultPosition::bytes)) == 0)
    position = -1;
  return std::move(status).at_byte(position);
}

}  // namespace zerorun::cuda_entropy
