// Ordinary and pinned host memory.
// SPDX-License-Identifier: MIT
#include "zerorun/backend.hpp"

#include <cstdlib>
#include <limits>
#include <string>

#include "codec/arith/integer.hpp"
#include "codec/base/pinned_memory.hpp"
#include "codec/base/try.hpp"

namespace zerorun {
namespace {

constexpr std::size_t kAlign = 64;

void release(HostMemory memory, std::byte* data) noexcept {
  if (data == nullptr) return;
  if (memory == HostMemory::pinned)
    release_pinned(data);
  else
    std::free(data);
}

Result<std::byte*> allocate(HostMemory memory, std::size_t bytes) {
  return memory == HostMemory::pinned ? allocate_pinned(bytes) : allocate_pageable(bytes);
}

}  // namespace

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
