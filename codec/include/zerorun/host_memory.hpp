// Host memory that the library allocates: ordinary, or pinned for fast copies to and from a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "zerorun/backend.hpp"
#include "zerorun/export.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

enum class HostMemory : std::uint8_t {
  pageable,
  /// Locked for all CUDA devices: copies need no staging and overlap with kernels. Takes
  /// milliseconds to allocate, so it is to be kept and used again. Needs a CUDA build and a device.
  pinned,
};

/// What frames and streams of this backend (cpu or cuda) are best kept in.
constexpr HostMemory preferred_memory(Backend backend) noexcept {
  return backend == Backend::cuda ? HostMemory::pinned : HostMemory::pageable;
}

/// Bytes in host memory, 64-byte aligned, never cleared. Move-only; a moved-from buffer is empty.
class ZERORUN_API HostBuffer {
 public:
  HostBuffer() noexcept = default;
  explicit HostBuffer(HostMemory memory) noexcept : memory_(memory) {}
  HostBuffer(HostBuffer&& other) noexcept
      : memory_(other.memory_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    HostBuffer old(std::move(*this));
    memory_ = other.memory_;
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }
  ~HostBuffer();

  /// Contents are undefined after these two. Memory grows when it must and never shrinks; after an
  /// error the buffer is empty.
  /// Errors: out_of_memory; pinned also cuda_not_built, no_device, device_failure.
  Status resize(std::size_t bytes);
  Status reserve(std::size_t bytes);

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  HostMemory memory() const noexcept { return memory_; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  HostMemory memory_ = HostMemory::pageable;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace zerorun
