// Ordinary and pinned host memory.
// SPDX-License-Identifier: MIT
#include "zerorun/backend.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <string>

#include "codec/arith/integer.hpp"
#include "codec/base/cuda_device.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
namespace {

constexpr std::size_t kAlign = 64;

std::atomic<bool> g_pageable_instead{false};

void release(HostMemory memory, std::byte* data) noexcept {
  if (data == nullptr) return;
  if (memory == HostMemory::pageable)
    std::free(data);
  else
    release_pinned(data);
}

}  // namespace

void allow_pageable_instead() { g_pageable_instead = true; }

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
    if (memory_ == HostMemory::pinned) {
      const auto pinned = allocate_pinned(rounded);
      if (!pinned && !g_pageable_instead) return pinned.status();
      if (pinned)
        data_ = *pinned;
      else
        memory_ = HostMemory::pageable;
    }
    if (memory_ == HostMemory::pageable) {
      ZR_LET(pageable, allocate_pageable(rounded));
      data_ = pageable;
    }
    capacity_ = rounded;
    return Status::ok();
  });
}

}  // namespace zerorun
