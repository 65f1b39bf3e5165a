// One of the decoders that work side by side on a batch for a GPU: its thread and its stream.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "apps/python/binding/batch_input.hpp"
#include "apps/python/binding/device_array.hpp"
#include "apps/python/binding/device_memory.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::python {

/// A stream of a batch, and what becomes of it.
struct DeviceJob {
  const BatchInput* input = nullptr;  ///< null: nothing is to be done
  std::size_t likely_bytes = 0;
  std::span<const std::byte> jpeg;  ///< empty before it is ready to be decoded
  std::optional<DevicePlanes> planes;
  std::shared_ptr<DeviceBlock> block;
  Status status;
};

/// Which jobs a lane takes first. Long streams keep the GPU busy, and the calls for short ones,
/// which take longer than their kernels, the CPU; so both are decoded all the time.
enum class Share { long_streams, short_streams };

/// The jobs of a call. Each share is taken from its longest stream on: no lane begins with a long
/// one when the others have ended, and memory hardly has to grow. Lanes whose share is used up take
/// what is left of the other. Safe to use from several threads.
class DeviceJobs {
 public:
  /// `jobs` outlives the object.
  explicit DeviceJobs(std::vector<DeviceJob>& jobs);

  /// Null: all are taken, or stop() was called.
  DeviceJob* take(Share share);
  /// The shortest, for lanes to begin with: then the GPU has work at once, and the first long
  /// streams are copied meanwhile. 8 threads take a millisecond to copy 3 MB each.
  DeviceJob* take_first();
  void stop();

 private:
  std::vector<DeviceJob*> order_;
  std::mutex mutex_;
  /// What is left, as places in order_.
  std::size_t long_begin_ = 0, long_end_ = 0, short_begin_ = 0, short_end_ = 0;
};

/// While the GPU decodes one image of a lane, its thread makes the next one ready. The thread stays
/// for the next batch: starting 16 threads takes as long as decoding 20 images.
class Lane {
 public:
  /// Errors: those of DeviceDecoder::create(), device_failure.
  static std::unique_ptr<Lane> make(const DecodeParams& params);
  Lane(DeviceDecoder decoder, int device);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane();

  std::uintptr_t stream() const { return reinterpret_cast<std::uintptr_t>(stream_); }
  /// The most bytes that it was given at once: a measure of the memory that it has.
  std::size_t most_bytes() const { return most_bytes_; }

  /// Decodes jobs until none is left. Where the system gave no thread, the caller's does it.
  void start(DeviceJobs& jobs, Share share, PixelFormat format);
  /// False after a while without an end.
  bool wait();
  /// What is enqueued on `stream` from now on waits for the images.
  Status end_before(std::uintptr_t stream);

 private:
  struct Task {
    DeviceJobs* jobs;
    Share share;
    PixelFormat format;
  };
  void work();
  void decode(const Task& task);
  Status prepare(DeviceJob& job, PixelFormat format, bool ahead);

  DeviceDecoder decoder_;
  const int device_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t ended_ = nullptr;
  // The stream that the GPU fetches, and the next one. The decoder has fetched all when it returns.
  std::array<HostBuffer, 2> rooms_{HostBuffer(HostMemory::pinned), HostBuffer(HostMemory::pinned)};
  std::size_t turn_ = 0;
  std::size_t most_bytes_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Task> task_;  ///< set as long as there is something to do
  bool stop_ = false;
  std::thread thread_;
};

/// Ends the lanes that are kept for the next batch. With the GIL held.
void release_lanes();

}  // namespace zerorun::python
