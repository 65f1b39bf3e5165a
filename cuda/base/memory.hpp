// Owners of what CUDA hands out: device and pinned memory, streams, events; and the current device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "cuda/base/check.hpp"

namespace zerorun {

/// Makes a device current and restores the previous one at the end. CUDA's current device belongs
/// to the thread, and the library must not change it for the application.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : status_(select(device)) {}
  ~DeviceGuard() {
    if (changed_) ignore_failure(cudaSetDevice(before_));
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  const Status& status() const noexcept { return status_; }

 private:
  Status select(int device) {
    // The current device may be one that broke, and whose errors must not become those of `device`.
    const bool known = cudaGetDevice(&before_) == cudaSuccess;
    if (!known) (void)cudaGetLastError();
    if (known && before_ == device) return Status::ok();
    ZR_CUDA_TRY(cudaSetDevice(device));
    changed_ = known;
    return Status::ok();
  }

  int before_ = 0;
  bool changed_ = false;
  Status status_;
};

struct DeviceMemory {
  static constexpr bool kPinned = false;
  static cudaError_t allocate(void** memory, std::size_t bytes) {
    return cudaMalloc(memory, bytes);
  }
  static void release(void* memory) { ignore_failure(cudaFree(memory)); }
};
struct PinnedMemory {
  static constexpr bool kPinned = true;
  static cudaError_t allocate(void** memory, std::size_t bytes) {
    return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);  // for every device
  }
  static void release(void* memory) { ignore_failure(cudaFreeHost(memory)); }
};

/// Whether the device can read the memory by itself.
bool is_pinned(const void* memory);
/// Where kernels of the current device read pinned memory; null for other memory, or if they
/// cannot.
const std::uint8_t* address_of_pinned(const std::uint8_t* memory, std::size_t bytes);

/// The Status for an allocation of `bytes` bytes that failed.
Status allocation_failure(cudaError_t error, std::size_t bytes, bool pinned);

/// Memory that grows and is never cleared; its contents are undefined after reserve(). Growing
/// waits for the device (cudaFree does), so that work enqueued on the old memory has completed.
/// Allocated on the current device; released from any thread.
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

  /// At least `count` elements, and at least one, so that data() is never null. Memory that grows
  /// again grows by half, where there is so much: among images of many sizes there often is one
  /// that is a little larger than all before.
  Status reserve(std::int64_t count) {
    const auto wanted = static_cast<std::size_t>(count > 0 ? count : 1);
    if (wanted <= capacity_) return Status::ok();
    if (wanted > std::numeric_limits<std::size_t>::max() / sizeof(T))
      return Status(Errc::out_of_memory);
    const std::size_t roomy = capacity_ + capacity_ / 2;
    reset();  // first, so that old and new memory never exist at once
    if (roomy > wanted) {
      if (allocate(roomy) == cudaSuccess) return Status::ok();
      (void)cudaGetLastError();
    }
    const cudaError_t error = allocate(wanted);
    if (error != cudaSuccess) return allocation_failure(error, wanted * sizeof(T), Memory::kPinned);
    return Status::ok();
  }

  T* data() const noexcept { return memory_; }
  std::int64_t capacity() const noexcept { return static_cast<std::int64_t>(capacity_); }

 private:
  cudaError_t allocate(std::size_t count) noexcept {
    void* memory = nullptr;
    const cudaError_t error = Memory::allocate(&memory, count * sizeof(T));
    if (error != cudaSuccess) return error;
    memory_ = static_cast<T*>(memory);
    capacity_ = count;
    return cudaSuccess;
  }
  void reset() noexcept {
    if (memory_ != nullptr) Memory::release(memory_);
    memory_ = nullptr;
    capacity_ = 0;
  }

  T* memory_ = nullptr;
  std::size_t capacity_ = 0;
};

template <typename T>
using DeviceBuffer = CudaBuffer<T, DeviceMemory>;
template <typename T>
using PinnedBuffer = CudaBuffer<T, PinnedMemory>;

template <auto kDestroy>
struct CudaDestroy {
  template <typename Handle>
  void operator()(Handle* handle) const noexcept {
    ignore_failure(kDestroy(handle));
  }
};

/// A stream that does not wait for the default stream. Belongs to the device current at create().
class Stream {
 public:
  Status create() {
    cudaStream_t stream = nullptr;
    ZR_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.reset(stream);
    return Status::ok();
  }
  cudaStream_t get() const noexcept { return stream_.get(); }

 private:
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, CudaDestroy<cudaStreamDestroy>> stream_;
};

class Event {
 public:
  /// `flags`: cudaEventDisableTiming for events that only order work.
  Status create(unsigned flags) {
    cudaEvent_t event = nullptr;
    ZR_CUDA_TRY(cudaEventCreateWithFlags(&event, flags));
    event_.reset(event);
    return Status::ok();
  }
  cudaEvent_t get() const noexcept { return event_.get(); }

 private:
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, CudaDestroy<cudaEventDestroy>> event_;
};

}  // namespace zerorun
