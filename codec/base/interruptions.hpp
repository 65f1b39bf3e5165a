// System calls that signals interrupt, and that read or write less than was asked for.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace zerorun {

/// Whether a system call that failed is made again. One object for each call, or for each loop of
/// calls.
///
/// A broken file system may return EINTR for ever. So no more calls are made after a hundred
/// interruptions that follow one another within 50 microseconds each, faster than the timers of
/// profilers.
class Interruptions {
 public:
  /// True if errno is EINTR and the call is worth another try. Keeps errno.
  bool again() noexcept {
    if (errno != EINTR) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ > std::chrono::microseconds(50)) in_a_row_ = 0;
    last_ = now;
    return ++in_a_row_ < kMost;
  }

 private:
  static constexpr int kMost = 100;
  std::chrono::steady_clock::time_point last_{};
  int in_a_row_ = 0;
};

/// Fills `out` from `position` of a file on, and returns the bytes read: fewer than its size only
/// at the end of the file. -1 after an error, with errno.
inline std::ptrdiff_t read_fully(int file, std::int64_t position, std::span<std::byte> out) {
  std::size_t done = 0;
  Interruptions interruptions;
  while (done < out.size()) {
    const ssize_t got = ::pread(file, out.data() + done, out.size() - done,
                                static_cast<off_t>(position) + static_cast<off_t>(done));
    if (got < 0 && interruptions.again()) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::ptrdiff_t>(done);
}

/// The rest of `parts` while calls read or write them one after another. `Byte` is std::byte or
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
