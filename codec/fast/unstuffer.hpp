// Removes the stuffed bytes of a scan and finds its restart markers, in pieces of the data.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/fast/decode_kernels.hpp"

namespace zerorun::fast {

/// cut(), unstuff() for each job, join(), and move() for each job but the first, whose bytes lie
/// where they belong. Keeps its memory from scan to scan.
class Unstuffer {
 public:
  explicit Unstuffer(const DecodeKernels& kernels) : kernels_(kernels) {}

  /// `data` may go on behind the scan.
  void cut(std::span<const std::uint8_t> data, int jobs);
  void unstuff(int job);
  /// False: restart markers are not as they should be.
  bool join(std::int64_t intervals);
  void move(int job);

  /// After the last step: clean bytes, and kReadAhead zeros behind them.
  const std::uint8_t* bytes() const { return clean_.data(); }
  /// Where an interval begins; [intervals] is the end of the last.
  std::uint64_t first_byte(std::int64_t interval) const { return first_byte_.data()[interval]; }
  /// Up to the marker that ends the scan.
  std::uint64_t consumed_bytes() const { return consumed_bytes_; }

 private:
  struct Marker {
    std::uint64_t clean;  // bytes of the piece before it
    std::uint8_t code;
  };
  struct Piece {
    const std::uint8_t *begin, *end;
    std::uint8_t* out;
    std::uint64_t clean = 0, place = 0;  // clean bytes, and where they belong
    std::vector<Marker> markers;         // RSTm
    const std::uint8_t* scan_end = nullptr;
  };

  const DecodeKernels& kernels_;
  std::span<const std::uint8_t> data_;
  std::vector<Piece> pieces_;
  std::size_t count_ = 0;
  std::atomic<int> last_{0};  // no piece behind this one belongs to the scan
  Buffer<std::uint8_t> apart_, clean_;
  Buffer<std::uint64_t> first_byte_;
  std::uint64_t consumed_bytes_ = 0;
};

}  // namespace zerorun::fast
