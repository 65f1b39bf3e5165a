// Owners of what CUDA hands out: device and pinned memory, streams, events; and the current device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "cuda/base/check.hpp"

namespace zerorun {

/// Makes a device current and restores the caller's in the end. CUDA's current device belongs to
/// the thread, and the library must not change it under the application.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : status_(select(device)) {}
  ~DeviceGuard() {
    if (changed_) (void)cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  const Status& status() const noexcept { return status_; }

 private:
  Status select(int device) {
    ZR_CUDA_TRY(cudaGetDevice(&before_));
    if (before_ == device) return Status::ok();
    ZR_CUDA_TRY(cudaSetDevice(device));
    changed_ = true;
    return Status::ok();
  }

  int before_ = 0;
  bool changed_ = false;
  Status status_;
};

struct DeviceMemory {
  static cudaError_t allocate(void** memory, std::size_t bytes) {
    return cudaMalloc(memory, bytes);
  }
  static void release(void* memory) { (void)cudaFree(memory); }
};
struct PinnedMemory {
  static cudaError_t allocate(void** memory, std::size_t bytes) {
    return cudaMallocHost(memory, bytes);
  }
  static void release(void* memory) { (void)cudaFreeHost(memory); }
};

/// Whether the device can read the memory by itself.
bool is_pinned(const void* memory);

/// Memory that grows and is never cleared; contents are undefined after reserve(). Growing waits
/// for the device (cudaFree does), so that work enqueued on the old memory has ended. Allocated on
/// the current device; released from anywhere.
template <typename T, typename Memory>
class CudaBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  CudaBuffer() = default;
  ~CudaBuffer() { reset(); }
  CudaBuffer(CudaBuffer&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  CudaBuffer& operator=(CudaBuffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  /// At least `count` elements (0 and less are 1, so that data() is never null).
  Status reserve(std::int64_t count) {
    const auto wanted = static_cast<std::size_t>(count > 0 ? count : 1);
    if (wanted <= capacity_) return Status::ok();
    if (wanted > std::numeric_limits<std::size_t>::max() / sizeof(T))
      return Status(Errc::out_of_memory);
    reset();  // first, so that both never exist at once
    void* memory = nullptr;
    if (const cudaError_t error = Memory::allocate(&memory, wanted * sizeof(T));
        error != cudaSuccess)
      return failure(error, wanted * sizeof(T));
    memory_ = static_cast<T*>(memory);
    capacity_ = wanted;
    return Status::ok();
  }

  T* data() const noexcept { return memory_; }
  std::int64_t capacity() const noexcept { return static_cast<std::int64_t>(capacity_); }

 private:
  static Status failure(cudaError_t error, std::size_t bytes);
  void reset() noexcept {
    if (memory_ != nullptr) Memory::release(memory_);
    memory_ = nullptr;
    capacity_ = 0;
  }

  T* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

/// The Status of an allocation of so many bytes that failed.
Status allocation_failure(cudaError_t error, std::size_t bytes, bool pinned);

template <typename T, typename Memory>
Status CudaBuffer<T, Memory>::failure(cudaError_t error, std::size_t bytes) {
  return allocation_failure(error, bytes, std::is_same_v<Memory, PinnedMemory>);
}

template <typename T>
using DeviceBuffer = CudaBuffer<T, DeviceMemory>;
template <typename T>
using PinnedBuffer = CudaBuffer<T, PinnedMemory>;

/// A stream that does not wait for the default stream. Belongs to the device current at create().
class Stream {
 public:
  Stream() = default;
  ~Stream() {
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  Status create() {
    ZR_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    return Status::ok();
  }
  cudaStream_t get() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() = default;
  ~Event() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  /// `flags`: cudaEventDisableTiming for events that only order work.
  Status create(unsigned flags) {
    ZR_CUDA_TRY(cudaEventCreateWithFlags(&event_, flags));
    return Status::ok();
  }
  cudaEvent_t get() const noexcept { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace zerorun
