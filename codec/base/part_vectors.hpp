// Parts of memory for system calls that read or write several of them at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

namespace zerorun {

/// What is left of `parts` while calls read or write them one after another. `Byte` is std::byte or
/// const std::byte.
template <typename Byte>
class PartVectors {
 public:
  explicit PartVectors(std::span<const std::span<Byte>> parts) : parts_(parts) { advance(0); }

  bool is_done() const noexcept { return next_ == parts_.size(); }

  /// For the next call, which may do less.
  std::span<const iovec> next() {
    const std::size_t count = std::min(parts_.size() - next_, kMost);
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<Byte> part = parts_[next_ + i].subspan(i == 0 ? in_part_ : 0);
      vectors_[i] = {const_cast<std::remove_const_t<Byte>*>(part.data()), part.size()};
    }
    return {vectors_.data(), count};
  }

  /// The last call read or wrote so many bytes.
  void advance(std::size_t bytes) noexcept {
    in_part_ += bytes;
    while (next_ < parts_.size() && in_part_ >= parts_[next_].size())
      in_part_ -= parts_[next_++].size();
  }

 private:
  static constexpr std::size_t kMost = 1024;  // that one call takes (IOV_MAX of Linux)

  std::span<const std::span<Byte>> parts_;
  std::size_t next_ = 0, in_part_ = 0;  // the first byte that is left is one of parts_[next_]
  std::array<iovec, kMost> vectors_;
};

}  // namespace zerorun
