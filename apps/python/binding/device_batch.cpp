// Many streams of any sizes into device memory, on several threads and streams at once.
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "apps/python/binding/batch.hpp"
#include "apps/python/binding/coder_pool.hpp"
#include "apps/python/binding/device.hpp"
#include "apps/python/binding/device_array.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::python {
namespace {

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

  Status decode(std::span<const std::byte> jpeg, PixelFormat format,
                std::optional<DevicePlanes>& planes, std::shared_ptr<DeviceBlock>& block) {
    const Result<StreamInfo> info = inspect(jpeg, decoder_.params().limits);
    if (!info) return info.status();
    planes.emplace(format, info->width, info->height);
    Result<std::shared_ptr<DeviceBlock>> memory =
        allocate_device_block(planes->bytes, device_, stream());
    if (!memory) return memory.status();
    block = *memory;
    return decoder_.decode(jpeg, planes->view_of(*block), stream_).status();
  }

 private:
  DeviceDecoder decoder_;
  int device_;
  cudaStream_t stream_ = nullptr;
};

using LanePool = CoderPool<Lane, DecodeParams>;
LanePool& lane_pool() {
  static auto& pool = *new LanePool(&Lane::make);
  return pool;
}

struct Job {
  std::span<const std::byte> jpeg;
  std::optional<DevicePlanes> planes;
  std::shared_ptr<DeviceBlock> block;
  Status status;
};

/// The longest first, so that no thread begins with one when the others have ended.
std::vector<std::size_t> by_length(const std::vector<std::unique_ptr<JpegData>>& streams) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < streams.size(); ++i)
    if (streams[i]) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return streams[a]->bytes().size() > streams[b]->bytes().size();
  });
  return order;
}

int lane_count(int wanted, std::size_t jobs) {
  // One decoder a core, as the benchmark's rows with 16 in flight have.
  constexpr unsigned kMost = 16;
  const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
  return worker_count(wanted > 0 ? wanted : static_cast<int>(cores), true, jobs);
}

}  // namespace

nb::list decode_batch_to_device(const std::vector<std::unique_ptr<JpegData>>& streams,
                                nb::list results, const DeviceBatch& batch,
                                const DecodeParams& wanted, nb::handle stream_owner) {
  check_cuda_after_fork();
  note_cuda_use();
  DecodeParams params = wanted;
  params.backend = Backend::cuda;
  check(resolve_backend(params.backend, params.device).status());
  const std::vector<std::size_t> order = by_length(streams);
  const OnDevice current(params.device);
  std::vector<LanePool::Lent> lanes;
  for (int i = lane_count(batch.workers, order.size()); i > 0; --i)
    lanes.push_back(lane_pool().take(params));
  // Their blocks are freed on the lanes' streams, so the lanes have to live longer.
  std::vector<Job> jobs(streams.size());
  for (const std::size_t i : order) jobs[i].jpeg = streams[i]->bytes();
  run_jobs(order.size(), static_cast<int>(lanes.size()), [&](std::size_t item, int worker) {
    const OnDevice here(params.device);
    Job& job = jobs[order[item]];
    job.status = lanes[static_cast<std::size_t>(worker)].coder->decode(job.jpeg, batch.format,
                                                                       job.planes, job.block);
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
