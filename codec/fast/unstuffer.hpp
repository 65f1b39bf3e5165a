// byte_unstuff in pieces of the data, for several threads. It equals byte_unstuff_cpu(); test:
// Unstuffer.AnyDataInAnyNumberOfPieces.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/decode/byte_unstuff.hpp"
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
  void join();
  void move(int job);

  /// After the last step: clean bytes, and kReadAhead zeros behind them.
  const std::uint8_t* bytes() const { return clean_.data(); }
  /// With the closing entry.
  std::span<const EntropySegment> segments() const { return segments_; }
  /// Up to the marker that ends the scan.
  std::uint64_t consumed_bytes() const { return consumed_bytes_; }

 private:
  struct Marker {
    std::uint64_t clean;   // bytes of the piece before it
    std::uint64_t source;  // offset in the data of the byte behind it
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
  std::vector<EntropySegment> segments_;
  std::uint64_t consumed_bytes_ = 0;
};

}  // namespace zerorun::fast
