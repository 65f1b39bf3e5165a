// Many streams of any sizes into device memory, by several decoders side by side.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

#include "apps/python/binding/batch.hpp"
#include "apps/python/binding/coders.hpp"
#include "apps/python/binding/device_memory.hpp"
#include "codec/base/try.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::python {
namespace {

/// A stream of a batch, and what becomes of it.
struct DeviceJob {
  DecodeJob* job;
  std::size_t likely_bytes;
  std::span<const std::byte> jpeg;  ///< empty before it is ready to be decoded
  std::optional<DevicePlanes> planes;
  Status status;
};

/// The jobs of a call, taken from both ends of their order by size: long streams keep the GPU busy,
/// and the calls for short ones, which take longer than their kernels, the CPU. Those that are left
/// to the end are of middle size. Safe to use from several threads.
class DeviceJobs {
 public:
  /// `jobs` outlives the object.
  explicit DeviceJobs(std::vector<DeviceJob>& jobs) : end_(jobs.size()) {
    for (DeviceJob& job : jobs) order_.push_back(&job);
    std::stable_sort(order_.begin(), order_.end(), [](const DeviceJob* a, const DeviceJob* b) {
      return a->likely_bytes > b->likely_bytes;
    });
  }

  /// The longest or the shortest. Null: all are taken, or stop() was called.
  DeviceJob* take(bool longest) {
    const std::lock_guard lock(mutex_);
    if (begin_ == end_) return nullptr;
    return longest ? order_[begin_++] : order_[--end_];
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    begin_ = end_;
  }

