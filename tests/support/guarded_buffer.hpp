// Arrays of exact size in pinned or device memory, filled with poison, with canaries on both sides.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace zerorun::test {

enum class Memory { pinned, device };

/// Bytes that no right output has, at any width: an output that still has them was not written.
inline constexpr unsigned char kPoison = 0xC5;
inline constexpr unsigned char kCanary = 0x5A;

/// The elements begin `skew` elements behind a 256-byte boundary; a canary follows the last one.
/// to_host() and the destructor check the canaries.
template <typename T>
class GuardedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GuardedBuffer(Memory memory, std::size_t size, std::size_t skew = 0)
      : memory_(memory), size_(size), front_(kGuard + skew * sizeof(T)) {
    image_.assign(front_ + size * sizeof(T) + kGuard, kCanary);
    std::fill_n(image_.begin() + static_cast<std::ptrdiff_t>(front_), size * sizeof(T), kPoison);
    upload();
  }

  GuardedBuffer(Memory memory, std::span<const T> values, std::size_t skew = 0)
      : memory_(memory), size_(values.size()), front_(kGuard + skew * sizeof(T)) {
    image_.assign(front_ + size_ * sizeof(T) + kGuard, kCanary);
    if (size_ > 0) std::memcpy(image_.data() + front_, values.data(), size_ * sizeof(T));
    upload();
  }

  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  ~GuardedBuffer() {
    check();
    if (memory_ == Memory::device)
      cudaFree(base_);
    else
      cudaFreeHost(base_);
  }

  T* data() const { return reinterpret_cast<T*>(base_ + front_); }
  std::size_t size() const { return size_; }

  /// Waits for the device and copies the elements.
  std::vector<T> to_host() {
    check();
    std::vector<T> values(size_);
    if (size_ > 0) std::memcpy(values.data(), image_.data() + front_, size_ * sizeof(T));
    return values;
  }

 private:
  static constexpr std::size_t kGuard = 256;

  void upload() {
    void* base = nullptr;
    const cudaError_t error = memory_ == Memory::device ? cudaMalloc(&base, image_.size())
                                                        : cudaMallocHost(&base, image_.size());
    if (error != cudaSuccess) {
      ADD_FAILURE() << "no memory for " << image_.size() << " bytes";
      return;
    }
    base_ = static_cast<unsigned char*>(base);
    EXPECT_EQ(cudaMemcpy(base_, image_.data(), image_.size(), cudaMemcpyDefault), cudaSuccess);
    // From pageable memory it may return before the default stream has copied all bytes, and
    // streams that do not wait for that stream (cudaStreamNonBlocking) would read old bytes.
    EXPECT_EQ(cudaStreamSynchronize(cudaStreamLegacy), cudaSuccess);
  }

  void check() {
    if (base_ == nullptr) return;
    EXPECT_EQ(cudaMemcpy(image_.data(), base_, image_.size(), cudaMemcpyDefault), cudaSuccess);
    const auto intact = [&](std::size_t begin, std::size_t end) {
      return std::all_of(image_.begin() + static_cast<std::ptrdiff_t>(begin),
                         image_.begin() + static_cast<std::ptrdiff_t>(end),
                         [](unsigned char byte) { return byte == kCanary; });
    };
    EXPECT_TRUE(intact(0, front_)) << "written in front of the buffer";
    EXPECT_TRUE(intact(front_ + size_ * sizeof(T), image_.size())) << "written past the buffer";
  }

  Memory memory_;
  std::size_t size_;
  std::size_t front_;  // bytes before the first element
  std::vector<unsigned char> image_;
  unsigned char* base_ = nullptr;
};

}  // namespace zerorun::test
