// Many streams of any sizes into device memory, on several threads and streams at once.
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>

#include <algorithm>

#include "apps/python/binding/batch.hpp"
#include "apps/python/binding/coder_pool.hpp"
#include "apps/python/binding/device.hpp"
#include "apps/python/binding/device_lane.hpp"
#include "apps/python/binding/gil.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::python {
namespace {

using LanePool = CoderPool<Lane, DecodeParams>;
LanePool& lane_pool() {
  // More than the automatic number: making lanes takes longer than what they do in a call.
  constexpr std::size_t kMostIdle = 64;
  static auto& pool = *new LanePool(&Lane::make, kMostIdle);
  return pool;
}

std::vector<DeviceJob> jobs_of(const std::vector<std::unique_ptr<BatchInput>>& inputs) {
  std::vector<DeviceJob> jobs(inputs.size());
  const WithoutGil no_gil;  // asking for the sizes of files may take a while
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    jobs[i].input = inputs[i].get();
    jobs[i].likely_bytes = inputs[i]->likely_bytes();
  }
  return jobs;
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
  constexpr int kMost = 16;
  return worker_count(wanted > 0 ? wanted : std::min(usable_processors(), kMost), true, jobs);
}

/// Errors: what a signal's handler raises, after the images under way have ended.
void run(DeviceJobs& jobs, const std::vector<LanePool::Lent>& lanes, PixelFormat format) {
  bool interrupted = false;
  {
    WithoutGil no_gil;
    for (std::size_t i = 0; i < lanes.size(); ++i)
      lanes[i].coder->start(
          jobs, i < (lanes.size() + 1) / 2 ? Share::long_streams : Share::short_streams, format);
    for (const LanePool::Lent& lane : lanes)
      while (!lane.coder->wait()) {
        if (interrupted || no_gil.call_with_gil(PyErr_CheckSignals) == 0) continue;
        interrupted = true;
        jobs.stop();
      }
  }
  if (interrupted) throw nb::python_error();
}

}  // namespace

void release_lanes() { lane_pool().clear(); }

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
  std::vector<DeviceJob> jobs = jobs_of(inputs);
  DeviceJobs queue(jobs);
  run(queue, lanes, batch.format);
  for (const LanePool::Lent& lane : lanes) check(lane.coder->end_before(batch.stream));
  for (DeviceJob& job : jobs)
    if (job.block) job.block->stream = batch.stream;
  for (LanePool::Lent& lane : lanes) lane_pool().give_back(std::move(lane));
  std::shared_ptr<void> owner;
  if (!stream_owner.is_none()) owner = owner_of(nb::borrow(stream_owner));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    DeviceJob& job = jobs[i];
    if (job.input == nullptr) continue;
    if (!job.status) {
      results[i] = exception_of(job.status);
      continue;
    }
    job.block->stream_owner = owner;
    results[i] = job.planes->object_of(job.block);
  }
  return results;
}

}  // namespace zerorun::python
