// Reads a regular file before its bytes are asked for, by several threads: one thread copies 5 GB/s
// out of the page cache, and the reader of the bytes may be faster.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/base/flight_ring.hpp"

namespace zerorun::io {

/// For one consumer. It keeps two blocks more than it has threads.
class ReadAhead {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  /// Reads from `position` of `file` on, which is open until the end of this object; that waits for
  /// the reads that are under way. Throws std::system_error where there can be no thread.
  ReadAhead(int file, std::uint64_t position, int threads);

  struct Outcome {
    std::size_t bytes;  ///< fewer than kBlockBytes at the end and before an error
    int error;          ///< errno of the read behind these bytes; 0: none
  };
  /// Waits for the next block and puts it in place of `block`, whose memory is used again. A block
  /// that is not full is the last one.
  Outcome next(std::vector<std::byte>& block);

 private:
  struct Job {
    std::uint64_t position = 0;
    std::vector<std::byte> block = std::vector<std::byte>(kBlockBytes);
    Outcome outcome{};
  };

  void read_one_more();

  const std::uint64_t position_;
  bool at_end_ = false;  // the last block was taken
  FlightRing<Job> ring_;
};

}  // namespace zerorun::io
