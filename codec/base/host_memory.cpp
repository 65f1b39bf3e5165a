// Ordinary and pinned host memory.
// SPDX-License-Identifier: MIT
#include "zerorun/backend.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "codec/arith/integer.hpp"
#include "codec/base/cuda_device.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
namespace {

constexpr std::size_t kAlign = 64;

/// Pageable memory that was given instead of pinned memory.
class Instead {
 public:
  Result<std::byte*> allocate(std::size_t bytes) {
    ZR_LET(data, allocate_pageable(bytes));
    std::unique_ptr<std::byte, void (*)(void*)> memory(data, std::free);
    const std::lock_guard lock(mutex_);
    given_.insert(data);
    return memory.release();
  }
  bool release(std::byte* memory) noexcept {
    const std::lock_guard lock(mutex_);
    if (given_.erase(memory) == 0) return false;
    std::free(memory);
    return true;
  }

 private:
  std::mutex mutex_;
  std::set<std::byte*> given_;
};

/// Made by allow_pageable_instead() and never destroyed.
std::atomic<Instead*> g_instead{nullptr};

void release(HostMemory memory, std::byte* data) noexcept {
  if (data == nullptr) return;
  if (memory == HostMemory::pageable)
    std::free(data);
  else if (Instead* const instead = g_instead; instead == nullptr || !instead->release(data))
    release_pinned(data);
}

Result<std::byte*> allocate(HostMemory memory, std::size_t bytes) {
  if (memory == HostMemory::pageable) return allocate_pageable(bytes);
  auto made = allocate_pinned(bytes);
  Instead* const instead = g_instead;
  return made || instead == nullptr ? made : instead->allocate(bytes);
}

}  // namespace

void allow_pageable_instead() {
  static Instead& only = *new Instead;
  g_instead = &only;
}

Result<std::byte*> allocate_pageable(std::size_t bytes) {
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(kAlign, bytes));
  if (data == nullptr) return Status(Errc::out_of_memory, std::to_string(bytes) + " bytes");
  return data;
}

HostBuffer::~HostBuffer() { release(memory_, data_); }

Status HostBuffer::resize(std::size_t bytes) {
  ZR_TRY(reserve(bytes));
  size_ = bytes;
  return Status::ok();
}

Status HostBuffer::reserve(std::size_t bytes) {
  return guarded([&]() -> Status {
    if (bytes <= capacity_) return Status::ok();
    release(memory_, std::exchange(data_, nullptr));
    size_ = capacity_ = 0;
    if (bytes > std::numeric_limits<std::size_t>::max() - kAlign)
      return Status(Errc::out_of_memory);
    const std::size_t rounded = round_up(bytes, kAlign);
    ZR_LET(data, allocate(memory_, rounded));
    data_ = data;
    capacity_ = rounded;
    return Status::ok();
  });
}

}  // namespace zerorun
