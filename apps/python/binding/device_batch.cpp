// Many streams of any sizes into device memory, on several threads and streams at once.
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "apps/python/binding/batch.hpp"
#include "apps/python/binding/batch_input.hpp"
#include "apps/python/binding/coder_pool.hpp"
#include "apps/python/binding/device.hpp"
#include "apps/python/binding/device_array.hpp"
#include "apps/python/binding/gil.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::python {
namespace {

struct Job {
  const BatchInput* input = nullptr;
  std::size_t likely_bytes = 0;
  std::optional<DevicePlanes> planes;
  std::shared_ptr<DeviceBlock> block;
  Status status;
};

/// A decoder with a stream of its own, so that copies and kernels of several images overlap.
class Lane {
 public:
  static std::unique_ptr<Lane> make(const DecodeParams& params) {
    auto lane = std::make_unique<Lane>(value_of(DeviceDecoder::create(params)), params.device);
    check(cuda_status(cudaStreamCreateWithFlags(&lane->stream_, cudaStreamNonBlocking),
                      "cudaStreamCreateWithFlags"));
    return lane;
  }
  Lane(DeviceDecoder decoder, int device) : decoder_(std::move(decoder)), device_(device) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }

  std::uintptr_t stream() const { return reinterpret_cast<std::uintptr_t>(stream_); }
  /// The most bytes that it was given at once: a measure of the memory that it has.
  std::size_t most_bytes() const { return most_bytes_; }

  Status decode(Job& job, PixelFormat format) {
    const Result<std::span<const std::byte>> jpeg = job.input->bytes(file_);
    if (!jpeg) return jpeg.status();
    const Result<StreamInfo> info = inspect(*jpeg, decoder_.params().limits);
    if (!info) return info.status();
    most_bytes_ = std::max(most_bytes_, jpeg->size());
    job.planes.emplace(format, info->width, info->height);
    Result<std::shared_ptr<DeviceBlock>> memory =
        allocate_device_block(job.planes->bytes, device_, stream());
    if (!memory) return memory.status();
    job.block = *memory;
    return decoder_.decode(*jpeg, job.planes->view_of(*job.block), stream_).status();
  }

 private:
  DeviceDecoder decoder_;
  int device_;
  cudaStream_t stream_ = nullptr;
  // A file is read to where the GPU fetches it. The decoder has fetched all when it returns.
  HostBuffer file_{HostMemory::pinned};
  std::size_t most_bytes_ = 0;
};

using LanePool = CoderPool<Lane, DecodeParams>;
LanePool& lane_pool() {
  static auto& pool = *new LanePool(&Lane::make);
  return pool;
}

std::vector<Job> jobs_of(const std::vector<std::unique_ptr<BatchInput>>& inputs) {
  std::vector<Job> jobs(inputs.size());
  const WithoutGil no_gil;  // asking for the sizes of files may take a while
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    jobs[i].input = inputs[i].get();
    jobs[i].likely_bytes = inputs[i]->likely_bytes();
  }
  return jobs;
}

/// The longest first, so that no thread begins with one when the others have ended.
std::vector<std::size_t> by_length(const std::vector<Job>& jobs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (jobs[i].input != nullptr) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return jobs[a].likely_bytes > jobs[b].likely_bytes;
  });
  return order;
}

/// The lane with the most memory first: it gets the longest stream. Memory that grows makes all
/// lanes wait for the device.
std::vector<LanePool::Lent> take_lanes(const DecodeParams& params, int count) {
  std::vector<LanePool::Lent> lanes;
  for (int i = 0; i < count; ++i) lanes.push_back(lane_pool().take(params));
  std::stable_sort(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) {
    return a.coder->most_bytes() > b.coder->most_bytes();
  });
  return lanes;
}

int lane_count(int wanted, std::size_t jobs) {
  // One decoder a core, as the benchmark's rows with 16 in flight have.
  constexpr unsigned kMost = 16;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
  return worker_count(wanted > 0 ? wanted : static_cast<int>(cores), true, jobs);
}

}  // namespace

nb::list decode_batch_to_device(const std::vector<std::unique_ptr<BatchInput>>& inputs,
                                nb::list results, const DeviceBatch& batch,
                                const DecodeParams& wanted, nb::handle stream_owner) {
  check_cuda_after_fork();
  note_cuda_use();
  DecodeParams params = wanted;
  params.backend = Backend::cuda;
  check(resolve_backend(params.backend, params.device).status());
  const OnDevice current(params.device);
  const auto count = static_cast<std::size_t>(
      std::count_if(inputs.begin(), inputs.end(), [](const auto& i) { return i != nullptr; }));
  std::vector<LanePool::Lent> lanes = take_lanes(params, lane_count(batch.workers, count));
  // Their blocks are freed on the lanes' streams, so the lanes have to live longer.
  std::vector<Job> jobs = jobs_of(inputs);
  const std::vector<std::size_t> order = by_length(jobs);
  run_jobs(order.size(), static_cast<int>(lanes.size()), [&](std::size_t item, int worker) {
    const OnDevice here(params.device);
    Job& job = jobs[order[item]];
    job.status = lanes[static_cast<std::size_t>(worker)].coder->decode(job, batch.format);
  });
  for (const LanePool::Lent& lane : lanes)
    check(order_streams(lane.coder->stream(), batch.stream, params.device));
  for (Job& job : jobs)
    if (job.block) job.block->stream = batch.stream;
  for (LanePool::Lent& lane : lanes) lane_pool().give_back(std::move(lane));
  for (const std::size_t i : order) {
    Job& job = jobs[i];
    if (!job.status) {
      results[i] = exception_of(job.status);
      continue;
    }
    if (!stream_owner.is_none()) job.block->stream_owner = owner_of(nb::borrow(stream_owner));
    results[i] = job.planes->object_of(job.block);
  }
  return results;
}

}  // namespace zerorun::python
