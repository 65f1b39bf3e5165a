// Reads a part of a file, however many system calls that takes.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/base/interruptions.hpp"

namespace zerorun {

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

}  // namespace zerorun
