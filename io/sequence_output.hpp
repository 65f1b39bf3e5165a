// Numbered output files, one after another.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/location.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// Each file is written as NAME.part and renamed when it is whole.
class SequenceOutput {
 public:
  /// Errors: open_failed (no such directory), output_exists if, without `overwrite`, the directory
  /// holds a file of the pattern with a number from `start` on: better now than at frame 5000.
  static Result<SequenceOutput> open(const NumberPattern& pattern, std::int64_t start,
                                     bool overwrite);

  Status write_next(std::span<const std::byte> data);
  std::int64_t bytes_written() const noexcept { return bytes_; }

 private:
  NumberPattern pattern_;
  std::int64_t number_ = 0;
  std::int64_t bytes_ = 0;
  bool overwrite_ = false;
};

}  // namespace zerorun::io
