// SPDX-License-Identifier: MIT
#include "cuda/base/end_flag.hpp"

#include <atomic>

#include "cuda/base/launch.hpp"

namespace zerorun {
namespace {

__global__ void set_flag_kernel(volatile std::uint32_t* flag, std::uint32_t turn) {
  wait_for_previous_kernel();
  // Words that earlier kernels wrote to host memory arrive before the flag.
  __threadfence_system();
  *flag = turn;
}

/// Polls of the flag before CUDA is asked to wait: a millisecond or two.
constexpr int kPolls = 1 << 20;

}  // namespace

Status EndFlag::create() {
  const DeviceLimits* limits = nullptr;
  unsigned flags = 0;
  ZR_CUDA_TRY(current_device(limits));
  ZR_CUDA_TRY(cudaGetDeviceFlags(&flags));
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  spins_ = limits->programmatic_launches &&
           (schedule == cudaDeviceScheduleAuto || schedule == cudaDeviceScheduleSpin);
  ZR_TRY(flag_.reserve(1));
  *flag_.data() = turn_ = 0;
  return Status::ok();
}

Status EndFlag::wait(cudaStream_t stream) {
  if (spins_) {
    const std::atomic_ref<std::uint32_t> flag(*flag_.data());
    ZR_CUDA_TRY(launch_behind(set_flag_kernel, {1, 1}, stream,
                              static_cast<volatile std::uint32_t*>(flag_.data()), ++turn_));
    for (int poll = 0; poll < kPolls; ++poll)
      if (flag.load(std::memory_order_acquire) == turn_) return Status::ok();
  }
  // Long work, or work that failed: the flag may never be set.
  return ZR_CUDA_STATUS(cudaStreamSynchronize(stream));
}

}  // namespace zerorun
