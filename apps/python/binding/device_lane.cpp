// One of the decoders that work side by side on a batch for a GPU: its thread and its stream.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/device_lane.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <system_error>
#include <utility>

#include "apps/python/binding/failure.hpp"
#include "codec/base/try.hpp"

namespace zerorun::python {

DeviceJobs::DeviceJobs(std::vector<DeviceJob>& jobs) {
  for (DeviceJob& job : jobs)
    if (job.input != nullptr) order_.push_back(&job);
  std::stable_sort(order_.begin(), order_.end(), [](const DeviceJob* a, const DeviceJob* b) {
    return a->likely_bytes > b->likely_bytes;
  });
  // The calls of an image take as long as so many bytes.
  constexpr std::size_t kCalls = std::size_t{300} << 10;
  std::size_t all = 0, sum = 0;
  for (const DeviceJob* job : order_) all += job->likely_bytes + kCalls;
  while (2 * sum < all) sum += order_[long_end_++]->likely_bytes + kCalls;
  short_begin_ = long_end_;
  short_end_ = order_.size();
}

DeviceJob* DeviceJobs::take(Share share) {
  const std::lock_guard lock(mutex_);
  const bool has_long = long_begin_ < long_end_, has_short = short_begin_ < short_end_;
  if (has_long && share == Share::long_streams) return order_[long_begin_++];
  if (has_short) return order_[short_begin_++];
  return has_long ? order_[--long_end_] : nullptr;
}

DeviceJob* DeviceJobs::take_first() {
  const std::lock_guard lock(mutex_);
  if (short_begin_ < short_end_) return order_[--short_end_];
  return long_begin_ < long_end_ ? order_[--long_end_] : nullptr;
}

void DeviceJobs::stop() {
  const std::lock_guard lock(mutex_);
  long_begin_ = long_end_;
  short_begin_ = short_end_;
}

std::unique_ptr<Lane> Lane::make(const DecodeParams& params) {
  auto lane = std::make_unique<Lane>(value_of(DeviceDecoder::create(params)), params.device);
  check(cuda_status(cudaStreamCreateWithFlags(&lane->stream_, cudaStreamNonBlocking),
                    "cudaStreamCreateWithFlags"));
  check(cuda_status(cudaEventCreateWithFlags(&lane->ended_, cudaEventDisableTiming),
                    "cudaEventCreateWithFlags"));
  try {
    lane->thread_ = std::thread([&lane = *lane] { lane.work(); });
  } catch (const std::system_error&) {
    // start() does without it.
  }
  return lane;
}

Lane::Lane(DeviceDecoder decoder, int device) : decoder_(std::move(decoder)), device_(device) {}

Lane::~Lane() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (ended_ != nullptr) (void)cudaEventDestroy(ended_);
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}

void Lane::start(DeviceJobs& jobs, Share share, PixelFormat format) {
  const Task task{&jobs, share, format};
  if (!thread_.joinable()) return decode(task);
  {
    const std::lock_guard lock(mutex_);
    task_ = task;
  }
  changed_.notify_all();
}

bool Lane::wait() {
  constexpr std::chrono::milliseconds kAWhile{50};
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kAWhile, [this] { return !task_; });
}

void Lane::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || task_; });
    if (stop_) return;
    const Task task = *task_;
    lock.unlock();
    decode(task);
    lock.lock();
    task_.reset();
    changed_.notify_all();
  }
}

Status Lane::end_before(std::uintptr_t stream) {
  Status status = cuda_status(cudaEventRecord(ended_, stream_), "cudaEventRecord");
  if (!status) return status;
  return cuda_status(cudaStreamWaitEvent(stream_of(stream), ended_, 0), "cudaStreamWaitEvent");
}

void Lane::decode(const Task& task) {
  const OnDevice here(device_);
  DeviceJob* next = nullptr;
  for (DeviceJob* job = task.jobs->take_first(); job != nullptr;
       job = std::exchange(next, nullptr)) {
    // The first one, and one behind an image that failed before the GPU had work.
    if (job->jpeg.empty() && job->status)
      job->status = guarded([&] { return prepare(*job, task.format, false); });
    bool has_looked_ahead = false;
    const auto look_ahead = [&] {
      has_looked_ahead = true;
      next = task.jobs->take(task.share);
      if (next != nullptr)
        next->status = guarded([&] { return prepare(*next, task.format, true); });
    };
    if (job->status)
      job->status =
          decoder_.decode(job->jpeg, job->planes->view_of(*job->block), stream_, look_ahead)
              .status();
    if (!has_looked_ahead) next = task.jobs->take(task.share);
  }
}

/// Finds the stream, and memory for its image. `ahead`: while the GPU works, so that there is time
/// to copy the stream to where the GPU fetches it by itself. Otherwise the decoder copies it piece
/// by piece while the GPU fetches the pieces before.
Status Lane::prepare(DeviceJob& job, PixelFormat format, bool ahead) {
  HostBuffer& room = rooms_[turn_];
  turn_ = 1 - turn_;
  // Pinned memory that grows makes all lanes wait for milliseconds, so it takes large steps.
  constexpr std::size_t kLeast = std::size_t{1} << 18, kMost = std::size_t{1} << 28;
  if ((ahead || job.input->is_file()) && job.likely_bytes <= kMost)
    (void)room.reserve(std::bit_ceil(std::max(job.likely_bytes, kLeast)));
  const Result<std::span<const std::byte>> jpeg = job.input->bytes(room);
  if (!jpeg) return jpeg.status();
  const Result<StreamInfo> info = inspect(*jpeg, decoder_.params().limits);
  if (!info) return info.status();
  most_bytes_ = std::max(most_bytes_, jpeg->size());
  job.planes.emplace(format, info->width, info->height);
  Result<std::shared_ptr<DeviceBlock>> memory =
      allocate_device_block(job.planes->bytes, device_, stream());
  if (!memory) return memory.status();
  job.block = *memory;
  job.jpeg = *jpeg;
  if (ahead && !job.input->is_file() && room.resize(jpeg->size())) {
    std::memcpy(room.data(), jpeg->data(), jpeg->size());
    job.jpeg = room.bytes();
  }
  return Status::ok();
}

}  // namespace zerorun::python
