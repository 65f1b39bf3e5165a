// Host memory that grows and is never cleared.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace zerorun {

/// Contents are undefined after reserve(). Throws std::bad_alloc; see guarded().
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  T* reserve(std::int64_t count) {
    const auto wanted = static_cast<std::size_t>(count);
    if (wanted <= capacity_) return memory_.get();
    if (wanted > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    memory_.reset();  // first, so that the two do not exist at once
    capacity_ = 0;
    memory_.reset(static_cast<T*>(std::malloc(wanted * sizeof(T))));
    if (!memory_) throw std::bad_alloc();
    capacity_ = wanted;
    return memory_.get();
  }
  T* data() noexcept { return memory_.get(); }
  const T* data() const noexcept { return memory_.get(); }

 private:
  struct Free {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T[], Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace zerorun
