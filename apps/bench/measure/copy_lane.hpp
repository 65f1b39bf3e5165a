// Plain copies over the bus and in device memory: the floor under every path.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>

#include "apps/bench/measure/lane.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun::app::bench {

class CopyLane final : public Lane {
 public:
  enum class Way { up, down, on_device };
  struct Job {
    int device;
    Way way;
    std::size_t bytes;
  };

  static Result<std::unique_ptr<Lane>> open(const Job& job) {
    const DeviceGuard guard(job.device);
    ZR_TRY(guard.status());
    std::unique_ptr<CopyLane> lane(new CopyLane(job));
    const auto bytes = static_cast<std::int64_t>(job.bytes);
    ZR_TRY(lane->device_.reserve(bytes));
    if (job.way == Way::on_device) {
      ZR_TRY(lane->second_.reserve(bytes));
    } else {
      ZR_TRY(lane->host_.reserve(bytes));
    }
    ZR_TRY(lane->stream_.create());
    return std::unique_ptr<Lane>(std::move(lane));
  }

  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(job_.device));
    return Status::ok();
  }
  Status start(std::size_t) override {
    void* const to = job_.way == Way::down        ? host_.data()
                     : job_.way == Way::on_device ? second_.data()
                                                  : device_.data();
    const void* const from = job_.way == Way::up ? host_.data() : device_.data();
    ZR_CUDA_TRY(cudaMemcpyAsync(to, from, job_.bytes, cudaMemcpyDefault, stream_.get()));
    return Status::ok();
  }
  Status finish() override {
    ZR_CUDA_TRY(cudaStreamSynchronize(stream_.get()));
    return Status::ok();
  }

 private:
  explicit CopyLane(const Job& job) : job_(job) {}

  Job job_;
  DeviceBuffer<std::byte> device_, second_;
  PinnedBuffer<std::byte> host_;
  Stream stream_;
};

}  // namespace zerorun::app::bench
