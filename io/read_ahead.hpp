// Reads a regular file before its bytes are asked for, by several threads: one thread copies 5 GB/s
// out of the page cache, and the reader of the bytes may be faster.
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace zerorun::io {

/// For one consumer. It keeps two blocks more than it has threads.
class ReadAhead {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  /// Reads from `position` of `file` on, which is open until the end of this object. Throws
  /// std::system_error where there can be no thread.
  ReadAhead(int file, std::uint64_t position, int threads);
  ~ReadAhead();  ///< waits for the reads that are under way
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  struct Outcome {
    std::size_t bytes;  ///< fewer than kBlockBytes at the end and before an error
    int error;          ///< errno of the read behind these bytes; 0: none
  };
  /// Waits for the next block and puts it in place of `block`, whose memory is used again. Nothing
  /// comes behind a block that is not full.
  Outcome next(std::vector<std::byte>& block);

 private:
  struct Slot {
    std::vector<std::byte> block;
    Outcome outcome{};
    bool is_ready = false;
  };

  void read_blocks();
  Outcome read_block(std::uint64_t number, std::vector<std::byte>& block) const;
  Slot& slot(std::uint64_t number) { return slots_[number % slots_.size()]; }

  const int file_;
  const std::uint64_t position_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::uint64_t begun_ = 0, taken_ = 0;  // blocks
  bool is_over_ = false;                 // nobody begins another block
  std::vector<std::thread> threads_;
};

}  // namespace zerorun::io
