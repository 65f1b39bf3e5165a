// Input bytes that end at the end of a page, before a page that cannot be read.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <span>

#include <sys/mman.h>
#include <unistd.h>

namespace zerorun::test {

/// A copy of `data`; reading one byte past its end is a segmentation fault, with or without ASan.
class PageEndBuffer {
 public:
  explicit PageEndBuffer(std::span<const std::byte> data) : size_(data.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t readable = (size_ + page - 1) / page * page;
    mapped_bytes_ = readable + page;
    mapping_ =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) throw std::bad_alloc();
    auto* base = static_cast<std::byte*>(mapping_);
    if (mprotect(base + readable, page, PROT_NONE) != 0) throw std::bad_alloc();
    first_ = base + readable - size_;
    if (size_ != 0) std::memcpy(first_, data.data(), size_);
  }
  ~PageEndBuffer() { munmap(mapping_, mapped_bytes_); }
  PageEndBuffer(const PageEndBuffer&) = delete;
  PageEndBuffer& operator=(const PageEndBuffer&) = delete;

  std::span<const std::byte> bytes() const noexcept { return {first_, size_}; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::byte* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace zerorun::test