 private:
  std::vector<DeviceJob*> order_;
  std::mutex mutex_;
  std::size_t begin_ = 0, end_;
};

/// A decoder with a stream of its own. While the GPU decodes one image of a lane, its thread makes
/// the next one ready.
class Lane {
 public:
  /// Errors: those of DeviceDecoder::create(), device_failure.
  explicit Lane(const DecodeParams& params)
      : decoder_(value_of(DeviceDecoder::create(params))), device_(params.device) {
    check(cuda_status(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                      "cudaStreamCreateWithFlags"));
    check(cuda_status(cudaEventCreateWithFlags(&ended_, cudaEventDisableTiming),
                      "cudaEventCreateWithFlags"));
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    if (ended_ != nullptr) (void)cudaEventDestroy(ended_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }

  /// The most bytes that it was given at once: a measure of the memory that it has.
  std::size_t most_bytes() const { return most_bytes_; }

  /// Decodes jobs until none is left. The first is a short one: then the GPU has work at once, and
  /// the first long streams are copied meanwhile. 8 threads take a millisecond to copy 3 MB each.
  void decode(DeviceJobs& jobs, bool longest, PixelFormat format) {
    const OnDevice here(device_);
    DeviceJob* next = nullptr;
    for (DeviceJob* job = jobs.take(false); job != nullptr; job = std::exchange(next, nullptr)) {
      // The first one, and one behind an image that failed before the GPU had work.
      if (job->jpeg.empty() && job->status)
        job->status = guarded([&] { return prepare(*job, format, false); });
      bool has_looked_ahead = false;
      const auto look_ahead = [&] {
        has_looked_ahead = true;
        next = jobs.take(longest);
        if (next != nullptr) next->status = guarded([&] { return prepare(*next, format, true); });
      };
      if (job->status) job->status = decoder_.select(job->job->scale, job->job->region);
      if (job->status)
        job->status = decoder_.decode(job->jpeg, job->planes->view, stream_, look_ahead).status();
      if (!has_looked_ahead) next = jobs.take(longest);
    }
  }

  /// What is enqueued on `stream` from now on waits for the images.
  Status end_before(std::uintptr_t stream) {
    ZR_TRY(cuda_status(cudaEventRecord(ended_, stream_), "cudaEventRecord"));
    return cuda_status(cudaStreamWaitEvent(stream_of(stream), ended_, 0), "cudaStreamWaitEvent");
  }

 private:
  /// Finds the stream, and memory for its image. `ahead`: while the GPU works, so that there is
  /// time to copy the stream to where the GPU fetches it by itself. Otherwise the decoder copies it
  /// piece by piece while the GPU fetches the pieces before.
  Status prepare(DeviceJob& job, PixelFormat format, bool ahead) {
    const BatchInput& input = *job.job->input;
    HostBuffer& room = rooms_[turn_];
    turn_ = 1 - turn_;
    // Pinned memory that grows makes all lanes wait for milliseconds, so it takes large steps.
    constexpr std::size_t kLeast = std::size_t{1} << 18, kMost = std::size_t{1} << 28;
    if ((ahead || input.is_file()) && job.likely_bytes <= kMost)
      (void)room.reserve(std::bit_ceil(std::max(job.likely_bytes, kLeast)));
    ZR_LET(jpeg, input.bytes(room));
    ZR_LET(info, inspect(jpeg, decoder_.params().limits));
    most_bytes_ = std::max(most_bytes_, jpeg.size());
    ZR_LET(size, decoded_size(info.width, info.height, job.job->scale, job.job->region));
    job.planes.emplace(format, size.width, size.height);
    ZR_TRY(job.planes->allocate(device_, reinterpret_cast<std::uintptr_t>(stream_)));
    job.jpeg = jpeg;
    if (ahead && !input.is_file() && room.resize(jpeg.size())) {
      std::memcpy(room.data(), jpeg.data(), jpeg.size());
      job.jpeg = room.bytes();
    }
    return Status::ok();
  }

  DeviceDecoder decoder_;
  const int device_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t ended_ = nullptr;
  // The stream that the GPU fetches, and the next one. The decoder has fetched all when it returns.
  std::array<HostBuffer, 2> rooms_{HostBuffer(HostMemory::pinned), HostBuffer(HostMemory::pinned)};
  std::size_t turn_ = 0;
  std::size_t most_bytes_ = 0;
};

using LanePool = CoderPool<Lane, DecodeParams>;
LanePool& lane_pool() {
  // More than the automatic number: making lanes takes longer than what they do in a call.
  static auto& pool = *new LanePool(64);
  return pool;
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

}  // namespace

void release_lanes() { lane_pool().clear(); }

void decode_batch_to_device(std::vector<DecodeJob>& all, const DeviceBatch& batch,
                            DecodeParams params, nb::handle stream_owner) {
  check_cuda_after_fork();
  note_cuda_use();
  params.backend = Backend::cuda;
  check(resolve_backend(params.backend, params.device).status());
  const OnDevice current(params.device);
  const auto count = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const DecodeJob& job) { return !!job.input; }));
  auto lanes = take_lanes(params, lane_count(batch.workers, count));
  // Their blocks are freed on the lanes' streams, so the lanes have to live longer.
  std::vector<DeviceJob> jobs = without_gil([&] {  // asking for the sizes of files may take a while
    std::vector<DeviceJob> found;
    for (DecodeJob& job : all)
      if (job.input) found.push_back({&job, job.input->likely_bytes(), {}, {}, {}});
    return found;
  });
  DeviceJobs queue(jobs);
  const std::size_t half = (lanes.size() + 1) / 2;
  run_jobs(
      lanes.size(), static_cast<int>(lanes.size()),
      [&](std::size_t lane, int) { lanes[lane].coder->decode(queue, lane < half, batch.format); },
      [&] { queue.stop(); });
  for (const LanePool::Lent& lane : lanes) check(lane.coder->end_before(batch.stream));
  for (DeviceJob& job : jobs)
    if (job.planes && job.planes->block) job.planes->block->stream = batch.stream;
  for (LanePool::Lent& lane : lanes) lane_pool().give_back(std::move(lane));
  std::shared_ptr<void> owner;
  if (!stream_owner.is_none()) owner = owner_of(nb::borrow(stream_owner));
  for (DeviceJob& job : jobs) {
    if (job.status) job.planes->block->stream_owner = owner;
    job.job->result = job.status ? job.planes->object() : exception_of(job.status);
  }
}

}  // namespace zerorun::python
