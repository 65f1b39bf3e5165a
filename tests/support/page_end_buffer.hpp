// Input bytes that end at the end of a page, before a page that cannot be read.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

namespace zerorun::test {

/// A copy of `data`; reading one byte past its end is a segmentation fault, with or without ASan.
class PageEndBuffer {
 public:
  explicit PageEndBuffer(std::span<const std::byte> data);
  ~PageEndBuffer();
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
